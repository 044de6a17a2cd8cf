"""Interprets lines that are typed into the terminal, and defines the terminal's own two commands."""

import re
from collections.abc import Container

from msgspec import Struct

_REPLY = re.compile(r"/reply(?:\s+(\S+)(?:\s(.*))?)?\s*", re.DOTALL)


class MessageLine(Struct, frozen=True):
    text: str
    reply_to: str | None = None


class QuitLine(Struct, frozen=True):
    pass


class InvalidLine(Struct, frozen=True):
    """The line was not sent; says what to write instead."""

    advice: str


class EmptyLine(Struct, frozen=True):
    pass


Typed = MessageLine | QuitLine | InvalidLine | EmptyLine


def read_typed(line: str, handles: Container[str]) -> Typed:
    if not line.strip():
        return EmptyLine()
    if line.strip() == "/quit":
        return QuitLine()
    if reply := _REPLY.fullmatch(line):
        handle, text = reply[1], reply[2]
        if handle is None or text is None or not text.strip():
            return InvalidLine("write /reply, a message and your words: /reply m2 thank you")
        if handle not in handles:
            return InvalidLine(f"there is no message {handle!r} to reply to")
        return MessageLine(text, handle)
    return MessageLine(line)
