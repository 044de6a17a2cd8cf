"""Carries out one operation: chooses the channel call for each kind of row, and the fallback if an ability is
missing."""

import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial
from types import NoneType
from typing import Final, cast

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from rejoinder.blobs import Blobs
from rejoinder.channels.base import (
    CanDelete,
    CanEdit,
    CanFind,
    CanFindOpening,
    CanReact,
    CanSendFiles,
    CanStream,
    Channel,
    DeduplicatesByKey,
    OpensPlaces,
    OutgoingFile,
)
from rejoinder.events import Part, Route
from rejoinder.events.outcomes import Delivered, Outcome, Rejected, Unknown
from rejoinder.filetypes import kind_of
from rejoinder.outbound.forms import form_of, in_time
from rejoinder.outbound.operations import Amend, Open, Operation, React, Remove, Say, Words, encode, kind
from rejoinder.outbound.plan import PlannedOperation
from rejoinder.outbound.verdict import Recognises
from rejoinder.runtime.abilities import can
from rejoinder.store.base import PartIntent, StoreReader
from rejoinder.unicode_repair import repair_text

log = logging.getLogger(__name__)

NOTHING: Final = "\u200b"
"""Replaces a message that cannot be deleted (OD-41, OD-61)."""
WITHDRAWN: Final = "(withdrawn)"
"""Replaces it on platforms that take `NOTHING` for an empty text, as Telegram does: otherwise the old words would
stay."""


def recognised_by(channel: Channel) -> Recognises:
    """What this channel allows us to find out about a call that got no answer."""
    if can(channel, DeduplicatesByKey):
        return "keys"
    if can(channel, CanFind):
        return "messages"
    return "openings" if can(channel, CanFindOpening) else "nothing"


def intent(planned: PlannedOperation, route: Route) -> PartIntent:
    """The row of a planned operation. The store keeps the files it names as long as the row."""
    operation = planned.operation
    files = operation.part.files if isinstance(operation, Say) else ()
    blobs = tuple([file.id for file in files]) if files else ()
    return PartIntent(planned.key, route, encode(operation), kind(operation), blobs)


def checked(outcome: object) -> Outcome:
    """Checks a channel's answer: another package's channel may return anything, and a value that is no outcome says
    nothing about what happened."""
    if type(outcome) is Delivered and outcome.place is None and type(outcome.message) in (str, NoneType):
        return outcome
    if isinstance(outcome, Delivered) and isinstance(cast("object", outcome.message), int):
        outcome = replace(outcome, message=str(outcome.message))
    if not isinstance(outcome, Outcome):
        return Unknown(f"the channel returned {type(outcome).__name__}, which is no outcome")
    try:
        msgspec.convert(asdict(outcome), type(outcome))
    except msgspec.ValidationError as problem:
        return Unknown(f"the channel returned a {type(outcome).__name__} that cannot be read: {problem}")
    return outcome


def storable(outcome: Outcome) -> Outcome:
    """Makes the reason storable: it may quote bytes that are not text, such as a file's name or a proxy's answer, and a
    reason that cannot be stored would end the sender."""
    if isinstance(outcome, Delivered) or (outcome.reason.isascii() and "\0" not in outcome.reason):
        return outcome
    return replace(outcome, reason=repair_text(outcome.reason).replace("\0", "\ufffd"))


class StoreAndFiles(Struct, frozen=True):
    """The store and the files, which an operation may need, and a check whether it may still make calls."""

    store: StoreReader
    blobs: Blobs
    check: Callable[[], None]
    """Raises LeaseLost; it must be called before each call that comes after a wait (SC-3)."""


async def send_files(part: Part, channel: Channel, kept: StoreAndFiles) -> Outcome:
    """Sends a part with files, which are read from the store piece by piece."""
    if not can(channel, CanSendFiles):
        return Rejected(f"{channel.name} cannot send files")
    files: list[OutgoingFile] = []
    for named in part.files:
        blob = await kept.blobs.find(named.id)
        if blob is None:
            return Rejected(f"the file {named.name!r} is no longer stored")
        kind = named.kind or kind_of(blob.mime)
        files.append(OutgoingFile(blob.id, named.name, blob.mime, blob.size, kind, partial(kept.blobs.read, blob.id)))
    kept.check()
    return await channel.send_files(part, tuple(files))


async def perform(
    operation: Operation,
    channel: Channel,
    route: Route,
    omitted: frozenset[str],
    kept: StoreAndFiles,
    place: Route | None = None,
    now: datetime | None = None,
) -> Outcome:
    """`omitted`: what earlier attempts left out, such as the formatting. `place`: where the previous message is, if not
    where it was sent. The platform's own way to answer is used until it expires (CH-3)."""
    if now is not None and isinstance(operation, Words):
        operation = in_time(operation, now)
    match operation:
        case Say(part=part, plain=plain):
            part = form_of(part, plain, omitted, place)
            outcome = await (send_files(part, channel, kept) if part.files else channel.send(part))
            if isinstance(outcome, Delivered) and outcome.place is None and part.route != route:
                return Delivered(outcome.message, part.route)
            return outcome
        case Open(part=part):
            part = form_of(part, None, omitted)
            return await (channel.begin(part) if can(channel, CanStream) else channel.send(part))
        case Amend() | React() | Remove():
            there = await where(operation.message, route, channel, kept.store)
            kept.check()
            return await _change(operation, channel, there, omitted, kept)


async def _change(
    operation: Amend | React | Remove, channel: Channel, route: Route, omitted: frozenset[str], kept: StoreAndFiles
) -> Outcome:
    """Changes a message that already exists."""
    match operation:
        case Amend():
            return await _amend(operation, channel, route, omitted, kept)
        case React(message=message, emoji=emoji, remove=remove, author=author):
            if can(channel, CanReact):
                return await channel.react(route, message, emoji, remove=remove, author=author)
        case Remove(message=message, after=after):
            if after and not await _have_arrived(after, kept.store):
                return Rejected("its replacement has not arrived")
            return await _remove(message, channel, route, kept)
    return Rejected(f"{channel.name} cannot do it")


async def _amend(
    operation: Amend, channel: Channel, route: Route, omitted: frozenset[str], kept: StoreAndFiles
) -> Outcome:
    part = operation.part
    if "message" in omitted:  # the message is gone
        return await channel.send(form_of(part, operation.plain, omitted))
    if can(channel, CanEdit):
        return await channel.edit(route, operation.message, form_of(part, operation.plain, omitted))
    if can(channel, CanStream):
        if rest := part.text[operation.grown :]:
            await channel.append(route, operation.message, rest)
            kept.check()
        await channel.complete(route, operation.message)
    return Delivered(operation.message)


async def where(message: str, route: Route, channel: Channel, store: StoreReader) -> Route:
    """Where a message is that was named from this place: here, in the chat that contains this thread, or in a place
    that a message to this one has opened (CH-2)."""
    if route.thread is None and not can(channel, OpensPlaces):
        return route
    chat = replace(route, thread=None)
    if message == route.thread and await store.message(chat, message) is not None:
        return chat
    if await store.message(route, message) is not None:
        return route
    if route.thread is not None:
        return chat if await store.message(chat, message) is not None else route
    for seen in await store.find_messages(message):
        if seen.message.id == message and replace(seen.route, thread=None) == route:
            return seen.route
    return route


async def _have_arrived(keys: tuple[str, ...], store: StoreReader) -> bool:
    """Whether all parts that replace a message have arrived: only then is it removed (OD-61)."""
    stem = keys[0].rsplit("/", 2)[0]  # keys of one answer: they differ only in number and digest
    return {part.key for part in await store.parts_under(stem) if part.state == "sent"}.issuperset(keys)


async def _remove(message: str, channel: Channel, route: Route, kept: StoreAndFiles) -> Outcome:
    """Deletes the message, or overwrites its text where it cannot be deleted (OD-41)."""
    outcome: Outcome = Rejected(f"{channel.name} cannot delete")
    name, able = channel.name, channel
    if can(able, CanDelete):
        kept.check()
        outcome = await able.delete(route, message)
    if isinstance(outcome, Rejected) and outcome.why != "target" and can(channel, CanEdit):
        log.warning("%s did not delete %s: %s", name, message, outcome.reason)
        kept.check()
        outcome = await channel.edit(route, message, Part(route, NOTHING))
        if isinstance(outcome, Rejected) and outcome.why in ("formatting", "other"):
            kept.check()
            return await channel.edit(route, message, Part(route, WITHDRAWN))
    return outcome
