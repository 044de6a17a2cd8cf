"""What an agent without a model can read from a turn: its messages, and who wrote them (TU-30)."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec import Struct

from rejoinder.events import PromptPart, PromptText, Turn

FIRST_TAG = re.compile(r"<\w+-(\w+)>\n")
BLOCK = re.compile(r"<sender_context-(\w+)>")


class QuotedBlock(Struct, frozen=True):
    handle: str | None = None


class SenderBlock(Struct, frozen=True):
    """What such an agent needs from the block that says who wrote."""

    handle: str = "current"
    sender_id: str = ""
    display_name: str = ""
    is_bot: bool = False
    reply_to: QuotedBlock | None = None
    edit_of: QuotedBlock | None = None


def own_words(parts: Sequence[PromptPart]) -> tuple[PromptPart, ...]:
    """What people said and sent, without the blocks that the gateway put around it."""
    blocks = _blocks(parts)
    return tuple([part for part in parts if part not in blocks])


def gateways_words(parts: Sequence[PromptPart]) -> tuple[str, ...]:
    """The blocks that the gateway put around what people said."""
    return tuple(block.text for block in _blocks(parts))


def sender_blocks(parts: Sequence[PromptPart]) -> tuple[SenderBlock, ...]:
    """Who wrote the messages, in order."""
    return tuple(_sender_block([block.text]) for block in _blocks(parts) if BLOCK.match(block.text))


def _blocks(parts: Sequence[PromptPart]) -> list[PromptText]:
    """The boundary is the word in the very first tag; a block with another word is a user's text."""
    texts = [part for part in parts if isinstance(part, PromptText)]
    tag = FIRST_TAG.match(texts[0].text) if texts else None
    return [] if tag is None else [text for text in texts if text.text.endswith(f"-{tag[1]}>")]


def last_message(turn: Turn) -> tuple[str, SenderBlock]:
    """The question is the last text; the block before it gives its handle."""
    texts = [part.text for part in turn.parts if isinstance(part, PromptText)]
    return (texts[-1] if texts else ""), _sender_block(texts[:-1])


def messages(turn: Turn) -> tuple[tuple[str, SenderBlock], ...]:
    """All messages of the turn, in order: messages that came while the agent was busy share a turn.

    Each message begins with the block that says who wrote it. Other blocks with the same boundary describe the message
    and are not part of its words.
    """
    found: list[tuple[str, SenderBlock]] = []
    end = ""
    for part in turn.parts:
        if not isinstance(part, PromptText):
            continue
        if block := BLOCK.match(part.text):
            found.append(("", _sender_block([part.text])))
            end = f"-{block[1]}>"
        elif found and not part.text.endswith(end):
            found[-1] = (part.text, found[-1][1])
    return tuple(found) or (last_message(turn),)


def _sender_block(texts: list[str]) -> SenderBlock:
    for text in reversed(texts):
        start = text.find('{"schema"')
        if start >= 0:
            with suppress(ValueError):  # not such a block after all
                return msgspec.convert(json.JSONDecoder().raw_decode(text, start)[0], SenderBlock)
    return SenderBlock()
