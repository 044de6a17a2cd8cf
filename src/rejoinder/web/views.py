"""The records that `/api` returns. The OpenAPI document is made from them and from the sentences of their fields."""

from datetime import UTC, datetime

from msgspec import Struct

from rejoinder.channels.web.logins import Invited
from rejoinder.events import Step
from rejoinder.store.base import (
    Deployment,
    InboxEvent,
    Input,
    PairingRequest,
    Quarantined,
    StoredJob,
    StoredPart,
    StoredSession,
    StoredSubagent,
    TraceEntry,
    TranscriptEntry,
    log_of,
)
from rejoinder.store.bodies import text_of
from rejoinder.store.hook_events import HookQueue
from rejoinder.web.console_frames import Gauges
from rejoinder.web.services import ChannelState
from rejoinder.web.summaries import HandledTurn, summary_of

LONGEST_EXCERPT = 500


class SessionView(Struct, frozen=True):
    """A conversation with an agent."""

    key: str
    agent: str
    started: datetime
    touched: datetime
    model: str | None
    waiting: int
    """Messages that wait for its next turn."""
    input_tokens: int
    output_tokens: int


class WaitingView(Struct, frozen=True):
    """A message that waits for a turn."""

    message: str
    channel: str
    chat: str
    sender: str
    text: str
    since: datetime


class LaneView(Struct, frozen=True):
    """The queue of one session."""

    session: str
    agent: str
    waiting: tuple[WaitingView, ...]


class PartView(Struct, frozen=True):
    """A message of ours that is being sent, or that did not arrive."""

    id: int
    key: str
    channel: str
    chat: str
    thread: str | None
    state: str
    attempts: int
    planned: datetime
    retry_at: datetime | None
    error: str
    text: str


class RoutedView(Struct, frozen=True):
    """What happened to an event in one session."""

    session: str
    state: str
    turn: int | None
    reason: str


class EventView(Struct, frozen=True):
    """One event of a message, with the decision of each stage."""

    id: int
    message: str
    channel: str
    chat: str
    sender: str
    entry: str
    text: str
    at: datetime
    sentence: str
    """What happened to it, in plain words."""
    state: str
    reason: str
    steps: tuple[Step, ...]
    routed: tuple[RoutedView, ...]


class PairingRequestView(Struct, frozen=True):
    """A stranger who is waiting to be let in."""

    channel: str
    account: str
    sender: str
    code: str
    asked: datetime
    expires: datetime


class QuarantinedView(Struct, frozen=True):
    """Something that is left alone until somebody runs it again."""

    kind: str
    """`turn`, `message` or `session`."""
    number: int
    """The number for running a turn or a message again; 0: it cannot be run again."""
    id: str
    where: str
    """The channel or the session."""
    at: datetime
    why: str


class QuarantineList(Struct, frozen=True):
    quarantined: tuple[QuarantinedView, ...]


def quarantined_view(each: Quarantined) -> QuarantinedView:
    return QuarantinedView(each.kind, each.number, each.id, each.where, each.at, each.reason)


class JobView(Struct, frozen=True):
    """A scheduled job, or an agent's heartbeat."""

    name: str
    schedule: str
    """Its schedule, as it is written in the configuration."""
    paused: bool
    next: datetime | None
    """None: it is paused, never due again, or not looked at yet."""
    state: str | None
    """The state of its last turn: `waiting`, `running`, `over` or `quarantined`."""
    outcome: str | None
    fired: datetime | None
    detail: str
    passed: datetime | None
    """When a tick last passed without a turn,"""
    reason: str
    """and why."""


class SubagentView(Struct, frozen=True):
    """A sub-agent of a conversation."""

    session: str
    name: str
    agent: str
    where: str
    """The session of its conversation."""
    depth: int
    state: str
    """`running`, `ended`, `failed` or `killed`."""
    task: str
    result: str
    started: datetime
    ended: datetime | None
    log: tuple[str, ...]
    """The latest lines of what it was told, did and said."""


class GatewayView(Struct, frozen=True):
    """The gateway itself."""

    version: str
    agents: tuple[str, ...]
    configuration: str
    """Which part of the configuration is not in effect, and why; empty: everything is."""


class JobList(Struct, frozen=True):
    jobs: tuple[JobView, ...]


class SessionList(Struct, frozen=True):
    sessions: tuple[SessionView, ...]


class SubagentList(Struct, frozen=True):
    subagents: tuple[SubagentView, ...]


class LaneList(Struct, frozen=True):
    lanes: tuple[LaneView, ...]


class PartList(Struct, frozen=True):
    parts: tuple[PartView, ...]


class Channels(Struct, frozen=True):
    channels: tuple[ChannelState, ...]


class Traces(Struct, frozen=True):
    events: tuple[EventView, ...]


class InvitedView(Struct, frozen=True):
    """A person who has a login to the chat page."""

    person: str
    name: str
    since: datetime


class PeopleList(Struct, frozen=True):
    people: tuple[InvitedView, ...]
    closed: str = ""
    """Why nobody can be invited here; empty: people can be."""


class Invitation(Struct, frozen=True):
    name: str
    link: str
    """The link that logs the person in; it is not shown again."""


class PairingList(Struct, frozen=True):
    requests: tuple[PairingRequestView, ...]


class Series(Struct, frozen=True):
    points: tuple[Gauges, ...]


class ProcessList(Struct, frozen=True):
    deployment: Deployment


class HookList(Struct, frozen=True):
    hooks: tuple[HookQueue, ...]


class Accepted(Struct, frozen=True):
    """It was done."""

    ok: bool = True


class ErrorAnswer(Struct, frozen=True):
    """Why it was not done, as a sentence."""

    error: str


def session_view(stored: StoredSession, waiting: int) -> SessionView:
    session = stored.session
    return SessionView(
        session.key,
        session.agent,
        session.started,
        session.touched,
        session.model,
        waiting,
        session.input_tokens,
        session.output_tokens,
    )


def waiting_view(waiting: Input) -> WaitingView:
    inbound = waiting.event.inbound
    return WaitingView(
        inbound.message_id,
        inbound.channel,
        inbound.chat.id,
        _name(waiting.event),
        inbound.summary[:LONGEST_EXCERPT],
        waiting.event.accepted,
    )


def part_view(part: StoredPart) -> PartView:
    route = part.route
    return PartView(
        part.id,
        part.key,
        route.channel,
        route.chat,
        route.thread,
        part.state,
        part.attempts,
        part.planned,
        part.retry_at,
        part.error,
        text_of(part.body)[:LONGEST_EXCERPT],
    )


def event_view(event: InboxEvent, trace: tuple[TraceEntry, ...], handled: tuple[HandledTurn, ...]) -> EventView:
    inbound = event.inbound
    steps = tuple(step for each in trace for step in each.steps)
    return EventView(
        event.id,
        inbound.message_id,
        inbound.channel,
        inbound.chat.id,
        _name(event),
        inbound.entry,
        inbound.summary[:LONGEST_EXCERPT],
        event.accepted,
        summary_of(event, steps, handled),
        event.state,
        event.reason,
        steps,
        tuple(RoutedView(each.put.session, each.put.state, each.put.turn, each.put.reason) for each in handled),
    )


def subagent_view(
    stored: StoredSubagent, entries: tuple[TranscriptEntry, ...], doing: tuple[tuple[str, ...], str] = ((), "")
) -> SubagentView:
    return SubagentView(
        stored.session,
        stored.name,
        stored.agent,
        stored.root,
        stored.depth,
        stored.state,
        stored.task,
        stored.result,
        stored.started,
        stored.ended,
        tuple(line.plain[:LONGEST_EXCERPT] for line in log_of(stored, entries, *doing)),
    )


def job_view(job: StoredJob) -> JobView:
    return JobView(
        job.name,
        job.schedule,
        job.paused,
        None if job.paused else job.due,
        job.state,
        job.outcome,
        job.fired,
        job.detail,
        job.passed,
        job.reason,
    )


def pairing_request_view(request: PairingRequest) -> PairingRequestView:
    return PairingRequestView(
        request.channel, request.account, request.sender, request.code, request.asked, request.expires
    )


def invited_view(invited: Invited) -> InvitedView:
    person = invited.person
    return InvitedView(person.id, person.name, datetime.fromtimestamp(invited.made / 1000, UTC))


def _name(event: InboxEvent) -> str:
    sender = event.inbound.sender
    return sender.shown_name or sender.id
