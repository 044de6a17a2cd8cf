"""When a session has become too old for the next message."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.inbound.session_age import grown_old, last_boundary, reset_policy
from rejoinder.session import ResetByType, ResetOverride, ResetPolicy, ResetSettings, SessionSettings
from tests.session.test_session import IN_GROUP, NOW, message, session

# --- how long it lasts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "idle", "fresh"),
    [
        (ResetPolicy(), timedelta(days=9999), True),
        (ResetPolicy("idle", idle_minutes=30), timedelta(minutes=30), True),
        (ResetPolicy("idle", idle_minutes=30), timedelta(minutes=30, microseconds=1), False),
        (ResetPolicy("idle"), timedelta(minutes=60), True),
        (ResetPolicy("idle"), timedelta(minutes=61), False),
        (ResetPolicy("daily", at_hour=12), timedelta(0), True),
        (ResetPolicy("daily", at_hour=12), timedelta(microseconds=1), False),
        (ResetPolicy("daily", at_hour=13), timedelta(hours=22), True),
        (ResetPolicy("daily", at_hour=13), timedelta(hours=24), False),
        (ResetPolicy("daily", at_hour=13, zone="Asia/Kolkata"), timedelta(hours=4), True),
        (ResetPolicy("daily", at_hour=13, zone="Asia/Kolkata"), timedelta(hours=5), False),
    ],
)
def test_freshness(policy, idle, fresh):
    """IN-41: never, daily at an hour of a zone, idle after minutes."""
    assert (grown_old(session(touched=NOW - idle), policy, NOW) is None) is fresh


@pytest.mark.parametrize(
    ("idle", "why"),
    [
        (timedelta(minutes=30), None),
        (timedelta(minutes=31), "idle"),
        (timedelta(hours=1), "idle"),
        (timedelta(hours=1, microseconds=1), "daily"),
        (timedelta(days=3), "daily"),
    ],
)
def test_daily_and_idle_together(idle, why):
    """IN-41: whichever comes first ends the session; a day that has passed says more than the minutes."""
    policy = ResetPolicy("both", at_hour=11, idle_minutes=30)
    assert grown_old(session(touched=NOW - idle), policy, NOW) == why


IDLE = ResetOverride(mode="idle", idle_minutes=5)
DAILY = ResetOverride(mode="daily", at_hour=0)


@pytest.mark.parametrize(
    ("by_type", "by_channel", "given_message", "policy"),
    [
        ({}, {}, {}, ResetPolicy(zone="Asia/Kolkata")),
        ({"direct": IDLE}, {}, {}, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        ({"direct": IDLE}, {}, IN_GROUP, ResetPolicy(zone="Asia/Kolkata")),
        ({"group": IDLE}, {}, IN_GROUP, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        ({"group": IDLE}, {}, {**IN_GROUP, "kind": "channel"}, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        ({"group": IDLE}, {}, {**IN_GROUP, "thread": "t"}, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        (
            {"group": IDLE, "thread": DAILY},
            {},
            {**IN_GROUP, "thread": "t"},
            ResetPolicy("daily", 0, "Asia/Kolkata", 5),
        ),
        ({"thread": DAILY}, {}, IN_GROUP, ResetPolicy(zone="Asia/Kolkata")),
        (
            {"direct": DAILY},
            {"telegram": ResetOverride(mode="never")},
            {},
            ResetPolicy("never", 0, "Asia/Kolkata", 60),
        ),
        ({"direct": DAILY}, {"discord": IDLE}, {}, ResetPolicy("daily", 0, "Asia/Kolkata", 60)),
    ],
)
def test_policy(by_type, by_channel, given_message, policy):
    """IN-41: channel over thread over group or direct; what an override leaves open stays."""
    reset = ResetSettings(zone="Asia/Kolkata", by_type=ResetByType(**by_type), by_channel=by_channel)
    assert reset_policy(message(**given_message), SessionSettings(reset=reset)) == policy


# --- the daily boundary, against a clock that is watched ----------------------------------------

ZONES = ["UTC", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Asia/Kolkata", "Pacific/Apia"]
STEP = timedelta(minutes=30)  # every offset and every change of these zones is a multiple


@cache
def edges(name: str) -> list[datetime]:
    """The hours of 2020 to 2035 in which the zone's offset changed, found by looking at each day's clock."""
    zone, found = ZoneInfo(name), []
    day = datetime(2020, 1, 1, tzinfo=UTC)
    while day.year < 2036:
        after = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != after.astimezone(zone).utcoffset():
            found.append(day)
        day = after
    return found


def watched_boundaries(name: str, hour: int, first: datetime, last: datetime) -> list[datetime]:
    """Watches the wall clock in steps of half an hour and notes when a day first reaches the hour.

    Knows nothing of folds or offsets: it reads the clock on the wall and remembers the furthest it has shown.
    """
    zone, found = ZoneInfo(name), []
    wall = first.astimezone(zone).replace(tzinfo=None)
    furthest = wall
    instant = first
    while instant < last:
        instant += STEP
        wall = instant.astimezone(zone).replace(tzinfo=None)
        day = furthest.date()
        while day <= wall.date():
            mark = datetime(day.year, day.month, day.day, hour)
            if furthest < mark <= wall:
                found.append(instant)
            day += timedelta(days=1)
        furthest = max(furthest, wall)
    return found


@pytest.mark.parametrize("name", ZONES)
def test_the_zones_have_the_edges_we_think(name):
    """The table below is worth something: zones with summer time change their clocks in these years."""
    expected = {"UTC": 0, "Asia/Kolkata": 0, "Pacific/Apia": 3, "America/Nuuk": 31}
    assert len(edges(name)) == expected.get(name, 32)


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("hour", range(24))
def test_daily_boundary(name, hour):
    """IN-41: at any hour, missing or repeated, the boundary is where a watched clock reaches it first."""
    for day in edges(name) or [datetime(2024, 3, 31, tzinfo=UTC)]:
        first, last = day - timedelta(days=2), day + timedelta(days=3)
        boundaries = watched_boundaries(name, hour, first, last)
        instant = first + timedelta(days=1, hours=2)
        while instant < last:
            passed = max(boundary for boundary in boundaries if boundary <= instant)
            assert last_boundary(hour, ZoneInfo(name), instant) == passed, (day, instant)
            instant += STEP


@settings(max_examples=200)
@given(st.data())
def test_fresh_means_no_boundary_between(data):
    """IN-41: a session is fresh while the watched clock has not reached the hour since its last message."""
    name = data.draw(st.sampled_from(ZONES))
    hour = data.draw(st.integers(0, 23))
    start = data.draw(st.sampled_from(edges(name) or [datetime(2030, 1, 1, tzinfo=UTC)])) - timedelta(days=1)
    touched = start + data.draw(st.integers(0, 100)) * STEP
    now = touched + data.draw(st.integers(0, 150)) * STEP
    between = watched_boundaries(name, hour, start - timedelta(days=1), now)
    stale = any(touched < boundary for boundary in between)
    policy = ResetPolicy("daily", hour, name)
    assert (grown_old(session(touched=touched), policy, now) == "daily") is stale


@pytest.mark.parametrize(
    ("name", "hour", "now", "boundary"),
    [
        # New York skips 2 o'clock on 8 March 2026 and repeats 1 o'clock on 1 November.
        ("America/New_York", 2, "2026-03-08T12:00Z", "2026-03-08T07:00Z"),
        ("America/New_York", 1, "2026-11-01T12:00Z", "2026-11-01T05:00Z"),
        # Lord Howe moves by half an hour.
        ("Australia/Lord_Howe", 2, "2026-10-04T12:00Z", "2026-10-03T15:30Z"),
        ("Australia/Lord_Howe", 2, "2026-04-05T12:00Z", "2026-04-04T15:30Z"),
        # Nuuk skips 23 o'clock of a Saturday: the boundary is Sunday's midnight.
        ("America/Nuuk", 23, "2026-03-29T12:00Z", "2026-03-29T01:00Z"),
        # Newfoundland once fell back from one past midnight to the evening before.
        ("America/St_Johns", 0, "2010-11-07T03:00Z", "2010-11-07T02:30Z"),
        # Apia had no 30 December 2011.
        ("Pacific/Apia", 4, "2011-12-30T12:00Z", "2011-12-29T14:00Z"),
    ],
)
def test_strange_days(name, hour, now, boundary):
    """IN-41: the edges people meet, each written down."""
    found = last_boundary(hour, ZoneInfo(name), datetime.fromisoformat(now))
    assert found == datetime.fromisoformat(boundary)
