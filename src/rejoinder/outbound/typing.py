"""The typing sign of one turn (TU-24).

Rule 1: one scope, from the run's beginning to its last delivery. When it ends, the sign is off for good:
        there is no second flag that some path could forget.
Rule 2: a timer is an action for the caller, and at most one is set. The caller decides whether the channel has room
        for the call: a sign is dropped rather than queued.
Rule 3: a run that shows no life for two minutes only pauses the sign.
"""

from enum import Enum
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.session import TypingMode

Sign = Literal["run", "thought", "text", "tool"]
"""The signs of life of a run: it has begun, thinks, writes, or uses a tool."""

STARTS_ON: Final[dict[TypingMode, tuple[Sign, ...]]] = {
    "never": (),
    "instant": ("run", "thought", "text", "tool"),
    "thinking": ("thought", "text"),
    "message": ("text",),
}


class TypingSettings(Struct, frozen=True, forbid_unknown_fields=True):
    mode: TypingMode | None = None
    delay_ms: int = 400
    period_ms: int = 6_000
    pause_after_ms: int = 120_000


def mode_for(configured: TypingMode | None, *, direct: bool, mentioned: bool, heartbeat: bool) -> TypingMode:
    """Never for heartbeats; otherwise as configured; by default at once if a person certainly waits for an answer."""
    if heartbeat:
        return "never"
    return configured or ("instant" if direct or mentioned else "message")


class SignOfLife(Struct, frozen=True):
    """The run gave a sign of life. Text that asks for silence does not count."""

    sign: Sign


class Woke(Struct, frozen=True):
    """The time of the last WakeAfter has passed."""


class Closed(Struct, frozen=True):
    """The run and all its deliveries are over."""


Event = SignOfLife | Woke | Closed


class Show(Struct, frozen=True):
    """Tell the platform once that the agent is typing."""


class WakeAfter(Struct, frozen=True):
    ms: int


Action = Show | WakeAfter


class TypingPhase(Enum):
    WAITING = "nothing to show yet"
    DELAYED = "about to show, unless the answer is faster"
    SHOWING = "shown, and shown again each period"
    PAUSED = "no sign of life for too long"
    OFF = "over"


WAITING, DELAYED, SHOWING, PAUSED, OFF = TypingPhase  # because a look-up on the class costs more than a comparison


class Typing(Struct, frozen=True):
    mode: TypingMode
    settings: TypingSettings = TypingSettings()
    phase: TypingPhase = WAITING
    left: int = 0
    """How many more times the sign is shown unless the run shows life."""


Decision = tuple[Typing, tuple[Action, ...]]


def step(typing: Typing, event: Event) -> Decision:
    if typing.phase is OFF:
        return typing, ()
    if type(event) is SignOfLife:  # not `isinstance`: for a Struct a negative answer takes ten times as long
        return _seen(typing, event.sign)
    if type(event) is Woke:
        return _woke(typing)
    return replace(typing, phase=OFF), ()


def _seen(typing: Typing, sign: Sign) -> Decision:
    if typing.phase is WAITING and sign in STARTS_ON[typing.mode]:
        return replace(typing, phase=DELAYED), (WakeAfter(typing.settings.delay_ms),)
    if typing.phase is PAUSED:
        return _show(_alive(typing))
    return (_alive(typing) if typing.phase is SHOWING else typing), ()


def _woke(typing: Typing) -> Decision:
    if typing.phase is DELAYED:
        return _show(_alive(typing))
    if typing.phase is SHOWING:
        return _show(typing) if typing.left else (replace(typing, phase=PAUSED), ())
    return typing, ()


def _alive(typing: Typing) -> Typing:
    settings = typing.settings
    return replace(typing, left=max(1, settings.pause_after_ms // settings.period_ms))


def _show(typing: Typing) -> Decision:
    shown = replace(typing, phase=SHOWING, left=typing.left - 1)
    return shown, (Show(), WakeAfter(typing.settings.period_ms))
