"""Slack keeps the promises of every channel, by Socket Mode and by signed HTTP events."""

from msgspec.structs import replace

from rejoinder.testing import ChannelContract
from tests.channels.slack.served import app, called_app


class SlackContract(ChannelContract):
    """The status of a thread is Slack's typing sign."""

    personality = "slack"

    async def test_the_typing_sign_never_fails(self):
        """TU-24: it is shown, and a platform that refuses it does no harm."""
        async with self._opened() as opened:
            thread = replace(opened.route, thread=opened.first.message_id)
            await opened.channel.typing(opened.route)
            await opened.channel.typing(thread)
            assert [frame.kind for frame in opened.platform.truth.frames if frame.by == "bot"] == ["typing"]
            opened.platform.fault("5xx", on="typing")
            await opened.channel.typing(thread)


class TestBySocket(SlackContract):
    def open(self, platform):
        platform.people.events._ack_seconds = 0.3
        return app(platform, seconds=0.5)


class TestByHttp(SlackContract):
    """By signed HTTP events: the same promises."""

    def open(self, platform):
        platform.people.events._ack_seconds = 0.3
        return called_app(platform, seconds=0.5)
