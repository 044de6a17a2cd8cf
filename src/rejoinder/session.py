"""One conversation of one agent: whose it is, how long it lasts, what survives a new start.

Rule 1: a session is found by its key alone, and the key is made in this file, nowhere else. It is
injective: all that tells two conversations apart is in it, escaped, so no choice of ids makes two of them one.
Rule 2: each field of `Session` says on its own line how long it lives. `start_over` and `turn_taken` read
that and nothing else; a reset by hand and a rollover by the clock are the same function.
Rule 3: time is a parameter. Instants are UTC; only the daily boundary knows a zone.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from enum import Enum
from typing import Annotated, Any, Literal, get_type_hints
from zlib import crc32
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct
from msgspec.structs import fields, replace

from rejoinder.events import Inbound, Route
from rejoinder.keys import Count, Text

# --- settings -----------------------------------------------------------------------------------

ResetMode = Literal["never", "daily", "idle", "both"]
TypingMode = Literal["never", "instant", "thinking", "message"]
Hour = Annotated[int, Meta(ge=0, le=23)]


class ResetPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """When a session has grown old and the next message begins a new one."""

    mode: ResetMode = "never"
    """When a session ends by itself: `never`, `daily` at an hour, `idle` after minutes without a message, or `both`,
    whichever comes first. The new one begins with the next message."""
    at_hour: Hour = 4
    """The hour of the daily boundary. Where clocks skip the hour, the moment of the skip counts; where they
    repeat it, its first occurrence."""
    zone: str = "UTC"
    """The time zone of `at_hour`, by its IANA name: `Europe/Berlin`."""
    idle_minutes: Count = 60
    """Minutes without a message after which `idle` and `both` end the session."""


class ResetOverride(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of the policy that differs for a kind of chat or a channel."""

    mode: ResetMode | None = None
    """As `session.reset.mode`."""
    at_hour: Hour | None = None
    """As `session.reset.at_hour`."""
    zone: str | None = None
    """As `session.reset.zone`."""
    idle_minutes: Count | None = None
    """As `session.reset.idle_minutes`."""


class ResetByType(Struct, frozen=True, forbid_unknown_fields=True):
    """Overrides by kind of chat; in a thread `thread` counts before `group` or `direct`."""

    thread: ResetOverride | None = None
    """Sessions of a thread."""
    group: ResetOverride | None = None
    """Sessions of a group or channel."""
    direct: ResetOverride | None = None
    """Sessions of a direct chat."""


class ResetSettings(ResetPolicy, frozen=True, forbid_unknown_fields=True):
    """When a session ends by itself, in general and where it differs."""

    by_type: ResetByType = ResetByType()
    """What differs for `thread`, `group` or `direct` chats."""
    by_channel: dict[str, ResetOverride] = {}
    """What differs on a channel, by its name; it counts before `by_type`."""


class SessionSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who shares a conversation with the agent, and when a new one starts."""

    scope: Literal["per-sender", "shared"] = "per-sender"
    """Direct chats: `per-sender` gives each person an own session, `shared` puts all of them into the one
    named `main_key`, where the agent has heard what the others said."""
    group_scope: Literal["per-thread", "per-chat", "per-sender"] = "per-thread"
    """Groups: one session for each thread, for the whole chat, or for each person in it."""
    main_key: Text = "main"
    """The name of the session that `scope = "shared"` shares."""
    reset: ResetSettings = ResetSettings()
    """When a session ends by itself."""
    reset_triggers: tuple[Text, ...] = ("/new", "/reset")
    """What an allowed person types to start a new session, alone or before the first prompt."""
    typing_mode: TypingMode | None = None
    """When typing shows: never, at once, with the first thought or with the first text. Unset: at once in
    direct chats and when mentioned, otherwise with the first text."""
    identity_links: dict[str, tuple[Text, ...]] = {}
    """One person's ids on several channels, so that they share a session: `anna = ["telegram:123456",
    "slack:T024BE7LD:U045VRZFT"]`, each `channel:id` or `channel:account:id`."""
    thread_inherits: bool = False
    """A new thread begins, once, with the transcript of the chat it stands in."""


# --- the value ----------------------------------------------------------------------------------


class Lifetime(Enum):
    TURN = "told to the next turn, then gone"
    SESSION = "gone at reset and rollover"
    STICKY = "survives reset and rollover"


Activation = Literal["mention", "always"]
"""When an agent answers in a group."""
TtsMode = Literal["off", "always", "inbound", "tagged"]
"""Which answers are spoken: none, all, those to a voice note, or what the agent marks (ME-2)."""
QueueMode = Literal["steer", "followup", "collect", "interrupt", "steer-backlog", "queue"]
QueueDrop = Literal["old", "new", "summarize"]


ExecHost = Literal["sandbox", "gateway", "node"]
ExecSecurity = Literal["deny", "allowlist", "full"]
ExecAsk = Literal["off", "on-miss", "always"]


class ExecChoice(Struct, frozen=True):
    """What `/exec` chose: where the agent's commands run and who is asked. Privilege."""

    host: ExecHost | None = None
    security: ExecSecurity | None = None
    ask: ExecAsk | None = None
    node: str | None = None


class QueueChoice(Struct, frozen=True):
    """What `/queue` chose; what it left open comes from the settings."""

    mode: QueueMode | None = None
    debounce_ms: int | None = None
    cap: int | None = None
    drop: QueueDrop | None = None


Instant = Annotated[datetime, Meta(tz=True)]


class Session(Struct, frozen=True):
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
    # A room's rule, set by an owner: a bot that fell silent after a nightly rollover would look broken.
    activation: Annotated[Activation | None, Lifetime.STICKY] = None
    # Once per thread, not once per start: a person who resets a thread wants it empty.
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


def lifetimes(kind: type[Struct] = Session) -> dict[str, Lifetime]:
    """Field name to lifetime, as the fields declare it."""
    hints: dict[str, Any] = get_type_hints(kind, include_extras=True)
    return {
        name: mark
        for name, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Lifetime)
    }


_STICKY = tuple(name for name, lifetime in lifetimes().items() if lifetime is Lifetime.STICKY)
_TOLD = {field.name: field.default for field in fields(Session) if lifetimes()[field.name] is Lifetime.TURN}

# --- whose session ------------------------------------------------------------------------------


def session_key(inbound: Inbound, settings: SessionSettings, agent: str) -> str:
    """The session this message belongs to (IN-40)."""
    return _joined(agent, *_place(inbound, settings))


def home(inbound: Inbound, settings: SessionSettings) -> str:
    """What is owned as a whole (SC-1): a group chat with all its threads, or the direct chats that share a session."""
    return session_home(session_key(inbound, settings, ""))


SUBAGENT = "subagent"


def session_home(key: str) -> str:
    """The home of a session: its key without the agent and without what divides a group, so what shares a session
    shares a home. The kind of chat is left out as well: who sends to a chat first may not know it (`route_home`)."""
    _, *parts = key.split(":")
    if len(parts) == 3 and parts[0] == SUBAGENT:  # it is owned with its conversation
        return session_home(_unescaped(parts[1]))
    if len(parts) >= len(("channel", "account", "kind", "chat")):
        channel, account, _, chat = parts[:4]
        return f"{channel}:{account}:{chat}"
    return ":".join(parts)


def route_home(route: Route) -> str:
    """The home of a chat that was sent to before anything came from it."""
    return _joined(route.channel, route.account, route.chat)


def shard_of(home: str, shards: int) -> int:
    """Which of so many shards a home is in: the same in every process and every version (SC-2)."""
    return crc32(home.encode("utf-8", "surrogatepass")) % shards


def agent_of(key: str) -> str:
    """The agent of a session: the first part of its key."""
    return _unescaped(key.partition(":")[0])


def job_key(agent: str, job: str) -> str:
    """The session that a job of the clock has to itself."""
    return _joined(agent, "cron", job)


def subagent_key(agent: str, root: str, name: str) -> str:
    """The session of a sub-agent of a conversation (TU-36)."""
    return _joined(agent, SUBAGENT, root, name.lower())


def inherits_from(session: Session, inbound: Inbound, settings: SessionSettings) -> str | None:
    """The session whose transcript goes before this message in its thread's session (IN-45): before the first turn
    there, and once in the thread's life."""
    if not settings.thread_inherits or not _has_own_thread(inbound, settings):
        return None
    if session.inherited or not is_untouched(session):
        return None
    return _joined(session.agent, *_place(replace(inbound, thread=None), settings))


def _place(inbound: Inbound, settings: SessionSettings) -> tuple[str, ...]:
    chat, sender = inbound.chat, inbound.sender
    if chat.kind == "direct":
        if settings.scope == "shared":
            return (settings.main_key,)
        if person := _linked_name(inbound, settings):
            return ("person", person)
        person = (inbound.channel, inbound.account, "direct", inbound.peer or sender.id)
        return (*person, "thread", inbound.thread) if inbound.thread_is_session and inbound.thread else person
    room = _room(inbound)
    if settings.group_scope == "per-sender":
        person = _linked_name(inbound, settings)
        return (*room, "person", person) if person else (*room, "from", sender.id)
    if _has_own_thread(inbound, settings):
        return (*room, "thread", inbound.thread or "")
    return room


def _room(inbound: Inbound) -> tuple[str, ...]:
    chat = inbound.chat
    return (inbound.channel, inbound.account, chat.kind, chat.former or chat.id)


def _has_own_thread(inbound: Inbound, settings: SessionSettings) -> bool:
    in_room = inbound.chat.kind != "direct"
    return in_room and inbound.thread is not None and settings.group_scope == "per-thread"


def _linked_name(inbound: Inbound, settings: SessionSettings) -> str | None:
    if not settings.identity_links:
        return None
    written = tuple(entries_for(inbound.channel, inbound.account, inbound.peer or inbound.sender.id))
    for name, entries in settings.identity_links.items():
        if any(entry in entries for entry in written):
            return name
    return None


def entries_for(channel: str, account: str, id: str) -> Iterator[str]:
    """The forms in which a list may name this person and nobody else.

    Ids may contain colons, so `channel:a:b` could be read in two ways. One of them counts: what follows the
    channel is an account and an id, unless it has no colon or begins like a Matrix id (`@anna:example.org`). An
    id that the short form cannot express is named by the long one only.
    """
    if ":" in channel:
        return
    if ":" not in id or id.startswith("@"):
        yield f"{channel}:{id}"
    if ":" not in account and not account.startswith("@"):
        yield f"{channel}:{account}:{id}"


def _unescaped(part: str) -> str:
    """One part of a key, as it was before `_joined`."""
    return part.replace("%3A", ":").replace("%25", "%")


def _joined(*parts: str) -> str:
    plain = ":".join(parts)
    if "%" not in plain and plain.count(":") == len(parts) - 1:
        return plain  # nothing to escape
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)


# --- how long it lasts --------------------------------------------------------------------------


def reset_policy(inbound: Inbound, settings: SessionSettings) -> ResetPolicy:
    """The policy for this message: channel over thread over group or direct over the general one (IN-41)."""
    reset = settings.reset
    kind = reset.by_type.direct if inbound.chat.kind == "direct" else reset.by_type.group
    thread = reset.by_type.thread if inbound.thread is not None else None
    policy = ResetPolicy(reset.mode, reset.at_hour, reset.zone, reset.idle_minutes)
    for override in (kind, thread, reset.by_channel.get(inbound.channel)):
        if override is not None:
            said = {
                name: value for name in override.__struct_fields__ if (value := getattr(override, name)) is not None
            }
            policy = replace(policy, **said)
    return policy


def is_untouched(session: Session) -> bool:
    """It has had no turn yet."""
    return session.touched == session.started


def grown_old(session: Session, policy: ResetPolicy, now: datetime) -> Literal["daily", "idle"] | None:
    """Why a message that comes now does not belong to the session any more; None: it still does."""
    idle, daily = policy.mode in ("idle", "both"), policy.mode in ("daily", "both")
    if daily and session.touched < last_boundary(policy.at_hour, ZoneInfo(policy.zone), now):
        return "daily"
    if idle and now - session.touched > timedelta(minutes=policy.idle_minutes):
        return "idle"
    return None


def last_boundary(hour: int, zone: ZoneInfo, now: datetime) -> datetime:
    """The latest instant, not after now, at which a day of this zone reached the hour for the first time."""
    # A repeated midnight can put now on the day before a boundary already passed, and a day can be missing
    # from the calendar: so the neighbouring days are considered too.
    today = now.astimezone(zone).date()
    days = (today + timedelta(days=n) for n in (1, 0, -1, -2))
    # fold=0 is the first of two equal hours; of a skipped one it is the moment the clocks are moved.
    at_hour = (datetime.combine(day, time(hour), zone).astimezone(UTC) for day in days)
    return max(instant for instant in at_hour if instant <= now)


def ruled_by(thread: Session, chat: Session) -> Session:
    """The session of a thread that is about to be opened, with the rule of the chat it hangs in, which it keeps."""
    if chat.activation is None or thread.activation is not None or not is_untouched(thread):
        return thread
    return replace(thread, activation=chat.activation)


def start_over(session: Session, now: datetime) -> Session:
    """The session after a reset or a rollover: what is sticky, and nothing else (IN-43)."""
    kept = {name: getattr(session, name) for name in _STICKY}
    return Session(**kept, started=now, touched=now)


# --- what the next turn is told -----------------------------------------------------------------

PENDING_EVENTS = 20


def with_event(session: Session, event: str) -> Session:
    """The session with one more thing to tell the agent (IN-58): a repetition counts once, the latest 20 are kept."""
    if session.system_events and session.system_events[-1] == event:
        return session
    return replace(session, system_events=(*session.system_events, event)[-PENDING_EVENTS:])


def turn_taken(session: Session, touched: datetime | None = None) -> Session:
    """The session after a turn was told what waited for it; `touched`: when a person was here, if one was."""
    return replace(session, touched=touched or session.touched, **_TOLD)
