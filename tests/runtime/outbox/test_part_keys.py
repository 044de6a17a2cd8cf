from datetime import UTC, datetime

import pytest

from rejoinder.events import Part, Route
from rejoinder.outbound.operations import Say, encode
from rejoinder.runtime.outbox.part_keys import Origin, action_stem, is_action, notice_about, offer, origin_of
from rejoinder.store.base import StoredPart, said_about

HERE = Route("fake", "room")


def part(key: str) -> StoredPart:
    return StoredPart(1, key, HERE, encode(Say(Part(HERE, "Hi."))), "say", "sent", 1, 1, datetime.now(UTC))


@pytest.mark.parametrize(
    ("key", "origin"),
    [
        (f"{said_about(7)}/0", Origin("event", "7")),
        (f"{offer('shell-3').stem}/0/closed", Origin("offer", "shell-3")),
        (f"{notice_about('t4-again').stem}/0", Origin("unconfirmed", "t4-again")),
        ("s/turn/4/0", None),
        ("eventual/4/0", None),
        ("", None),
    ],
)
def test_a_key_says_for_what_its_part_is_sent(key, origin):
    """DU-4: a key that was made is read as what it was made for, and nothing else is read into it."""
    assert origin_of(part(key)) == origin


def test_actions_are_told_from_words():
    """TU-26."""
    assert is_action(part(f"{action_stem('s/4')}/0"), "s/4")
    assert not is_action(part("s/4/actual"), "s/4")
