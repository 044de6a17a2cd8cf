"""Discord keeps the promises of every channel."""

from rejoinder.channels.base import CanFind, DeduplicatesByKey
from rejoinder.testing import ChannelContract, FakePlatform
from tests.channels.discord.served import bot


class TestDiscord(ChannelContract):
    personality = "discord"

    def open(self, platform):
        return bot(platform, seconds=0.5)


async def test_it_can_look_up_what_it_sent():
    """DU-3, CH-28: a nonce for a few minutes, the history after that."""
    async with FakePlatform("discord") as platform:
        assert isinstance(bot(platform), CanFind)
        assert not isinstance(bot(platform), DeduplicatesByKey)
