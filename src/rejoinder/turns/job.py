"""A scheduled job, and whether its tick becomes a turn (TU-26, TU-27)."""

from datetime import tzinfo
from typing import Final

from msgspec import Struct

from rejoinder.events import Route
from rejoinder.turns.hours import Hours
from rejoinder.turns.schedule import Missed, Schedule


class Heartbeat(Struct, frozen=True):
    """What a heartbeat has in addition to other jobs."""

    hours: Hours | None = None
    zone: tzinfo | None = None
    """The time zone of `hours`; set whenever they are."""
    notes: str = ""
    """The file that says what to do."""
    reads_notes: bool = False
    """Whether the agent reads that file itself; any other agent gets its content in the prompt."""


class Job(Struct, frozen=True, kw_only=True):
    """`written`: the schedule as configured; if it changes, the job is scheduled from the start."""

    name: str
    written: str
    schedule: Schedule
    agent: str
    prompt: str
    session: str
    new_session: bool
    """Whether the job has its own session, a new one for every turn."""
    target: Route | None = None
    model: str | None = None
    missed: Missed = "once"
    heartbeat: Heartbeat | None = None


class JobConditions(Struct, frozen=True, kw_only=True):
    """The situation when a tick is due."""

    running: bool = False
    missed: bool = False
    quiet: bool = False
    talking: bool = False
    busy: bool = False
    idle: bool = False
    by_hand: bool = False


class Obstacle(Struct, frozen=True):
    """Why a tick passes without a turn. With `also_by_hand`, this also prevents a turn that was triggered by hand."""

    case: str
    reason: str
    also_by_hand: bool
    whose: str


OBSTACLES: Final = (
    Obstacle("running", "its last turn has not ended yet", True, "every job"),
    Obstacle("missed", "it was missed, and this job skips missed runs", False, 'a job with `missed = "skip"`'),
    Obstacle("quiet", "these are quiet hours", False, "a heartbeat with `active_hours`"),
    Obstacle("talking", "somebody is talking to the agent", True, "a heartbeat"),
    Obstacle("busy", "its session is busy with another job", True, "a heartbeat"),
    Obstacle("idle", "its file lists nothing to do", False, "a heartbeat"),
)
"""They are checked in this order; the first one that applies is the reason."""


def obstacle(conditions: JobConditions) -> str | None:
    for each in OBSTACLES:
        if getattr(conditions, each.case) and (each.also_by_hand or not conditions.by_hand):
            return each.reason
    return None
