"""What is kept of the jobs of the clock (DU-5): rows and verbs.

A tick and the turn it makes are one commit, `Originate` with its `Tick`: no crash fires a job twice or loses it.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import Inbound
from rejoinder.store.rows import InboxEvent, Outcome
from rejoinder.store.verbs import Destination, Verb

JobState = Literal["waiting", "running", "over", "put aside"]


class KeptJob(Struct, frozen=True):
    """One job as it was left. `schedule`: as somebody wrote it; empty: it is no longer configured."""

    name: str
    schedule: str = ""
    due: datetime | None = None
    """None: never again, or not yet known."""
    anew: bool = False
    """When it is due is to be found as if it had never been seen."""
    paused: bool = False
    wanted: bool = False
    """An operator wants it now."""
    fired: datetime | None = None
    passed: datetime | None = None
    reason: str = ""
    """Why its last tick passed without a turn, then."""
    said: str = ""
    """A digest of what it said last,"""
    said_at: datetime | None = None
    """and when."""
    state: JobState | None = None
    """Of its last turn, as far as that is still known."""
    outcome: Outcome | None = None
    detail: str = ""

    @property
    def is_open(self) -> bool:
        """Its last turn waits or runs."""
        return self.state in ("waiting", "running")


class Tick(Struct, frozen=True):
    """A job moves on from what it was due at to what it is due at next."""

    job: str
    due: datetime | None
    next: datetime | None


class KeepJob(Verb[None], frozen=True):
    """A job that is new, or was written anew: its ticks begin here. Whether it is paused stays."""

    job: str
    schedule: str
    due: datetime | None


class Originate(Verb[InboxEvent | None], frozen=True):
    """An event of the gateway's own: nobody decides about it, it waits in its session from the first moment on.

    None: there is one of this id already. With a tick it is that job's turn.
    """

    inbound: Inbound
    to: Destination
    now: datetime
    tick: Tick | None = None


class PassTick(Verb[None], frozen=True):
    """The tick makes no turn, and why."""

    tick: Tick
    reason: str
    now: datetime


class NoteSaid(Verb[None], frozen=True):
    """What a job has just said, as a digest."""

    job: str
    digest: str
    at: datetime


class PauseJob(Verb[None], frozen=True):
    """No ticks until somebody resumes it, and then anew: what would have been due meanwhile is not made up for."""

    job: str
    paused: bool


class WantJob(Verb[None], frozen=True):
    """An operator wants it now; its ticks stay as they are."""

    job: str
