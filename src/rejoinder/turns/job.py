"""A job of the clock, and whether its tick becomes a turn (TU-26, TU-27)."""

from datetime import tzinfo
from typing import Final

from msgspec import Struct

from rejoinder.events import Route
from rejoinder.turns.hours import Hours
from rejoinder.turns.schedule import Missed, Schedule


class Heartbeat(Struct, frozen=True):
    """What a heartbeat has beside any other job."""

    hours: Hours | None = None
    zone: tzinfo | None = None
    """Of the hours; there is one where there are hours."""
    notes: str = ""
    """The file that says what is to be done."""
    reads_notes: bool = False
    """The agent reads that file itself; others are told what is in it."""


class Job(Struct, frozen=True, kw_only=True):
    """`written`: its schedule as somebody wrote it; when that changes, it begins anew."""

    name: str
    written: str
    schedule: Schedule
    agent: str
    prompt: str
    session: str
    anew: bool
    """It has a session to itself, and each of its turns begins that anew."""
    target: Route | None = None
    model: str | None = None
    missed: Missed = "once"
    heartbeat: Heartbeat | None = None


class Moment(Struct, frozen=True, kw_only=True):
    """What is the case when a tick is due."""

    running: bool = False
    missed: bool = False
    quiet: bool = False
    busy: bool = False
    idle: bool = False
    by_hand: bool = False


class Obstacle(Struct, frozen=True):
    """Why a tick passes without a turn: when this is the case, unless somebody asked for the turn by hand."""

    case: str
    reason: str
    also_by_hand: bool
    whose: str


OBSTACLES: Final = (
    Obstacle("running", "its last turn is not over yet", True, "every job"),
    Obstacle("missed", "it was missed, and what is missed is skipped", False, 'a job with `missed = "skip"`'),
    Obstacle("quiet", "these are quiet hours", False, "a heartbeat with `active_hours`"),
    Obstacle("busy", "somebody is talking to the agent", True, "a heartbeat"),
    Obstacle("idle", "there is nothing in its file to be done", False, "a heartbeat"),
)
"""In this order; the first that holds is the reason."""


def obstacle(moment: Moment) -> str | None:
    for each in OBSTACLES:
        if getattr(moment, each.case) and (each.also_by_hand or not moment.by_hand):
            return each.reason
    return None
