"""What a group means for the agent."""

import pytest

from rejoinder.inbound.groups import LONGEST_NAME, participants

ANN, BOB, US = ("1", "Ann"), ("2", "Bob"), ("9", "Helper")


@pytest.mark.parametrize(
    ("told", "heard", "expected"),
    [
        ((), (), ()),
        ((), (BOB, ANN, BOB), ("Ann", "Bob")),
        ((), (ANN, US, ("helper", ""), ("", "")), ("Ann",)),
        ((), (("1", "Ann L."), ANN), ("Ann L.",)),
        ((), (("3", ""),), ("3",)),
        ((), (("3", "A\nB  " + "x" * 100),), (("A B " + "x" * 100)[:LONGEST_NAME],)),
        (("Zoe", "Ann"), (BOB,), ("Zoe", "Ann")),
    ],
    ids=["nobody", "each once", "not us", "the latest name", "no name", "a line at most", "the platform tells"],
)
def test_who_takes_part(told: tuple[str, ...], heard: tuple[tuple[str, str], ...], expected: tuple[str, ...]) -> None:
    """IN-34: as the platform tells, else who spoke lately (the latest first)."""
    assert participants(told, heard, {"9", "helper"}) == expected
