"""Slack: the Web API, strict, with Socket Mode and signed HTTP events.

A name is a person, and that person's direct chat with the app; a name that begins with # is a channel. Ids are derived
from the names, so a configuration can be written before the first message. `@testbot` in what a person types is a
mention.
"""

from rejoinder.testing.platform.personality import Personality, Stage


def personality(stage: Stage) -> Personality:
    from rejoinder.testing.platform.slack.server import SlackServer  # noqa: PLC0415 - by name, not by import

    return SlackServer(stage)
