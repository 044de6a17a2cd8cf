"""What a restart does with what waited (TU-10): all of it is answered, none of it in a storm.

Of each conversation of each session the latest 20 of the last quarter of an hour run as they would have; what
is older or beyond that becomes one turn before them, told in one notice. So nobody is overtaken.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from rejoinder.events import Route
from rejoinder.store.base import Backlog, Input


def backlogs(waiting: Iterable[Input], now: datetime, singly: int, within: timedelta) -> tuple[Backlog, ...]:
    """Given in order of arrival, returned by who has waited longest."""
    lines: dict[tuple[str, Route], list[Input]] = {}
    for each in waiting:
        lines.setdefault((each.session, each.event.inbound.route), []).append(each)
    return tuple(_backlog(*lane, line, now - within, singly) for lane, line in lines.items())


def _backlog(session: str, route: Route, line: list[Input], since: datetime, singly: int) -> Backlog:
    old = sum(each.event.accepted < since for each in line)  # a clock that was set back gathers more, never less
    cut = max(old, len(line) - singly)
    return Backlog(session, route, tuple(line[:cut]), tuple(line[cut:]))
