"""The rows and verbs of scheduled jobs (DU-5).

A tick and its turn are one commit, `CreateOwnEvent` with its `Tick`, so no crash fires a job twice or loses it.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import Inbound
from rejoinder.store.rows import InboxEvent, Outcome
from rejoinder.store.verbs import Destination, Verb

JobState = Literal["waiting", "running", "over", "quarantined"]


class StoredJob(Struct, frozen=True):
    """One job as last stored. `schedule`: as configured; empty if the job is no longer configured."""

    name: str
    schedule: str = ""
    due: datetime | None = None
    """None if it is never due again, or the time is not known yet."""
    needs_schedule: bool = False
    """Whether its next due time has to be computed as if the job were new."""
    paused: bool = False
    wanted: bool = False
    """Whether an operator has requested a run now."""
    fired: datetime | None = None
    passed: datetime | None = None
    reason: str = ""
    """Why the tick at `passed` started no turn."""
    state: JobState | None = None
    """The state of its last turn, as far as it is still known."""
    outcome: Outcome | None = None
    detail: str = ""

    @property
    def is_open(self) -> bool:
        """Whether its last turn is waiting or running."""
        return self.state in ("waiting", "running")


class Tick(Struct, frozen=True):
    """Moves a job from the time at which it was due to the next one."""

    job: str
    due: datetime | None
    next: datetime | None


class PutJob(Verb[None], frozen=True):
    """Stores a job that is new or has changed: its ticks begin at `due`. A paused job stays paused."""

    job: str
    schedule: str
    due: datetime | None


class CreateOwnEvent(Verb[InboxEvent | None], frozen=True):
    """Creates an event of the gateway's own. It needs no decision, and waits in its session from the start.

    Returns None if there already is an event with this id. With a tick it is that job's turn.
    """

    inbound: Inbound
    to: Destination
    now: datetime
    tick: Tick | None = None


class SkipTick(Verb[None], frozen=True):
    """The tick starts no turn; `reason` says why."""

    tick: Tick
    reason: str
    now: datetime


class JobReply(Struct, frozen=True):
    """What a job said, as a digest. The keys of its parts begin with `stem`; their states tell whether it arrived."""

    digest: str
    stem: str
    at: datetime


class RecordJobReply(Verb[None], frozen=True):
    """Records what a job has just said, and forgets what it said before `since`."""

    job: str
    said: JobReply
    since: datetime


class PauseJob(Verb[None], frozen=True):
    """Pauses or resumes a job. The schedule of a resumed job starts from now: missed ticks are not made up for."""

    job: str
    paused: bool


class RequestJobRun(Verb[None], frozen=True):
    """Requests a run now; the ticks stay as they are."""

    job: str
