"""Hours of the day in which something may happen: `08:00-22:00`, or across midnight, `22:00-06:00` (TU-26)."""

import re
from datetime import datetime, tzinfo
from typing import Final

from msgspec import Struct

from rejoinder.turns.expression import BadExpression

_HOURS: Final = re.compile(r"(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})")


class Hours(Struct, frozen=True):
    """From `begin` until just before `until`, in wall-clock time; `until` of 24:00 is the end of the day."""

    begin: int
    """Minutes since midnight."""
    until: int

    def contains(self, now: datetime, zone: tzinfo) -> bool:
        """Wall-clock time counts: a repeated hour is included twice, and a skipped one not at all."""
        wall = now.astimezone(zone).time()
        minute = wall.hour * 60 + wall.minute
        if self.begin < self.until:
            return self.begin <= minute < self.until
        return minute >= self.begin or minute < self.until


def read_hours(text: str) -> Hours:
    """Raises `BadExpression`."""
    read = _HOURS.fullmatch(text.strip())
    if read is None:
        raise BadExpression('they are hours such as "08:00-22:00"')
    minutes: list[int] = []
    for at in (1, 3):
        hour, minute = int(read[at]), int(read[at + 1])
        if (hour > 23 or minute > 59) and (at, hour, minute) != (3, 24, 0):
            raise BadExpression(f"{read[at]}:{read[at + 1]} is not a time of day", read.start(at))
        minutes.append(hour * 60 + minute)
    if minutes[0] == minutes[1]:
        raise BadExpression("they end when they begin; leave them out for the whole day")
    return Hours(*minutes)
