"""A slice of the crash suite: every point once, with a few messages; `make crash` runs all of it, and a sweep."""

import asyncio
import json

import pytest

from tests.crash.points import AT_RANDOM, PERSONALITIES, POINTS, point, sends_files
from tests.crash.suite import keep, run_all, table, trials
from tests.crash.trial import Result, Trial

pytestmark = pytest.mark.xdist_group("crash points")  # the trials are run once, for all of these tests
MESSAGES, CHATS, JOBS = 4, 2, 4
ON_WEB = ("K2", "K4", "K8", "K9", "K10", "K14", "K15", "K19", "K22", "K23")
"""What no channel has to do with is tried where nothing is paced."""
ALSO = (("K11", "web"), ("K17", "web"), ("K5", "slack"), ("K17", "slack"))
ON_ALONE = ("K16", "K17", "K18")
"""Exactly one message is of unknown fate there."""
FILES = (("K27", "web"), ("K17", "telegram resend"), ("K17", "slack"), ("K18", "discord"))
SPOKEN = (("K27", "telegram hold"), ("K15", "web"))
HANDED = (("K15", "telegram hold", 2), ("K19", "web", 1), ("K22", "telegram resend", 1))


def a_slice() -> list[Trial]:
    soon = [each.name for each in POINTS if each.way != "grown old" and each.name not in ON_ALONE]
    every = [(name, "web" if name in ON_WEB else "telegram hold") for name in soon]
    answers = [Trial(point(name), personality, 1, MESSAGES, CHATS) for name, personality in (*every, *ALSO)]
    handed = [Trial(point(name), each, at, MESSAGES, CHATS, "hands over") for name, each, at in HANDED]
    blind = ("telegram hold", "telegram resend")
    alone = [Trial(point(name), each, 1, MESSAGES, talk="alone") for name in ON_ALONE for each in blind]
    alone.append(Trial(point("K22"), "telegram resend", 2, MESSAGES, talk="alone"))
    crossed = [Trial(point("K25"), "telegram hold", 1, MESSAGES, CHATS, crossed_with=("K17:1",))]
    files = [Trial(point(name), each, 2, MESSAGES, CHATS, "files") for name, each in FILES]
    spoken = [Trial(point(name), each, 1, MESSAGES, CHATS, "speaks") for name, each in SPOKEN]
    return [*answers, *handed, *files, *spoken, *alone, *crossed, Trial(AT_RANDOM, "web", 1, MESSAGES)]


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


@pytest.mark.parametrize("name", ON_ALONE)
def test_what_is_of_unknown_fate_is_held_or_said_twice(results, name):
    """DU-3, DU-22: `hold` keeps what was being sent, and nothing else; `resend` says it again, where it had arrived."""
    hold, resend = (results[f"{name}:1 telegram {each}, alone"] for each in ("hold", "resend"))
    assert (len(hold.held), hold.duplicated) == (1, [])
    assert (resend.held, len(resend.duplicated)) == ([], 0 if name == "K16" else 1)


def test_nothing_is_held_or_twice_elsewhere(results):
    """DU-3: on the web nothing is, and on Telegram only what was under way."""
    uncertain = {name for name, result in results.items() if result.held or result.duplicated or result.beside}
    assert not [name for name in uncertain if "web" in name]


def test_every_point_is_tried_or_said_not_to_exist():
    """DU-20: in the whole suite no pair of point and personality is passed over in silence."""
    tried = {(trial.point.name, trial.personality) for trial in trials((), (), 20)}
    every = {(f"K{number}", personality) for number in range(1, 27) for personality in PERSONALITIES}
    every |= {("K27", personality) for personality in PERSONALITIES if sends_files(personality)}
    assert every - tried == {(each.name, "web") for each in POINTS if each.not_on_web}


def test_the_table_counts(results):
    """DU-22: trials, messages, lost, held, duplicated, leaked bytes."""
    last = table(list(results.values())).splitlines()[-1].split(" | ")
    assert last[1:3] == [str(len(results)), str(MESSAGES * len(results))]


def test_what_was_counted_of_others_stays(tmp_path):
    """DU-22: personalities may be run one after the other; the README has the last count of each."""
    file = tmp_path / "counted.json"
    for name, trials_run in (("web", "1"), ("slack", "2"), ("web", "3")):
        keep([(name, trials_run, *["0"] * 7)], file)
    assert {name: each["trials"] for name, each in json.loads(file.read_text()).items()} == {"web": 3, "slack": 2}
