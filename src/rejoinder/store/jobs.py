"""What is stored about the clock's jobs (DU-5): rows and verbs.

A tick and the turn it makes are one commit, `CreateOwnEvent` with its `Tick`: no crash fires a job twice or loses it.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import Inbound
from rejoinder.store.rows import InboxEvent, Outcome
from rejoinder.store.verbs import Destination, Verb

JobState = Literal["waiting", "running", "over", "quarantined"]


class StoredJob(Struct, frozen=True):
    """One job as it was last stored. `schedule`: as it was written; empty: the job is no longer configured."""

    name: str
    schedule: str = ""
    due: datetime | None = None
    """None: never again, or not yet known."""
    needs_schedule: bool = False
    """Its next due time is to be computed as if the job were new."""
    paused: bool = False
    wanted: bool = False
    """An operator wants it now."""
    fired: datetime | None = None
    passed: datetime | None = None
    reason: str = ""
    """Why the tick at `passed` made no turn."""
    state: JobState | None = None
    """The state of its last turn, as far as that is still known."""
    outcome: Outcome | None = None
    detail: str = ""

    @property
    def is_open(self) -> bool:
        """Its last turn waits or runs."""
        return self.state in ("waiting", "running")


class Tick(Struct, frozen=True):
    """A job moves on from the time it was due at to the time it is due next."""

    job: str
    due: datetime | None
    next: datetime | None


class PutJob(Verb[None], frozen=True):
    """Stores a job that is new or has changed: its ticks begin at `due`. A paused job stays paused."""

    job: str
    schedule: str
    due: datetime | None


class CreateOwnEvent(Verb[InboxEvent | None], frozen=True):
    """An event of the gateway's own: it needs no decision, and waits in its session from the start.

    Returns None if there is an event with this id already. With a tick it is that job's turn.
    """

    inbound: Inbound
    to: Destination
    now: datetime
    tick: Tick | None = None


class SkipTick(Verb[None], frozen=True):
    """The tick makes no turn; `reason` says why."""

    tick: Tick
    reason: str
    now: datetime


class JobReply(Struct, frozen=True):
    """What a job said, as a digest. The keys of its parts begin with `stem`: their states tell whether it arrived."""

    digest: str
    stem: str
    at: datetime


class RecordJobReply(Verb[None], frozen=True):
    """A job has just said this; what it said before `since` is forgotten."""

    job: str
    said: JobReply
    since: datetime


class PauseJob(Verb[None], frozen=True):
    """No ticks until the job is resumed; then its schedule starts over, and missed ticks are not made up for."""

    job: str
    paused: bool


class RequestJobRun(Verb[None], frozen=True):
    """An operator wants it now; its ticks stay as they are."""

    job: str
