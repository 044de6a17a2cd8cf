"""The tables of docs/scale.md follow what `make cluster` wrote down."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bench.cluster_figures import Figures, Rates, SessionMemory, Takeovers, Way, keep, kept
from tests.cluster.suite import TROUBLES, counts
from tests.cluster.trial import Result, Trial

ROOT = Path(__file__).resolve().parents[2]
WAYS = tuple(Way(count, rate, 0.002, 0.2, 0.01) for count, rate in ((0, 900.0), (1, 500.0), (2, 600.0), (4, 550.0)))
RATES = Rates(50, WAYS, 1.0)
MEMORY = SessionMemory((0, 2500, 10_000), ((60.0,), (78.0,), (80.0,)), 90.0, 1.0)
TAKEN = Takeovers(3, 10.0, (9.0, 11.0), (9.5, 11.5), 24, 0, 0, 1.0)


def docs() -> Any:
    spec = spec_from_file_location("docs_script", ROOT / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_was_measured_is_what_the_page_shows(tmp_path: Path) -> None:
    """SC-33: rate, memory and takeovers are kept as data, each in the place of the last one, and made into tables."""
    file = tmp_path / "cluster.json"
    for each in (RATES, MEMORY, TAKEN, RATES):
        keep(each, file)
    assert kept(file) == {"rate": RATES, "sessions": MEMORY, "takeover": TAKEN}
    shown = docs().cluster_figures(msgspec.json.decode(file.read_bytes()))
    for said in ("| PostgreSQL, 2 processes | 600 | 0.67 |", "| 10,000 | 80 MB |", "24 messages, 0 lost, 0 twice"):
        assert said in shown


@pytest.mark.parametrize(
    ("figures", "over"),
    [
        (RATES, 0),
        (Rates(50, (WAYS[0], Way(1, 300.0, 0, 0, 0), Way(2, 300.0, 0, 0, 0)), 1.0), 2),
        (MEMORY, 0),
        (SessionMemory((0, 1, 4), ((60.0,), (60.0,), (67.0,)), 90.0, 1.0), 1),
        (TAKEN, 0),
        (Takeovers(3, 10.0, (9.0,), (15.0,), 24, 1, 0, 1.0), 2),
    ],
)
def test_a_figure_over_its_bar_is_named(figures: Figures, over: int) -> None:
    """SC-33: the command ends with 1 then."""
    assert len(figures.over()) == over


def test_every_trouble_has_its_row() -> None:
    """SC-31: what was counted of each, whether it went well or not."""
    bad = [Result(Trial(each, "run", "slack"), 0, 1, 0, 11.0, ["typing after final"]) for each in TROUBLES]
    lines = docs().cluster_trials(counts(bad, 4.0)).splitlines()
    assert len(lines) == 2 + len(TROUBLES)
    assert all("| 1 | 32 | 0 | 1 | 1 | 11 s | 11 s | 4 |" in line for line in lines[2:])
