"""The rows of HTTP hooks (IN-8), one for each event of each hook, and the verbs that change them."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.store.rows import HookEvent
from rejoinder.store.verbs import Verb


class ClaimedHookEvent(Struct, frozen=True):
    """An event that one process is posting now."""

    id: int
    row: HookEvent
    attempts: int
    """This one included."""


class HookQueue(Struct, frozen=True):
    """The state of a hook's queue."""

    hook: str
    waiting: int = 0
    dead: int = 0
    """How many events of the last 30 days were given up, each after 24 hours."""
    oldest: datetime | None = None
    """Since when the first waiting event has waited."""
    error: str = ""
    """Why the program has not accepted that event."""


class PutHookEvents(Verb[None], frozen=True):
    """Stores events for hooks, each only once: a known event is left as it is."""

    events: tuple[HookEvent, ...]


class ClaimHookEvent(Verb[ClaimedHookEvent | None], frozen=True):
    """Claims the oldest due event of a hook for one process until `until`. The attempt is counted before it is made."""

    hook: str
    now: datetime
    until: datetime


class FreeHookEvents(Verb[None], frozen=True):
    """Makes all waiting events due now: a process that begins alone need not respect claims of others."""

    now: datetime


class EndHookEvent(Verb[None], frozen=True):
    """The event was accepted, or is given up. Does nothing if another process has claimed it since."""

    claimed: ClaimedHookEvent
    state: Literal["taken", "dead"]
    error: str = ""


class RetryHookEvent(Verb[None], frozen=True):
    """The event was not accepted: it is tried again at that time. Does nothing if another process has claimed it
    since."""

    claimed: ClaimedHookEvent
    at: datetime
    error: str
