"""Decides what a restart does with waiting messages (TU-10): all are answered, without a flood of turns.

For each conversation of each session, the latest 20 of the last quarter of an hour run as usual; all others become one
turn before them, announced in one notice. So no message overtakes an older one.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from rejoinder.events import Route
from rejoinder.store.base import Backlog, Input


def backlogs(waiting: Iterable[Input], now: datetime, singly: int, within: timedelta) -> tuple[Backlog, ...]:
    """Takes the inputs in order of arrival, and returns the longest waiting backlog first."""
    lines: dict[tuple[str, Route], list[Input]] = {}
    for each in waiting:
        lines.setdefault((each.session, each.event.inbound.route), []).append(each)
    return tuple(_backlog(*lane, line, now - within, singly) for lane, line in lines.items())


def _backlog(session: str, route: Route, line: list[Input], since: datetime, singly: int) -> Backlog:
    old = sum(each.event.accepted < since for each in line)  # times are out of order if the clock was set back
    cut = max(old, len(line) - singly)
    return Backlog(session, route, tuple(line[:cut]), tuple(line[cut:]))
