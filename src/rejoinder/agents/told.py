"""What an agent without a model can read from a turn: its messages, and who wrote them (TU-30)."""

import json
from contextlib import suppress
from itertools import pairwise

import msgspec
from msgspec import Struct

from rejoinder.events import PromptText, Turn

BLOCK = "<sender_context-"


class Quoted(Struct, frozen=True):
    handle: str | None = None


class Teller(Struct, frozen=True):
    """Of the block that says who wrote, what such an agent needs."""

    handle: str = "current"
    sender_id: str = ""
    display_name: str = ""
    is_bot: bool = False
    reply_to: Quoted | None = None


def last_message(turn: Turn) -> tuple[str, Teller]:
    """The question is the last text; the block before it says under which handle it stands."""
    texts = [part.text for part in turn.parts if isinstance(part, PromptText)]
    return (texts[-1] if texts else ""), _teller(texts[:-1])


def messages(turn: Turn) -> tuple[tuple[str, Teller], ...]:
    """All of them, in order: what was said while the agent was at work comes as one turn."""
    texts = [part.text for part in turn.parts if isinstance(part, PromptText)]
    found = [(text, _teller([block])) for block, text in pairwise(texts) if BLOCK in block and BLOCK not in text]
    return tuple(found) or (last_message(turn),)


def _teller(texts: list[str]) -> Teller:
    for text in reversed(texts):
        start = text.find('{"schema"')
        if start >= 0:
            with suppress(ValueError):  # not the block after all
                return msgspec.convert(json.JSONDecoder().raw_decode(text, start)[0], Teller)
    return Teller()
