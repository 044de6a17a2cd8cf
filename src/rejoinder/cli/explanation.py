"""Gathers all that the store has recorded about a message: the document behind `rejoinder explain`.

A message has one or more events (it came, it was edited). An event is decided in stages and goes to one or more
sessions, a session takes it into a turn, and a turn produces parts. The gateway's own answers are parts of the event.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple

from rejoinder.cli.parts import ShownPart, shown, where
from rejoinder.errors import BadUse, RejoinderError
from rejoinder.events import Route, Step
from rejoinder.store.base import EventState, InputState, Outcome, TurnState

if TYPE_CHECKING:
    from rejoinder.store.base import InboxEvent, Input, LocatedMessage, OpenTurn, StoredPart, StoreReader

LAST = "last"
MOST_NAMED = 10


class ExplainedPart(Struct, frozen=True):
    """A part, and the message it became."""

    part: ShownPart
    handle: str | None = None
    sent: datetime | None = None


class ExplainedTurn(Struct, frozen=True):
    """A turn the message was part of."""

    id: int
    state: TurnState
    outcome: Outcome | None
    detail: str
    attempts: int
    opened: datetime
    closed: datetime | None
    seconds: float | None
    messages: tuple[str, ...]
    """All messages of the turn, this one included."""
    parts: tuple[ExplainedPart, ...]


class ExplainedInput(Struct, frozen=True):
    """The message in one session."""

    session: str
    state: InputState
    reason: str
    turn: ExplainedTurn | None = None


class ExplainedStep(Step, frozen=True, kw_only=True, omit_defaults=False):
    """A step, and when it was noted."""

    at: datetime


class ExplainedEvent(Struct, frozen=True):
    """One event about the message."""

    id: int
    event: str
    entry: str
    accepted: datetime
    sent: datetime | None
    text: str
    state: EventState
    reason: str
    attempts: int
    stages: tuple[ExplainedStep, ...]
    sessions: tuple[ExplainedInput, ...]
    parts: tuple[ExplainedPart, ...]
    """The gateway's own answers, for example to a command or to a stranger."""


class Explanation(Struct, frozen=True):
    message: str
    """Empty if the turn did not come from a message but from a scheduled job, or from another agent's handoff."""
    handle: str | None
    channel: str
    account: str
    chat: str
    thread: str | None
    sender: str
    sender_name: str
    events: tuple[ExplainedEvent, ...]
    answer_of: str | None = None
    """The message that was asked about, if it is one of ours; the message that it answers is explained instead."""


class MessageReference(Struct, frozen=True):
    """How a person names a message."""

    reference: str
    channel: str | None = None
    chat: str | None = None
    thread: str | None = None
    """Empty: the chat itself, outside of its threads."""
    account: str | None = None

    def is_in(self, route: Route) -> bool:
        there = ((self.channel, route.channel), (self.chat, route.chat), (self.thread, route.thread or ""))
        return all(wanted in (None, found) for wanted, found in (*there, (self.account, route.account)))


# --- found --------------------------------------------------------------------------------------


async def explain(store: "StoreReader", wanted: MessageReference) -> Explanation:
    if wanted.reference == LAST:
        latest = await _latest(store, wanted)
        return await _explained(store, latest.inbound.message_id, latest.inbound.route)
    events = [each for each in await store.events_of(wanted.reference) if wanted.is_in(each.inbound.route)]
    if events:
        _refuse_several({each.inbound.route for each in events}, wanted)
        return await _explained(store, wanted.reference, events[0].inbound.route)
    sighting = await _sighting(store, wanted)
    return await _explained(store, sighting.message.id, sighting.route)


async def _explained(store: "StoreReader", message: str, route: Route) -> Explanation:
    """For a message of ours, explains the one it answers, even if its room also reported ours as an event."""
    events = await _events(store, message, route)
    indexed = await store.message(route, message)
    if events and (indexed is None or indexed.kind != "own"):
        return await _explanation(store, events)
    part = await store.part_sent_as(route, message)
    turn = await store.turn(part.turn) if part is not None and part.turn is not None else None
    if turn is not None and turn.inputs:
        first = turn.inputs[0].event
        said = first.inbound
        # A tick or a handoff has no message id, and neither have others: looking up an empty id would find them too.
        answered = await _events(store, said.message_id, said.route) if said.message_id else [first]
        return await _explanation(store, answered, answer_of=message)
    if events:
        return await _explanation(store, events)
    raise RejoinderError(f"message {message} in {where(route)} is known, but it does not come from a turn of an agent")


async def _latest(store: "StoreReader", wanted: MessageReference) -> "InboxEvent":
    if wanted.thread is not None or wanted.account is not None:
        raise BadUse(f"`{LAST}` can be looked for by --channel and --chat only")
    latest = await store.latest_event(wanted.channel, wanted.chat)
    if latest is None:
        there = " there" if wanted.channel or wanted.chat else ""
        raise RejoinderError(f"no message has come{there} yet")
    return latest


async def _sighting(store: "StoreReader", wanted: MessageReference) -> "LocatedMessage":
    found = [each for each in await store.find_messages(wanted.reference, -1) if wanted.is_in(each.route)]
    if not found:
        raise RejoinderError(
            f"no message {wanted.reference!r} is known; name it by the platform's id, "
            f"by its handle (m42 with --chat) or as `{LAST}`"
        )
    _refuse_several({each.route for each in found}, wanted)
    return found[0]


def _refuse_several(routes: set[Route], wanted: MessageReference) -> None:
    if len(routes) > 1:
        named = sorted(map(where, routes))
        there = ", ".join(named[:MOST_NAMED]) + (", ..." if len(named) > MOST_NAMED else "")
        raise BadUse(
            f"{wanted.reference!r} is a message of several chats; "
            f"choose with --channel, --account, --chat and --thread: {there}"
        )


async def _events(store: "StoreReader", message: str, route: Route) -> "list[InboxEvent]":
    return [each for each in await store.events_of(message) if each.inbound.route == route]


# --- gathered -----------------------------------------------------------------------------------


async def _explanation(
    store: "StoreReader", events: "Sequence[InboxEvent]", answer_of: str | None = None
) -> Explanation:
    inbound, route = events[0].inbound, events[0].inbound.route
    indexed = await store.message(route, inbound.message_id)
    return Explanation(
        message=inbound.message_id,
        handle=indexed.handle if indexed is not None else None,
        channel=route.channel,
        account=route.account,
        chat=route.chat,
        thread=route.thread,
        sender=inbound.sender.id,
        sender_name=inbound.sender.shown_name,
        events=tuple([await _told(store, event) for event in events]),
        answer_of=answer_of,
    )


async def _told(store: "StoreReader", event: "InboxEvent") -> ExplainedEvent:
    return ExplainedEvent(
        id=event.id,
        event=event.inbound.event_id,
        entry=event.inbound.entry,
        accepted=event.accepted,
        sent=event.inbound.sent_at,
        text=event.inbound.summary,
        state=event.state,
        reason=event.reason,
        attempts=event.attempts,
        stages=tuple(
            ExplainedStep(*astuple(step), at=traced.at)
            for traced in await store.trace(event.id)
            for step in traced.steps
        ),
        sessions=tuple([await _handed(store, each) for each in await store.inputs_of(event.id)]),
        parts=await _delivered(store, await store.parts_about(event.id)),
    )


async def _handed(store: "StoreReader", put: "Input") -> ExplainedInput:
    turn = await store.turn(put.turn) if put.turn is not None else None
    asked = await _asked(store, turn) if turn is not None else None
    return ExplainedInput(put.session, put.state, put.reason, asked)


async def _asked(store: "StoreReader", open_turn: "OpenTurn") -> ExplainedTurn:
    turn = open_turn.turn
    return ExplainedTurn(
        id=turn.id,
        state=turn.state,
        outcome=turn.outcome,
        detail=turn.detail,
        attempts=turn.attempts,
        opened=turn.opened,
        closed=turn.closed,
        seconds=(turn.closed - turn.opened).total_seconds() if turn.closed is not None else None,
        messages=tuple(each.event.inbound.message_id for each in open_turn.inputs),
        parts=await _delivered(store, open_turn.parts),
    )


async def _delivered(store: "StoreReader", parts: "Sequence[StoredPart]") -> tuple[ExplainedPart, ...]:
    """The store knows when a message was last written: that is the time of its newest edit, and no other part's."""
    last = {(part.route, part.receipt): part for part in parts}
    explained: list[ExplainedPart] = []
    for part in parts:
        noted = await store.message(part.route, part.receipt) if part.receipt is not None else None
        if noted is None:
            explained.append(ExplainedPart(shown(part)))
            continue
        sent = noted.at if last[part.route, part.receipt] is part else None
        explained.append(ExplainedPart(shown(part), noted.handle, sent))
    return tuple(explained)
