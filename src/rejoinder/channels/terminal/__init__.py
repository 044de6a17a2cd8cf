"""The chat in the terminal: a live screen for a person, plain lines for a pipe."""

import os
import sys

from msgspec import Struct

from rejoinder.channels.base import Channel


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    agent: str = "agent"  # the name under which the answers are shown


def open_channel(name: str, settings: Settings) -> Channel:
    """A screen where somebody sits in front of one, else plain lines without an escape code."""
    dumb = os.environ.get("TERM", "dumb") in ("dumb", "unknown", "")
    if sys.stdin.isatty() and sys.stdout.isatty() and not dumb:
        from rejoinder.channels.terminal.screen import Screen  # noqa: PLC0415 - a pipe needs no terminal library

        return Screen(name, settings.agent)
    from rejoinder.channels.terminal.plain import PlainLines  # noqa: PLC0415 - nor a screen this

    return PlainLines(name, settings.agent, sys.stdout)
