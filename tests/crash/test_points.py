"""A slice of the crash suite: every point once, with a few messages; `make crash` runs all of it."""

import asyncio

import pytest

from tests.crash.points import PERSONALITIES, POINTS, point
from tests.crash.suite import run_all, table, trials
from tests.crash.trial import Result, Trial

MESSAGES, CHATS, JOBS = 4, 2, 6
ON_WEB = ("K1", "K2", "K4", "K8", "K10", "K11", "K14", "K17", "K18", "K21", "K25")


def a_slice() -> list[Trial]:
    """The first pass but where that is too early to tell anything."""
    hold = [Trial(each, "telegram hold", 1, MESSAGES, CHATS) for each in POINTS]
    web = [Trial(point(name), "web", 1, MESSAGES, CHATS) for name in ON_WEB]
    resend = [Trial(point(name), "telegram resend", 1, MESSAGES, CHATS) for name in ("K16", "K17", "K18")]
    return [*hold, *web, *resend]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """All at once: a trial is mostly waiting for processes to start."""
    found = asyncio.run(run_all(a_slice(), JOBS, tell=False))
    return {result.trial.name: result for result in found}


@pytest.mark.parametrize("name", [trial.name for trial in a_slice()])
def test_nothing_is_lost_twice_or_leaked(results, name):
    """DU-22, DU-3: killed at this point and started again, people saw every answer once, where they had asked."""
    assert results[name].wrong == [], results[name].log


def test_what_is_held_is_what_may_be(results):
    """DU-3: `hold` keeps what was being sent, and nothing else."""
    held = {name for name, result in results.items() if result.held}
    assert held <= {f"{each.name}:1 telegram hold" for each in POINTS}
    assert "K16:1 telegram hold" in held


def test_every_point_is_tried_or_said_not_to_exist():
    """DU-20: in the whole suite no pair of point and personality is passed over in silence."""
    tried = {(trial.point.name, trial.personality) for trial in trials((), (), 20)}
    every = {(f"K{number}", personality) for number in range(1, 27) for personality in PERSONALITIES}
    assert every - tried == {(each.name, "web") for each in POINTS if each.not_on_web}


def test_the_table_counts(results):
    """DU-22: trials, messages, lost, held, duplicated, leaked bytes."""
    last = table(list(results.values())).splitlines()[-1].split(" | ")
    assert last[1:3] == [str(len(results)), str(MESSAGES * len(results))]
