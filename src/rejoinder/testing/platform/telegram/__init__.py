"""Telegram: the Bot API, strict, with its long poll and its webhook.

A name is a person, and that person's direct chat with the bot; a name that begins with # is a group. Ids are derived
from the names, so a configuration can be written before the first message.
"""

from rejoinder.testing.platform.personality import Personality, Stage


def personality(stage: Stage) -> Personality:
    from rejoinder.testing.platform.telegram.server import TelegramServer  # noqa: PLC0415 - by name, not by import

    return TelegramServer(stage)
