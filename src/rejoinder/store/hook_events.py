"""What is stored of hooks over HTTP (IN-8): a row for each event of each hook, and the verbs that move it."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.store.rows import HookEvent
from rejoinder.store.verbs import Verb


class ClaimedHookEvent(Struct, frozen=True):
    """An event that one process posts now."""

    id: int
    row: HookEvent
    attempts: int
    """This one included."""


class HookQueue(Struct, frozen=True):
    """How a hook is doing."""

    hook: str
    waiting: int = 0
    dead: int = 0
    """Given up after 24 hours; of the last 30 days."""
    oldest: datetime | None = None
    """Since when the first of those that wait has waited."""
    error: str = ""
    """Why that one was not taken."""


class PutHookEvents(Verb[None], frozen=True):
    """Keeps what hooks are to be told, each event once: one that is known already is left as it is."""

    events: tuple[HookEvent, ...]


class ClaimHookEvent(Verb[ClaimedHookEvent | None], frozen=True):
    """The oldest event of a hook that is due, for one process alone until `until`; the attempt is counted before it is
    made."""

    hook: str
    now: datetime
    until: datetime


class FreeHookEvents(Verb[None], frozen=True):
    """All that waits is due now: a process that begins alone has no claims of others to respect."""

    now: datetime


class EndHookEvent(Verb[None], frozen=True):
    """It was taken, or is given up. Nothing is done if another process has claimed it since."""

    claimed: ClaimedHookEvent
    state: Literal["taken", "dead"]
    error: str = ""


class RetryHookEvent(Verb[None], frozen=True):
    """It was not taken: try again at that time. Nothing is done if another process has claimed it since."""

    claimed: ClaimedHookEvent
    at: datetime
    error: str
