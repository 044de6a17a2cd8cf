"""What may be held, or there twice, after the database was away (DU-3, SC-31): judged by what really happened."""

from datetime import UTC, datetime

import pytest

from rejoinder.cli.parts import ShownPart
from tests.cluster.doubt import Step, held_wrongly, in_doubt, lost_wrongly

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def steps(told: str) -> list[Step]:
    """`sending@3 sent@3`: the steps of the part 1."""
    return [Step(1, state, int(generation)) for state, _, generation in (each.partition("@") for each in told.split())]


def part(id: int) -> ShownPart:
    return ShownPart(id, "held", "say", "telegram", "", "ann", None, f"a{id}.", 1, NOW, None, None, "", None, f"k{id}")


@pytest.mark.parametrize(
    ("told", "doubted"),
    [
        ("planned@3 sending@3 sent@3", False),
        ("planned@3 sending@3 unknown@4 held@4", True),
        ("planned@3 sending@3 unknown@4 planned@4 sending@4 sent@4", True),
        ("planned@3 sending@3 unknown@3 held@3", False),
        ("planned@3 planned@4 sending@4 sent@4", False),
        ("sending@3 retry@3 sending@4 held@4", False),
    ],
    ids=[
        "sent",
        "held by the next owner",
        "sent again by the next owner",
        "held by the owner that sent it",
        "taken over before it was sent",
        "to be sent again when it was taken over",
    ],
)
def test_in_doubt_is_what_was_being_sent_when_a_lease_was_lost(told: str, doubted: bool) -> None:
    """DU-3, SC-3: however long that took."""
    assert in_doubt(steps(told)) == ({1} if doubted else set())


def test_only_what_is_in_doubt_may_be_held() -> None:
    """DU-3: as many others in doubt as there may be; and on a platform that can be asked nothing is held."""
    assert held_wrongly([part(1), part(2)], {1, 2, 3}, blind=True) == []
    assert held_wrongly([part(1), part(4)], {1, 2, 3}, blind=True) == [
        "held though its owner knew what became of it: 'a4.'"
    ]
    assert len(held_wrongly([part(1)], {1}, blind=False)) == 1


def test_a_lease_outlives_a_short_absence() -> None:
    """SC-22, SC-31: what counts is for how long the database was really away."""
    assert lost_wrongly({1}, 7.0, 10.0) == []
    assert lost_wrongly(set(), 2.0, 10.0) == []
    assert lost_wrongly({1, 2}, 2.0, 10.0) == ["leases of 10 s were lost, with 2 messages, while it was away for 2.0 s"]
