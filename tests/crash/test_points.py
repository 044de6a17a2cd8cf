"""A slice of the crash suite: every point once, with a few messages; `make crash` runs all of it, and a sweep."""

import asyncio

import pytest

from tests.crash.points import PERSONALITIES, POINTS, point
from tests.crash.suite import run_all, table, trials
from tests.crash.trial import Result, Trial

MESSAGES, CHATS, JOBS = 4, 2, 4
ON_WEB = ("K2", "K4", "K8", "K9", "K10", "K14", "K15", "K19", "K22", "K23")
"""What no channel has to do with is tried where nothing is paced."""
ALSO = (("K11", "web"), ("K17", "web"), ("K18", "telegram resend"))
HANDED = (("K15", "telegram hold", 2), ("K19", "web", 1), ("K22", "telegram resend", 1))


def a_slice() -> list[Trial]:
    soon = [each.name for each in POINTS if each.way != "grown old"]
    every = [(name, "web" if name in ON_WEB else "telegram hold") for name in soon]
    answers = [Trial(point(name), personality, 1, MESSAGES, CHATS) for name, personality in (*every, *ALSO)]
    handed = [Trial(point(name), each, at, MESSAGES, CHATS, "hands over") for name, each, at in HANDED]
    return [*answers, *handed]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """All at once: a trial is mostly waiting for processes to start."""
    found = asyncio.run(run_all(a_slice(), JOBS, tell=False))
    return {result.trial.name: result for result in found}


@pytest.mark.parametrize("name", [trial.name for trial in a_slice()])
def test_nothing_is_lost_twice_or_leaked(results, name):
    """DU-22, DU-3: killed at this point and started again, people saw every answer once, where they had asked; and
    what one agent handed to another was taken once (OD-50)."""
    assert results[name].wrong == [], results[name].log


def test_what_is_held_is_what_may_be(results):
    """DU-3: `hold` keeps what was being sent, and nothing else."""
    held = {name for name, result in results.items() if result.held}
    assert all("telegram hold" in name for name in held)
    assert {"K16:1 telegram hold", "K17:1 telegram hold", "K18:1 telegram hold"} & held


def test_every_point_is_tried_or_said_not_to_exist():
    """DU-20: in the whole suite no pair of point and personality is passed over in silence."""
    tried = {(trial.point.name, trial.personality) for trial in trials((), (), 20)}
    every = {(f"K{number}", personality) for number in range(1, 27) for personality in PERSONALITIES}
    assert every - tried == {(each.name, "web") for each in POINTS if each.not_on_web}


def test_the_table_counts(results):
    """DU-22: trials, messages, lost, held, duplicated, leaked bytes."""
    last = table(list(results.values())).splitlines()[-1].split(" | ")
    assert last[1:3] == [str(len(results)), str(MESSAGES * len(results))]
