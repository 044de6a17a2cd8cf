"""The chat in the terminal: a live screen for a person, plain lines for a pipe."""

import os
import sys

from msgspec import Struct

from rejoinder.channels.base import Channel
from rejoinder.channels.declaration import ChannelKind
from rejoinder.channels.terminal.files import FILES
from rejoinder.keys import DirectAccess


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat of `rejoinder chat`."""

    dm: DirectAccess = "open"
    """Who may write directly: anybody at the terminal."""


def open_channel(name: str, settings: Settings, agent: str = "agent") -> Channel:
    """A screen if a person sits at a terminal, otherwise plain lines without escape codes. `agent`: the answering
    one."""
    dumb = os.environ.get("TERM", "dumb") in ("dumb", "unknown", "")
    if sys.stdin.isatty() and sys.stdout.isatty() and not dumb:
        from rejoinder.channels.terminal.screen import Screen  # noqa: PLC0415 - a pipe needs no terminal library

        return Screen(name, agent)
    from rejoinder.channels.terminal.plain import PlainLines  # noqa: PLC0415 - a screen needs no plain lines

    return PlainLines(name, agent, sys.stdout)


CHANNEL = ChannelKind(
    settings=Settings,
    open=open_channel,
    can=frozenset({"reply", "react", "send", "files"}),
    files=FILES,
    opened_by="command",
    only_one="there is one terminal",
)
