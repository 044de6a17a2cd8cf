"""Slack keeps the promises of every channel, by Socket Mode and by signed HTTP events."""

from rejoinder.testing import ChannelContract
from tests.channels.slack.served import app, called_app


class TestBySocket(ChannelContract):
    personality = "slack"

    def open(self, platform):
        platform.people.events._ack_seconds = 0.3
        return app(platform, seconds=0.5)


class TestByHttp(ChannelContract):
    """By signed HTTP events: the same promises."""

    personality = "slack"

    def open(self, platform):
        platform.people.events._ack_seconds = 0.3
        return called_app(platform, seconds=0.5)
