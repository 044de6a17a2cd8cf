"""The fuzz corpus, replayed: what once was hard to read stays read."""

from pathlib import Path

import pytest

from tests.outbound.invariants import check, plan

CORPUS = Path(__file__).parent.parent.parent / "fuzz" / "corpus"


@pytest.mark.parametrize("seed", sorted(CORPUS.iterdir()), ids=lambda seed: seed.name)
def test_a_seed_keeps_the_promises(seed: Path) -> None:
    """OD-1 to OD-4, OD-7: the same events in any chunking, nothing invented or lost, no directive shown."""
    check(plan(seed.read_bytes()))


@pytest.mark.parametrize(
    ("data", "segments"),
    [
        (b"", [[""]]),
        (b"\nabc", [["abc"]]),
        (b"2\nabcde", [["ab", "cd", "e"]]),
        (b"13\nabcdef", [["a", "bcd", "e", "f"]]),
        (b"20\nabcd", [["ab"], ["cd"]]),
        (b"0\nabcd", [["abcd"]]),
        (b"\n\xff", [["\udcff"]]),
    ],
)
def test_how_a_plan_is_written(data: bytes, segments: list[list[str]]) -> None:
    """The first line cuts, the rest is text."""
    assert plan(data) == segments
