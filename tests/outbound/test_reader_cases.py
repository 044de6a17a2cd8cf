"""The shared cases of the specification, each read every way."""

import json
from pathlib import Path

import pytest

from tests.outbound.every_way import read_every_way, said

CASES = json.loads((Path(__file__).parent.parent / "data" / "reply.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[f"{case['od']}-{number}" for number, case in enumerate(CASES)])
def test_case(case: dict) -> None:
    """OD-2, OD-3 and the number of the case: the same reading however it is cut, and no frame shows more."""
    reading = read_every_way(case["input"])
    assert reading.text == case["text"]
    assert reading.silent == case["silent"]
    assert said(*reading.directives) == [(d["name"], d["args"], d["body"]) for d in case["directives"]]
