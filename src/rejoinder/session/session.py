"""What is remembered between the messages of one conversation, and how long each part is kept.

Rule 1: each field of `Session` declares on its own line how long it lives. `start_over` and `turn_taken` use only these
        declarations; a reset by hand and a rollover by the clock are the same function.
Rule 2: time is a parameter.
"""

from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal, get_type_hints

from msgspec import Meta, Struct
from msgspec.structs import fields, replace


class Lifetime(Enum):
    TURN = "told to the next turn, then gone"
    SESSION = "gone at reset and rollover"
    STICKY = "survives reset and rollover"


Activation = Literal["mention", "always"]
"""When an agent answers in a group."""
TtsMode = Literal["off", "always", "inbound", "tagged"]
"""Which answers are spoken: none, all, answers to a voice note, or what the agent marks (ME-2)."""
QueueMode = Literal["steer", "followup", "collect", "interrupt", "steer-backlog", "queue"]
QueueDrop = Literal["old", "new", "summarize"]


ExecHost = Literal["sandbox", "gateway", "node"]
ExecSecurity = Literal["deny", "allowlist", "full"]
ExecAsk = Literal["off", "on-miss", "always"]


class ExecChoice(Struct, frozen=True):
    """The choice of `/exec`, which is a privilege: where the agent's commands run and who is asked."""

    host: ExecHost | None = None
    security: ExecSecurity | None = None
    ask: ExecAsk | None = None
    node: str | None = None


class QueueChoice(Struct, frozen=True):
    """The choice of `/queue`; anything left open comes from the settings."""

    mode: QueueMode | None = None
    debounce_ms: int | None = None
    cap: int | None = None
    drop: QueueDrop | None = None


Instant = Annotated[datetime, Meta(tz=True)]


class Session(Struct, frozen=True, omit_defaults=True):
    """What is remembered between the messages of one conversation."""

    key: Annotated[str, Lifetime.STICKY]
    agent: Annotated[str, Lifetime.STICKY]
    started: Annotated[Instant, Lifetime.SESSION]
    touched: Annotated[Instant, Lifetime.SESSION]

    think: Annotated[str | None, Lifetime.STICKY] = None
    verbose: Annotated[str | None, Lifetime.STICKY] = None
    reasoning: Annotated[str | None, Lifetime.STICKY] = None
    model: Annotated[str | None, Lifetime.STICKY] = None
    label: Annotated[str | None, Lifetime.STICKY] = None
    tts: Annotated[TtsMode | None, Lifetime.STICKY] = None
    tts_voice: Annotated[str | None, Lifetime.STICKY] = None
    tts_limit: Annotated[int | None, Lifetime.STICKY] = None
    # Sticky, because it is a room's rule, set by an owner: a bot that fell silent after a nightly rollover would look
    # broken.
    activation: Annotated[Activation | None, Lifetime.STICKY] = None
    # Sticky, because it happens once for each thread, not for each start: a person who resets a thread wants it empty.
    inherited: Annotated[bool, Lifetime.STICKY] = False

    elevated: Annotated[str | None, Lifetime.SESSION] = None
    exec: Annotated[ExecChoice | None, Lifetime.SESSION] = None
    queue: Annotated[QueueChoice | None, Lifetime.SESSION] = None
    send_policy: Annotated[Literal["on", "off"] | None, Lifetime.SESSION] = None
    usage: Annotated[Literal["off", "tokens", "full"] | None, Lifetime.SESSION] = None
    input_tokens: Annotated[int, Lifetime.SESSION] = 0
    output_tokens: Annotated[int, Lifetime.SESSION] = 0

    aborted_last_run: Annotated[bool, Lifetime.TURN] = False
    system_events: Annotated[tuple[str, ...], Lifetime.TURN] = ()


def lifetimes() -> dict[str, Lifetime]:
    """The lifetime of each field by its name, as the fields declare it."""
    hints: dict[str, Any] = get_type_hints(Session, include_extras=True)
    return {
        name: mark
        for name, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Lifetime)
    }


_LIFETIMES = lifetimes()
_STICKY = tuple(name for name, lifetime in _LIFETIMES.items() if lifetime is Lifetime.STICKY)
_TOLD = {field.name: field.default for field in fields(Session) if _LIFETIMES[field.name] is Lifetime.TURN}


def held_by_session(name: str) -> str:
    """Tells people that a value comes from this field and not from the configuration, and how long it stays."""
    return "set here, kept by /new" if name in _STICKY else "this session"


def is_untouched(session: Session) -> bool:
    """Whether it has had no turn yet."""
    return session.touched == session.started


def ruled_by(thread: Session, chat: Session) -> Session:
    """The session of a thread that is about to be opened, with the rule of its chat, which it keeps."""
    if chat.activation is None or thread.activation is not None or not is_untouched(thread):
        return thread
    return replace(thread, activation=chat.activation)


def start_over(session: Session, now: datetime) -> Session:
    """The session after a reset or a rollover: it keeps only what is sticky (IN-43)."""
    kept = {name: getattr(session, name) for name in _STICKY}
    return Session(**kept, started=now, touched=now)


# --- notes for the next turn --------------------------------------------------------------------

PENDING_EVENTS = 20


def with_event(session: Session, event: str) -> Session:
    """The session with one more note for the agent (IN-58). A repetition counts once, and the latest 20 are kept."""
    if session.system_events and session.system_events[-1] == event:
        return session
    return replace(session, system_events=(*session.system_events, event)[-PENDING_EVENTS:])


def turn_taken(session: Session, touched: datetime | None = None) -> Session:
    """The session after a turn has received its notes. `touched`: when a person was here, if one was."""
    return replace(session, touched=touched or session.touched, **_TOLD)
