"""The sample cases of inbound decisions, through the command people use.

`message.json` are samples of all numbers; `message_commands.json` has those of directives and commands, sentence by
sentence, with words that have to be said (`says`).
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rejoinder.testing.patience import PATIENCE

CASES: list[dict[str, Any]] = [
    case
    for file in ("message.json", "message_commands.json")
    for case in json.loads(Path("tests/data", file).read_text("utf-8"))
]


@pytest.fixture(scope="module")
def answers() -> list[dict[str, Any]]:
    """All cases in one process, one JSON document per line each way."""
    lines = "\n".join(json.dumps({key: case[key] for key in ("text", "as", "chat")}) for case in CASES)
    done = subprocess.run(
        [sys.executable, "-c", "from rejoinder.cli import main; main()", "message", "--jsonl"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{c['ref']}:{c['text']!r}:{c['as']}" for c in CASES])
def test_case(number: int, answers: list[dict[str, Any]]) -> None:
    """Each sample is decided as it says."""
    case, answer = CASES[number], answers[number]
    assert answer["outcome"] == case["outcome"], answer["stages"]
    assert answer["directives"] == case["directives"]
    if case["agent_text"] is not None:
        assert answer["agent_text"] == case["agent_text"]
    assert case.get("says", "") in "\n".join(answer["replies"])


def test_documents_have_the_promised_keys(answers: list[dict[str, Any]]) -> None:
    """`rejoinder message --json` keeps its keys."""
    for answer in answers:
        assert list(answer) == ["outcome", "reason", "agent_text", "replies", "directives", "stages"]
        assert all(list(stage) == ["stage", "decision", "reason"] for stage in answer["stages"])
