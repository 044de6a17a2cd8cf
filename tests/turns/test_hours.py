"""Hours in which something may happen (TU-26)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from rejoinder.turns.expression import BadExpression
from rejoinder.turns.hours import read_hours


@pytest.mark.parametrize(
    ("hours", "zone", "now", "holds"),
    [
        ("08:00-22:00", "UTC", "08:00", True),
        ("08:00-22:00", "UTC", "21:59", True),
        ("08:00-22:00", "UTC", "22:00", False),
        ("08:00-22:00", "UTC", "07:59", False),
        ("22:00-06:00", "UTC", "23:00", True),
        ("22:00-06:00", "UTC", "05:59", True),
        ("22:00-06:00", "UTC", "06:00", False),
        ("22:00-06:00", "UTC", "12:00", False),
        ("18:00-24:00", "UTC", "23:59", True),
        ("18:00-24:00", "UTC", "00:00", False),
        ("0:00-24:00", "UTC", "00:00", True),
        ("8:00 - 9:30", "UTC", "09:29", True),
        ("08:00-09:00", "Asia/Kolkata", "02:30", True),
        ("08:00-09:00", "Asia/Kolkata", "08:30", False),
    ],
)
def test_whether_they_hold(hours: str, zone: str, now: str, holds: bool) -> None:
    """TU-26: in the zone's own day, also over midnight; the last minute is before the end."""
    moment = datetime.fromisoformat(f"2026-11-16 {now}").replace(tzinfo=UTC)
    assert read_hours(hours).contains(moment, ZoneInfo(zone)) is holds


@pytest.mark.parametrize(
    ("hours", "says", "at"),
    [
        ("8-22", 'such as "08:00-22:00"', None),
        ("", 'such as "08:00-22:00"', None),
        ("08:00-25:00", "25:00 is not a time of day", 6),
        ("24:00-08:00", "24:00 is not a time of day", 0),
        ("08:60-09:00", "08:60 is not a time of day", 0),
        ("08:00-08:00", "they end when they begin", None),
    ],
)
def test_what_cannot_be_read(hours: str, says: str, at: int | None) -> None:
    """TU-26: refused at start, with the place."""
    with pytest.raises(BadExpression) as refused:
        read_hours(hours)
    assert says in str(refused.value)
    assert refused.value.at == at
