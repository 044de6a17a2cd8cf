"""`make cluster` tries what it says it tries."""

import argparse
import json
import subprocess
from pathlib import Path

from tests.cluster.suite import TARGETS, TROUBLES, counts, is_whole, keep, table, trials
from tests.cluster.trial import Result, Trial
from tests.crash.points import FILE_KEPT, POINTS

ALL = argparse.Namespace(trouble="", points="", target="", personalities="", messages=32, seeds=3, lease=10.0)


def test_every_point_and_every_trouble_is_tried() -> None:
    """SC-31: each point of the crash suite that a process comes to while it serves, and all else that may happen, to
    one that listens and to a worker."""
    wanted = trials(ALL)
    points = {trial.at.partition(":")[0] for trial in wanted if trial.trouble == "point"}
    assert points == {each.name for each in (*POINTS, FILE_KEPT)}
    assert {trial.trouble for trial in wanted} == {*TROUBLES}
    for trouble in ("point", "kill", "freeze", "partition"):
        assert {trial.target for trial in wanted if trial.trouble == trouble} == {*TARGETS}


def test_a_violation_is_in_the_table() -> None:
    """SC-31: what is lost is counted, and so is the trial."""
    fine = Result(Trial("kill", "run", "slack"), 0, 0, 0, 11.0, [])
    bad = Result(Trial("kill", "run", "slack", seed=2), 1, 0, 0, 19.0, ["lost: ann: a3."])
    assert table([fine, bad]).splitlines()[-1] == "| all | 2 | 64 | 1 | 0 | 0 | 19.0 s | 19.0 s | 1 |"


def test_only_what_was_tried_whole_is_kept(tmp_path: Path) -> None:
    """SC-31: docs/scale.md has the counts of whole runs; those of other troubles stay as they are."""
    assert is_whole(ALL)
    for narrowed in ({"points": "K3"}, {"target": "run"}, {"personalities": "slack"}, {"lease": 4.0}, {"seeds": 1}):
        assert not is_whole(argparse.Namespace(**{**vars(ALL), **narrowed}))
    file = tmp_path / "counted.json"
    keep(counts([Result(Trial("freeze", "run", "slack"), 0, 1, 0, 11.04, [])], 2.0), file)
    keep(counts([Result(Trial("kill", "run", "slack"), 1, 0, 0, 19.0, ["lost: ann: a3."])], 3.0), file)
    counted = json.loads(file.read_text("utf-8"))
    assert counted["freeze"]["takeover longest"] == 11.0
    assert (counted["kill"]["lost"], counted["kill"]["violations"]) == (1, 1)


def test_the_figures_follow_the_suite() -> None:
    """SC-33: rate, sessions and takeover, each a command of its own."""
    made = subprocess.run(["make", "-n", "cluster"], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert "-m tests.cluster.suite\n" in made.stdout
    assert "-m bench.cluster rate sessions takeover\n" in made.stdout
