"""The shared cases of the specification, each read every way."""

import json
from pathlib import Path

import pytest

from rejoinder import Reading, ReplyReader
from tests.outbound.every_way import read_every_way, said

CASES = json.loads((Path(__file__).parent.parent / "data" / "reply.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[f"{case['od']}-{number}" for number, case in enumerate(CASES)])
def test_case(case: dict) -> None:
    """OD-2, OD-3 and the number of the case: the same reading however it is cut, and no frame shows more."""
    reading = read_every_way(case["input"])
    assert reading.text == case["text"]
    assert reading.silent == case["silent"]
    assert said(*reading.directives) == [(d["name"], d["args"], d["body"]) for d in case["directives"]]


MORE = json.loads((Path(__file__).parent.parent / "data" / "reply_more.json").read_text("utf-8"))


@pytest.mark.parametrize("case", MORE, ids=[f"{case['od']}-{number}" for number, case in enumerate(MORE)])
def test_more_cases(case: dict) -> None:
    """A harvest of sentences of the specification, each case read whole, one character at a time and by fives."""
    segments, options = case.get("segments") or [case["input"]], case.get("options") or {}
    for size in (max(map(len, segments)) or 1, 1, 5):
        reader = ReplyReader(**options)
        events = []
        for number, segment in enumerate(segments):
            events += reader.next_segment() if number else []
            for at in range(0, len(segment), size):
                events += reader.feed(segment[at : at + size])
        reading = Reading.of(events + reader.finish())
        assert (reading.text, reading.silent) == (case["text"], case["silent"])
        assert said(*reading.directives) == [(d["name"], d["args"], d["body"]) for d in case["directives"]]
