"""Turns an answer into operations: cuts it into messages, and turns the messages already shown into these.

Rule 1: what was delivered is known from slots and receipts, never by comparison with what people see (DE-2).
Rule 2: only the first message is sent as a reply, unless the reply mode says all, or a reply is a thread (OD-60, DE-6).
Rule 3: there is no operation for text without a visible character (DE-14), and none for a message that already shows
        its text, unless the platform waits for a final edit.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Attachment, Choice, NewThread, Part, Rendering, ReplyContext, ReplyMode, Route
from rejoinder.outbound.operations import Amend, Operation, Remove, Say, keyed
from rejoinder.rendering import RenderedMessage, RenderOptions, messages
from rejoinder.rendering.chunk import length

LONG, LONG_REMEMBERED = 4096, 8
"""A text with more characters than this takes long to cut, so results are cached; and the size of that cache."""


_MENTION = re.compile(r"<@[!&]?[A-Za-z0-9]{5,32}>")


class AnswerWording(Struct, frozen=True):
    """What the messages of one answer share besides their text."""

    reply_to: str | None = None
    reply_all: bool = False
    silent: bool = False
    previews: bool = False
    author: str = ""
    addressed: tuple[str, ...] = ()
    only_for: str | None = None
    choices: tuple[Choice, ...] = ()
    """Buttons under the last message."""
    is_error: bool = False
    answers: str = ""
    opens: NewThread | None = None
    """The thread that these messages open, whichever of them arrives first (CH-2)."""
    title: str = ""
    reply_context: ReplyContext | None = None


class Slot(Struct, frozen=True):
    """A message on the screen that was opened before the answer was complete."""

    message: str
    source: str
    """The text that the platform last accepted for it, before rendering."""
    reply_to: str | None = None
    unsure: bool = False
    """Whether an edit of it was never confirmed and may still overwrite what is put there."""
    is_open: bool = False
    """Whether the platform marks it as still being written until it gets a final edit."""


class PlannedOperation(Struct, frozen=True):
    key: str
    operation: Operation


def reply_mode(configured: ReplyMode | None, *, direct: bool, other_bot: bool) -> ReplyMode:
    """The configured mode; by default off in direct chats and among bots, and first in other groups (DE-6)."""
    return configured or ("off" if direct or other_bot else "first")


def cut(text: str, options: RenderOptions) -> list[RenderedMessage]:
    return list(_cut_long(text, options)) if len(text) > LONG else messages(text, options)


_cut_long = lru_cache(LONG_REMEMBERED)(messages)


def part_of(message: RenderedMessage, route: Route, wording: AnswerWording, *, first: bool) -> Part:
    return _part(message.rendering, route, wording, first=first)


def _part(rendering: Rendering, route: Route, wording: AnswerWording, *, first: bool) -> Part:
    return Part(
        route=route,
        text=rendering.text,
        entities=rendering.entities,
        html=rendering.html,
        reply_to=wording.reply_to if first or wording.reply_all else None,
        silent=wording.silent,
        author=wording.author,
        addressed=wording.addressed,
        previews=wording.previews,
        only_for=wording.only_for,
        is_error=wording.is_error,
        answers=wording.answers,
        opens=wording.opens,
        title=wording.title if first else "",
        reply_context=wording.reply_context,
    )


def _both(message: RenderedMessage, route: Route, wording: AnswerWording, *, first: bool) -> tuple[Part, Part | None]:
    part = _part(message.rendering, route, wording, first=first)
    if message.fallback is message.rendering or message.fallback == message.rendering:
        return part, None
    return part, _part(message.fallback, route, wording, first=first)


def say(
    text: str, route: Route, options: RenderOptions, wording: AnswerWording, stem: str, *, first: int = 0
) -> list[PlannedOperation]:
    """The messages of a text. `first`: how many messages of this answer precede them."""
    planned: list[PlannedOperation] = []
    chunks = cut(text, options)
    for number, message in enumerate(chunks, first):
        said = Say(*_both(message, route, wording, first=number == 0))
        if wording.choices and message is chunks[-1]:
            said = _with_choices(said, wording.choices)
        planned.append(PlannedOperation(*keyed(said, f"{stem}/{number}")))
    return planned


def show_files(
    files: tuple[Attachment, ...], caption: str, route: Route, options: RenderOptions, wording: AnswerWording, stem: str
) -> list[PlannedOperation]:
    """One message with files and its caption. A caption that is too long for `options` continues in messages of its
    own; the files are sent even without a caption."""
    first, *more = cut(caption, options) or [RenderedMessage("", Rendering(""), Rendering(""))]
    part, plain = _both(first, route, wording, first=True)
    shown = Say(replace(part, files=files), None if plain is None else replace(plain, files=files))
    rest = [Say(*_both(message, route, wording, first=False)) for message in more]
    return [PlannedOperation(*keyed(operation, f"{stem}/{number}")) for number, operation in enumerate([shown, *rest])]


def _with_choices(said: Say, choices: tuple[Choice, ...]) -> Say:
    plain = None if said.plain is None else replace(said.plain, choices=choices)
    return Say(replace(said.part, choices=choices), plain)


def replace_text(
    text: str, shown: Sequence[str], route: Route, options: RenderOptions, stem: str
) -> list[PlannedOperation]:
    """Puts new words into these messages and removes their buttons; does nothing for a message that is gone."""
    chunks = cut(text, options)
    amended = [
        Amend(message, *_both(chunk, route, AnswerWording(), first=False), resend_if_gone=False)
        for message, chunk in zip(shown, chunks, strict=False)
    ]
    put = [PlannedOperation(*keyed(operation, f"{stem}/{number}/instead")) for number, operation in enumerate(amended)]
    return put + [PlannedOperation(*keyed(Remove(message), f"{stem}/delete")) for message in shown[len(chunks) :]]


def close_offer(said: Say, message: str, outcome: str, stem: str) -> list[PlannedOperation]:
    """Replaces the last paragraph, which says how to answer, with the outcome, and removes the buttons.

    For a caller that has only the message as it was rendered.
    """
    question = said.part.text.rpartition("\n\n")[0]
    entities = tuple([each for each in said.part.entities if each.offset + each.length <= length(question, "utf16")])
    text = f"{question}\n\n{outcome}".lstrip()
    part = replace(said.part, text=text, entities=entities if question else (), html="", choices=(), key="")
    return [PlannedOperation(*keyed(Amend(message, part, resend_if_gone=False), f"{stem}/instead"))]


def settle(
    text: str,
    slots: tuple[Slot, ...],
    route: Route,
    options: RenderOptions,
    wording: AnswerWording,
    stem: str,
    *,
    live: bool = False,
    may_move: bool = True,
    fresh: bool = False,
) -> list[PlannedOperation]:
    """The operations that turn the messages on the screen into the whole answer.

    `live`: they were fed as they grew, so the platform must be told that each is complete. `may_move`: they can be
    deleted, so an answer whose reply target has changed is sent again before they are deleted (OD-61), and so is one
    that a late edit could overwrite (DE-20). `fresh`: the answer has to be a new message for another reason: an edit
    pings nobody, and other bots read only the first version of a message (DE-21).
    """
    retargeted = bool(slots) and (slots[0].reply_to != wording.reply_to or any(slot.unsure for slot in slots))
    if slots and may_move and (fresh or retargeted):
        said = say(text, route, options, wording, stem)
        after = tuple(planned.key for planned in said)
        return said + [_removed(slot, stem, after) for slot in slots]
    settled: list[PlannedOperation] = []
    chunks = cut(text, options)
    for number, message in enumerate(chunks):
        stem_here, first = f"{stem}/{number}", number == 0
        part, plain = _both(message, route, wording, first=first)
        if number >= len(slots):
            settled.append(PlannedOperation(*keyed(Say(part, plain), stem_here)))
        elif live or slots[number].is_open or slots[number].source != message.source:
            grown = len(slots[number].source) if live else 0
            amended = Amend(slots[number].message, part, plain, grown)
            settled.append(PlannedOperation(*keyed(amended, stem_here)))
    return settled + [_removed(slot, stem) for slot in slots[len(chunks) :]]


def _removed(slot: Slot, stem: str, after: tuple[str, ...] = ()) -> PlannedOperation:
    return PlannedOperation(*keyed(Remove(slot.message, after), f"{stem}/delete"))


def calls_somebody(text: str, addressed: Sequence[str]) -> bool:
    """Whether these words mention somebody, in a platform's notation or by a name that may be mentioned."""
    if "@" not in text:
        return False
    return _MENTION.search(text) is not None or any(f"@{who.removeprefix('@')}" in text for who in addressed)


def withdraw(slots: tuple[Slot, ...], stem: str) -> list[PlannedOperation]:
    """Removes everything shown of the answer (OD-41)."""
    return [_removed(slot, stem) for slot in slots]
