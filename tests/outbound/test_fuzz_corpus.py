"""The fuzz corpus, replayed: what once was hard to read stays read."""

from pathlib import Path

import pytest

from rejoinder import Text
from tests.outbound import invariants
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


class ShowsEverything:
    def feed(self, piece: str) -> list[Text]:
        return [Text(piece)]

    def next_segment(self) -> list[Text]:
        return []

    def finish(self) -> list[Text]:
        return []


class ShowsNothing(ShowsEverything):
    def feed(self, piece: str) -> list[Text]:
        return []


class ShowsMore(ShowsEverything):
    def finish(self) -> list[Text]:
        return [Text("!")]


class ShowsWordByWord(ShowsEverything):
    def feed(self, piece: str) -> list[Text]:
        return [Text(piece.strip())]


@pytest.mark.parametrize(
    ("reader", "text", "complaint"),
    [
        (ShowsEverything, "Hi <actions></actions>", "a directive is shown"),
        (ShowsNothing, "Hi", "plain text has changed"),
        (ShowsMore, "Hi", "something is shown that was not said"),
        (ShowsWordByWord, "a b", "one by one gives other events"),
    ],
)
def test_the_checks_can_fail(
    reader: type[ShowsEverything], text: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that leaks, swallows, invents or depends on the cut is found out."""
    monkeypatch.setattr(invariants, "ReplyReader", reader)
    with pytest.raises(AssertionError, match=complaint):
        check([[text]])
