"""Reactions on the message that woke the agent: they show what it is doing (TU-25).

Rule 1: one reaction is shown at a time; the new one is added before the old one is removed.
Rule 2: changes within 700 ms are not shown, because platforms limit reactions. Queued, done and error are
        shown at once.
Rule 3: a run that is silent for 10 s, then 30 s, is marked as stalled until something happens again.
Rule 4: timers are actions. One that fires after it was unset, or after a newer one of its name was set, is ignored.
"""

from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace


class State(StrEnum):
    QUEUED = "queued"
    THINKING = "thinking"
    TOOL = "tool"
    CODING = "coding"
    WEB = "web"
    STALLED = "stalled"
    STUCK = "stuck"
    DONE = "done"
    ERROR = "error"


EMOJI: Final[dict[State, str]] = {
    State.QUEUED: "👀",
    State.THINKING: "🤔",
    State.TOOL: "🔥",
    State.CODING: "👨‍💻",
    State.WEB: "⚡",
    State.STALLED: "🥱",
    State.STUCK: "😨",
    State.DONE: "👌",
    State.ERROR: "😱",
}

# The first row with a word that occurs in a tool's title gives the kind of the tool.
TOOLS: Final[tuple[tuple[State, tuple[str, ...]], ...]] = (
    (
        State.WEB,
        ("web_search", "web_fetch", "websearch", "webfetch", "web search", "browser", "fetch", "http"),
    ),
    (State.CODING, ("exec", "process", "read", "write", "edit", "bash", "shell", "patch", "terminal")),
)


def state_of_tool(title: str) -> State:
    words = title.casefold()
    return next((state for state, marks in TOOLS if any(mark in words for mark in marks)), State.TOOL)


class StatusSettings(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: bool = False
    remove_when_done: bool = False
    debounce_ms: int = 700
    stalled_ms: int = 10_000
    stuck_ms: int = 30_000
    linger_ms: int = 1_500
    """How long the last reaction stays, if it is to be removed."""
    emoji: dict[State, str] = field(default_factory=dict[State, str])
    """The operator's own emoji for some of the states."""


# --- events and actions -------------------------------------------------------------------------

Timer = Literal["debounce", "stall", "linger"]


class StateChanged(Struct, frozen=True):
    """The turn is queued, the agent thinks or uses a tool."""

    state: State


class Ended(Struct, frozen=True):
    ok: bool


class Woke(Struct, frozen=True):
    timer: Timer
    number: int


Event = StateChanged | Ended | Woke


class Add(Struct, frozen=True):
    emoji: str


class RemoveReaction(Struct, frozen=True):
    emoji: str


class WakeAfter(Struct, frozen=True):
    ms: int
    timer: Timer
    number: int


Action = Add | RemoveReaction | WakeAfter

# --- the machine --------------------------------------------------------------------------------


class Status(Struct, frozen=True):
    settings: StatusSettings
    shown: State | None = None
    wanted: State | None = None
    """What the turn is doing, whatever is shown; this replaces a stall mark."""
    timers: dict[Timer, int] = field(default_factory=dict[Timer, int])
    """The number of each timer that is set."""
    number: int = 0
    """The number of the timer set last."""
    over: bool = False


Decision = tuple[Status, tuple[Action, ...]]


def step(status: Status, event: Event) -> Decision:
    if not status.settings.enabled:
        return status, ()
    match event:
        case StateChanged(state=state) if not status.over:
            return _became(status, state)
        case Ended(ok=ok) if not status.over:
            return _ended(status, State.DONE if ok else State.ERROR)
        case Woke(timer=timer, number=number) if status.timers.get(timer) == number:
            return _woke(_unset(status, timer), timer)
        case _:
            return status, ()


def _became(status: Status, state: State) -> Decision:
    status = replace(status, wanted=state)
    if state is State.QUEUED:
        return _show(status, state)
    status, watch = _set(status, "stall", status.settings.stalled_ms)
    if state is status.shown:
        # The state went back to the one shown before the change appeared: nothing is left to change.
        return _unset(status, "debounce"), watch
    if "debounce" in status.timers:
        return status, watch
    status, pause = _set(status, "debounce", status.settings.debounce_ms)
    return status, watch + pause


def _woke(status: Status, timer: Timer) -> Decision:
    match timer:
        case "debounce":
            return _show(status, status.wanted) if status.wanted else (status, ())
        case "stall":
            return _stalled(status)
        case "linger":
            left = (RemoveReaction(_emoji(status, status.shown)),) if status.shown else ()
            return replace(status, shown=None), left


def _stalled(status: Status) -> Decision:
    if status.shown is State.STALLED:
        return _show(status, State.STUCK)
    status, marked = _show(_unset(status, "debounce"), State.STALLED)
    status, watch = _set(status, "stall", status.settings.stuck_ms - status.settings.stalled_ms)
    return status, marked + watch


def _ended(status: Status, state: State) -> Decision:
    status, marked = _show(replace(status, timers=dict[Timer, int](), over=True), state)
    if not status.settings.remove_when_done:
        return status, marked
    status, wait = _set(status, "linger", status.settings.linger_ms)
    return status, marked + wait


def _show(status: Status, state: State) -> Decision:
    old = _emoji(status, status.shown) if status.shown else None
    new = _emoji(status, state)
    status = replace(status, shown=state)
    if new == old:
        return status, ()
    return status, (Add(new), RemoveReaction(old)) if old else (Add(new),)


def _set(status: Status, timer: Timer, ms: int) -> Decision:
    number = status.number + 1
    status = replace(status, number=number, timers={**status.timers, timer: number})
    return status, (WakeAfter(ms, timer, number),)


def _unset(status: Status, timer: Timer) -> Status:
    return replace(status, timers={name: number for name, number in status.timers.items() if name != timer})


def _emoji(status: Status, state: State) -> str:
    return status.settings.emoji.get(state, EMOJI[state])
