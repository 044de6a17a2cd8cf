"""The numbers that code and tests name are explained on one page, and each promise there is held by a test."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"\b(?:IN|TU|OD|DE|DU|SC|CH|ME)-\d+\b")
ROW = re.compile(r"^\| (\w\w-\d+) \| .+ \|$", re.MULTILINE)
PROMISED = ROW.findall((ROOT / "docs" / "promises.md").read_text("utf-8"))


TESTS = ("tests", "src/rejoinder/testing")  # whose contracts are tests too


def numbers(*rooms: str) -> Iterator[str]:
    for path in (path for room in rooms for path in sorted((ROOT / room).rglob("*"))):
        if path.suffix in (".py", ".json"):
            yield from NUMBER.findall(path.read_text("utf-8"))


def test_every_number_is_explained():
    """Whoever meets one in the code finds it."""
    assert {*numbers("src", *TESTS)} - {*PROMISED} == set()


def test_every_promise_is_held():
    assert {*PROMISED} - {*numbers(*TESTS)} == set()


def test_each_stands_there_once_and_in_order():
    rooms = list(dict.fromkeys(promise[:2] for promise in PROMISED))
    assert sorted(set(PROMISED), key=lambda promise: (rooms.index(promise[:2]), int(promise[3:]))) == PROMISED
