"""Telegram keeps the promises of every channel, polled and called."""

from rejoinder.channels.base import CanFind, DeduplicatesByKey
from rejoinder.testing import ChannelContract, FakePlatform
from tests.channels.telegram.served import bot, hook


class TestPolled(ChannelContract):
    personality = "telegram"

    def open(self, platform):
        return bot(platform, seconds=0.5)


class TestCalled(ChannelContract):
    """By a webhook: the same promises."""

    personality = "telegram"

    def open(self, platform):
        return bot(platform, seconds=0.5, hook=hook())


class TestElsewhere(ChannelContract):
    """CH-1: a package of others plays its own platform, which `FakePlatform` does not know."""

    def platform(self):
        return FakePlatform("telegram")

    def open(self, platform):
        return bot(platform, seconds=0.5)


async def test_it_is_blind():
    """DU-3: Telegram has no key that keeps a message from being sent twice, and no way to look one up."""
    async with FakePlatform("telegram") as platform:
        assert not isinstance(bot(platform), DeduplicatesByKey | CanFind)
