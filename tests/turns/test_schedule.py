"""When a job of the clock is due, also where clocks are changed (TU-27)."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.turns.expression import BadExpression, Expression, read_expression
from rejoinder.turns.schedule import (
    At,
    Cron,
    Every,
    Schedule,
    corrected_due,
    first_due,
    next_due,
    next_fit,
    read_interval,
    read_moment,
    read_schedule,
    was_missed,
)

MINUTE = timedelta(minutes=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "expression", "after", "moments"),
    [
        ("UTC", "0 9 * * 1-5", "2026-11-13 09:00", ("2026-11-16 09:00", "2026-11-17 09:00")),
        ("UTC", "*/30 * * * *", "2026-11-13 09:29:59", ("2026-11-13 09:30", "2026-11-13 10:00")),
        ("UTC", "0 0 29 2 *", "2096-03-01 00:00", ("2104-02-29 00:00",)),  # 2100 has none
        ("UTC", "* * 29 2 *", "2097-03-01 00:00", ("2104-02-29 00:00", "2104-02-29 00:01")),
        ("Asia/Kolkata", "0 9 * * *", "2026-11-13 00:00", ("2026-11-13 03:30", "2026-11-14 03:30")),
        ("Asia/Kolkata", "0 * * * *", "2026-11-13 00:00", ("2026-11-13 00:30", "2026-11-13 01:30")),
        # New York, forward: 02:00 to 03:00 on 8 March 2026, at 07:00 in UTC
        ("America/New_York", "30 2 * * *", "2026-03-07 12:00", ("2026-03-08 07:00", "2026-03-09 06:30")),
        ("America/New_York", "15,45 2 * * *", "2026-03-08 00:00", ("2026-03-08 07:00", "2026-03-09 06:15")),
        ("America/New_York", "0,30 2,3 * * *", "2026-03-08 00:00", ("2026-03-08 07:00", "2026-03-08 07:30")),
        ("America/New_York", "30 * * * *", "2026-03-08 06:00", ("2026-03-08 06:30", "2026-03-08 07:30")),
        ("America/New_York", "*/30 2 * * *", "2026-03-08 00:00", ("2026-03-09 06:00", "2026-03-09 06:30")),
        # and back: 02:00 to 01:00 on 1 November 2026, at 06:00 in UTC
        ("America/New_York", "30 1 * * *", "2026-11-01 00:00", ("2026-11-01 05:30", "2026-11-02 06:30")),
        ("America/New_York", "30 * * * *", "2026-11-01 05:00", ("2026-11-01 05:30", "2026-11-01 06:30")),
        ("America/New_York", "30 1 * * *", "2026-11-01 06:10", ("2026-11-02 06:30",)),
        # Lord Howe, by half an hour: forward from 02:00 to 02:30 on 4 October 2026, back from 02:00 to 01:30 on 5 April
        ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03 00:00", ("2026-10-03 15:30", "2026-10-04 15:15")),
        ("Australia/Lord_Howe", "45 1 * * *", "2026-04-04 00:00", ("2026-04-04 14:45", "2026-04-05 15:15")),
        ("Australia/Lord_Howe", "45 * * * *", "2026-04-04 14:00", ("2026-04-04 14:45", "2026-04-04 15:15")),
        # Samoa had no 30 December 2011
        ("Pacific/Apia", "0 9 * * *", "2011-12-29 00:00", ("2011-12-29 19:00", "2011-12-30 19:00")),
        ("Pacific/Apia", "0 9 30 12 *", "2011-12-29 00:00", ("2012-12-29 19:00",)),
        ("Pacific/Apia", "0 * * * *", "2011-12-30 09:00", ("2011-12-30 10:00", "2011-12-30 11:00")),
        # Newfoundland changed its clocks at a minute past midnight
        ("America/St_Johns", "* 23 * * *", "2009-11-01 02:29", ("2009-11-01 02:31", "2009-11-01 02:32")),
    ],
)
def test_moments(zone: str, expression: str, after: str, moments: tuple[str, ...]) -> None:
    """TU-27: skipped times come at the skip, repeated ones once; a pace goes on by the clock on the wall."""
    now = utc(after)
    for moment in moments:
        now = next_fit(read_expression(expression), ZoneInfo(zone), now)
        assert now == utc(moment)


# --- the same by walking ------------------------------------------------------------------------

CHANGES = {
    "UTC": "2026-06-01 00:00",
    "America/New_York": "2026-03-08 07:00",
    "America/Sao_Paulo": "2018-11-04 03:00",  # at midnight
    "Europe/Dublin": "2026-10-25 01:00",
    "Australia/Lord_Howe": "2026-04-04 15:00",
    "Asia/Kolkata": "2026-06-01 00:00",
    "Pacific/Apia": "2011-12-30 10:00",
    "America/St_Johns": "2009-11-01 02:31",
    "Africa/Casablanca": "2026-02-15 02:00",
}


def holds(expression: Expression, wall: datetime) -> bool:
    return expression.fits(wall.date()) and wall.hour in expression.hours and wall.minute in expression.minutes


def walked(expression: Expression, zone: ZoneInfo, begin: datetime, end: datetime) -> list[datetime]:
    """Every minute is looked at, and all that the clock on the wall has skipped since the last one."""
    found = []
    minutes = [begin + n * MINUTE for n in range((end - begin) // MINUTE)]
    for before, minute in pairwise(minutes):
        last, wall = (each.astimezone(zone).replace(tzinfo=None) for each in (before, minute))
        repeated = minute.astimezone(zone).fold == 1
        comes = holds(expression, wall) and (expression.is_rhythm or not repeated)
        if not expression.is_rhythm and MINUTE < wall - last < timedelta(days=1):
            skipped = ((wall - last) // MINUTE) - 1
            comes = comes or any(holds(expression, last + n * MINUTE) for n in range(1, skipped + 1))
        if comes:
            found.append(minute)
    return found


def one_of(first: int, last: int) -> st.SearchStrategy[str]:
    number = st.integers(first, last)
    span = st.tuples(number, number).map(lambda two: f"{min(two)}-{max(two)}")
    step = st.tuples(st.one_of(st.just("*"), span), st.integers(1, last)).map(lambda two: f"{two[0]}/{two[1]}")
    return st.one_of(st.just("*"), number.map(str), span, step, st.lists(number, min_size=2, max_size=3).map(_listed))


def _listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


EXPRESSIONS = st.tuples(one_of(0, 59), one_of(0, 23), one_of(1, 28), st.just("*"), one_of(0, 7)).map(" ".join)


@given(st.sampled_from(sorted(CHANGES)), EXPRESSIONS, st.integers(-1500, 1500))
@settings(max_examples=50, deadline=None)
def test_the_same_by_walking(name: str, text: str, offset: int) -> None:
    """TU-27: every minute of the days around a change of the clocks is as somebody who looks at a wall would say."""
    zone, expression = ZoneInfo(name), read_expression(text)
    after = utc(CHANGES[name]) + offset * MINUTE
    end = after + timedelta(hours=30)
    found, now = [], after
    while (now := next_fit(expression, zone, now)) < end:
        found.append(now)
    assert found == walked(expression, zone, after, end)


# --- the others ---------------------------------------------------------------------------------

NOW = utc("2026-11-16 12:00")
HALF_AN_HOUR = Every(timedelta(minutes=30))
NINE = Cron(read_expression("0 9 * * *"), UTC)


@pytest.mark.parametrize(
    ("schedule", "first"),
    [
        (HALF_AN_HOUR, NOW + timedelta(minutes=30)),
        (NINE, utc("2026-11-17 09:00")),
        (At(NOW + MINUTE), NOW + MINUTE),
        (At(NOW), None),
    ],
)
def test_the_first_time(schedule: Schedule, first: datetime | None) -> None:
    """TU-27: never in the moment it is first seen, and nothing is caught up of the time before."""
    assert first_due(schedule, NOW) == first


@pytest.mark.parametrize(
    ("schedule", "due", "then"),
    [
        (HALF_AN_HOUR, NOW, NOW + timedelta(minutes=30)),
        (HALF_AN_HOUR, NOW - MINUTE, NOW + timedelta(minutes=29)),
        (HALF_AN_HOUR, NOW - timedelta(minutes=30), NOW + timedelta(minutes=30)),
        (HALF_AN_HOUR, NOW - timedelta(days=3, minutes=7), NOW + timedelta(minutes=23)),
        (Every(timedelta(minutes=90)), NOW - timedelta(minutes=1), NOW + timedelta(minutes=89)),
        (NINE, utc("2026-11-01 09:00"), utc("2026-11-17 09:00")),
        (At(NOW), NOW, None),
    ],
)
def test_the_next_time(schedule: Schedule, due: datetime, then: datetime | None) -> None:
    """TU-27: in step with the first, and one for all that was missed."""
    assert next_due(schedule, due, NOW) == then


@given(st.integers(1, 10**6), st.integers(0, 10**8))
def test_every_keeps_step(seconds: int, late: int) -> None:
    """TU-27: however late it is looked at, the next is later than now, less than one interval away, and in step."""
    interval = timedelta(seconds=seconds)
    then = next_due(Every(interval), NOW - timedelta(seconds=late), NOW)
    assert then is not None
    assert NOW < then <= NOW + interval
    assert not (then - NOW + timedelta(seconds=late)) % interval


@pytest.mark.parametrize(
    ("schedule", "due", "then"),
    [
        (HALF_AN_HOUR, NOW + timedelta(minutes=20), NOW + timedelta(minutes=20)),
        (HALF_AN_HOUR, NOW - timedelta(days=2), NOW - timedelta(days=2)),
        (HALF_AN_HOUR, NOW + timedelta(days=2000), NOW + timedelta(minutes=30)),
        (NINE, utc("2026-11-17 09:00"), utc("2026-11-17 09:00")),
        (NINE, utc("2030-01-01 09:00"), utc("2026-11-17 09:00")),
        (At(NOW + MINUTE), NOW + MINUTE, NOW + MINUTE),
        (At(NOW - MINUTE), NOW - MINUTE, NOW - MINUTE),
    ],
)
def test_a_clock_that_was_ahead(schedule: Schedule, due: datetime, then: datetime) -> None:
    """TU-27: a machine that once believed in 2030 does not sleep until then; what is due is due."""
    assert corrected_due(schedule, due, NOW) == then


def test_a_minute_is_on_time() -> None:
    """TU-27: a gateway that was busy has missed nothing."""
    assert not was_missed(NOW, NOW)
    assert not was_missed(NOW, NOW + MINUTE)
    assert was_missed(NOW, NOW + MINUTE + timedelta(microseconds=1))


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("1h30m", 5400), ("1d", 86400), ("45s", 45), ("1d2h3m4s", 93784)]
)
def test_lengths_of_time(text: str, seconds: int) -> None:
    """TU-27: `every`."""
    assert read_interval(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "30", "m", "30 m", "1m1h", "-5m", "1.5h", "0m", "99999999d", "30m\n1h", "30m\n"])
def test_no_lengths_of_time(text: str) -> None:
    """TU-27: `every`."""
    with pytest.raises(BadExpression):
        read_interval(text)


@pytest.mark.parametrize(
    ("text", "zone", "moment"),
    [
        ("2026-12-24 18:00", "UTC", "2026-12-24 18:00"),
        ("2026-12-24T18:00:30", "Asia/Kolkata", "2026-12-24 12:30:30"),
        ("2026-12-24 18:00+01:00", "Asia/Kolkata", "2026-12-24 17:00"),
        ("2026-03-08 02:30:15", "America/New_York", "2026-03-08 07:00"),
        ("2026-11-01 01:30", "America/New_York", "2026-11-01 05:30"),
    ],
)
def test_single_moments(text: str, zone: str, moment: str) -> None:
    """TU-27: `at`, with the same rules for what is skipped or there twice."""
    assert read_schedule(ZoneInfo(zone), at=text) == At(utc(moment))


@pytest.mark.parametrize(
    ("text", "zone"), [("tomorrow", "UTC"), ("25:00", "UTC"), ("2011-12-30 09:00", "Pacific/Apia")]
)
def test_no_moments(text: str, zone: str) -> None:
    """TU-27: `at`."""
    with pytest.raises(BadExpression):
        read_moment(text, ZoneInfo(zone))


def test_what_is_said_is_read() -> None:
    """TU-27: one of the three."""
    assert read_schedule(UTC, cron="0 9 * * *") == NINE
    assert read_schedule(UTC, every="30m") == HALF_AN_HOUR
