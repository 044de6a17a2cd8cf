"""When a scheduled job is due: by a cron expression in a time zone, at an interval, or once (TU-27).

Rule 1: time is a parameter. Arguments and results are instants in UTC; only expressions and days have a zone.
Rule 2: where clocks go forward, a skipped time of day is due at the moment of the skip, once, together with whatever
        else is due then. On a day that is skipped whole, such as 30 December 2011 in Samoa, nothing is due.
Rule 3: where clocks go back, a time of day that occurs twice is due the first time.
Rule 4: an expression that describes a frequency (`*/10 * * * *`, `30 * * * *`) is not bound to times of day: it
        follows the wall clock through both changes, so a repeated hour has its ticks and a skipped one has none.
Rule 5: `every` counts elapsed time from when the job was first seen; changes of the wall clock do not affect it.
Rule 6: missed ticks are not made up one by one: at most one tick stands for all of them, and the next is after now.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal

from msgspec import Struct

from rejoinder.durations import INTERVAL
from rejoinder.turns.expression import BadExpression, Expression, read_expression

MINUTE: Final = timedelta(minutes=1)
DAY: Final = timedelta(days=1)
FARTHEST: Final = 12 * 366
"""Every expression matches within this many days: the next 29 February is at most eight years away."""
ON_TIME: Final = timedelta(minutes=1)
"""A tick that is late by no more than this was not missed."""

Missed = Literal["once", "skip"]


class Cron(Struct, frozen=True):
    expression: Expression
    zone: tzinfo


class Every(Struct, frozen=True):
    interval: timedelta


class At(Struct, frozen=True):
    moment: datetime


Schedule = Cron | Every | At


def first_due(schedule: Schedule, now: datetime) -> datetime | None:
    """When a job that is seen for the first time is due; None if its moment has already passed."""
    match schedule:
        case Cron(expression=expression, zone=zone):
            return next_fit(expression, zone, now)
        case Every(interval=interval):
            return now + interval
        case At(moment=moment):
            return moment if moment > now else None


def next_due(schedule: Schedule, due: datetime, now: datetime) -> datetime | None:
    """The tick after the one at `due`; it is always later than now."""
    match schedule:
        case Every(interval=interval):
            passed = max(now - due, timedelta(0)) // interval
            return due + (passed + 1) * interval
        case Cron(expression=expression, zone=zone):
            return next_fit(expression, zone, max(due, now))
        case At():
            return None


def corrected_due(schedule: Schedule, due: datetime, now: datetime) -> datetime:
    """Corrects a `due` that was computed while the clock was ahead: no job is due later than if it were first seen
    now."""
    first = first_due(schedule, now)
    return due if first is None else min(due, first)


def was_missed(due: datetime, now: datetime) -> bool:
    return now - due > ON_TIME


# --- by the wall clock --------------------------------------------------------------------------


def next_fit(expression: Expression, zone: tzinfo, after: datetime) -> datetime:
    """The first instant later than `after` that the expression matches."""
    if expression.is_rhythm:
        return _next_of_rhythm(expression, zone, after)
    day = after.astimezone(zone).date()
    for _ in range(FARTHEST):
        if expression.fits(day):
            for moment in _moments(expression, day, zone):
                if moment > after:
                    return moment
        day += DAY
    raise AssertionError("an expression that was read has its day")


def _moments(expression: Expression, day: date, zone: tzinfo) -> Iterator[datetime]:
    for hour in expression.hours:
        for minute in expression.minutes:
            if (moment := moment_of(datetime.combine(day, time(hour, minute)), zone)) is not None:
                yield moment


def moment_of(wall: datetime, zone: tzinfo) -> datetime | None:
    """The instant of this wall-clock time, by rules 2 and 3; None on a day that was skipped whole."""
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == wall:
        return first
    # The time is skipped. The old offset puts it at `first`, the new one at `early`: the skip is between the two.
    early = wall.replace(second=0, microsecond=0, tzinfo=zone, fold=1).astimezone(UTC)
    if first - early >= DAY:
        return None
    offset, before, after = early.astimezone(zone).utcoffset(), 0, -((early - first) // MINUTE)
    while after - before > 1:
        between = (before + after) // 2
        if (early + between * MINUTE).astimezone(zone).utcoffset() == offset:
            before = between
        else:
            after = between
    return early + after * MINUTE


def _next_of_rhythm(expression: Expression, zone: tzinfo, after: datetime) -> datetime:
    """Goes minute by minute, leaping over hours and days that do not match, but never over a change of the clock."""
    moment = after.replace(second=0, microsecond=0) + MINUTE
    end = moment + FARTHEST * DAY
    while moment < end:
        wall = moment.astimezone(zone)
        if not expression.fits(wall.date()):
            leap = 24 * 60 - wall.hour * 60 - wall.minute
        elif wall.hour not in expression.hours:
            leap = 60 - wall.minute
        elif wall.minute not in expression.minutes:
            leap = 1
        else:
            return moment
        while leap > 1 and (moment + leap * MINUTE).astimezone(zone).utcoffset() != wall.utcoffset():
            leap //= 2
        moment += leap * MINUTE
    raise AssertionError("an expression that was read has its day")


# --- reading ------------------------------------------------------------------------------------

_UNITS: Final = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def read_interval(text: str) -> timedelta:
    """`30m`, `1h30m`, `1d`. Raises `BadExpression`."""
    if not re.fullmatch(INTERVAL, text):
        raise BadExpression('it is a length of time such as "30m", "1h30m" or "1d"')
    seconds = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([dhms])", text))
    if not seconds:
        raise BadExpression("it must be longer than zero")
    return timedelta(seconds=seconds)


def read_moment(text: str, zone: tzinfo) -> datetime:
    """`2026-12-24 18:00`, in the zone's time unless it has an offset of its own. Raises `BadExpression`."""
    try:
        wall = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadExpression('it is a moment such as "2026-12-24 18:00"') from None
    if wall.tzinfo is not None:
        return wall.astimezone(UTC)
    moment = moment_of(wall, zone)
    if moment is None:
        raise BadExpression("this day is missing from the calendar of its zone")
    return moment


def read_schedule(zone: tzinfo, *, cron: str = "", every: str = "", at: str = "") -> Schedule:
    """Reads whichever of the three is given. Raises `BadExpression`."""
    if cron:
        return Cron(read_expression(cron), zone)
    return Every(read_interval(every)) if every else At(read_moment(at, zone))
