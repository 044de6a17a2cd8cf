"""IN-10, IN-11, IN-13, IN-14: who may talk."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.events import AskPairing, Chat, Sender
from rejoinder.inbound.pairing import ALPHABET, PairingCodes, PendingCode, find_request, is_code, make_code
from tests.inbound.floor import AT_US, GUEST, NOW, OWNER, SENDER, STRANGER, house, last, outcome, says, send


@pytest.mark.parametrize(
    ("dm", "sender", "paired", "expected"),
    [
        ("pairing", SENDER, False, "turn"),
        ("pairing", OWNER, False, "turn"),
        ("pairing", STRANGER, True, "turn"),
        ("pairing", STRANGER, False, "answer"),
        ("allowlist", SENDER, False, "turn"),
        ("allowlist", STRANGER, False, "drop"),
        ("open", STRANGER, False, "turn"),
        ("off", SENDER, False, "drop"),
        ("off", OWNER, False, "drop"),
    ],
)
def test_direct_chats(dm: Any, sender: str, paired: bool, expected: str) -> None:
    """IN-10: pairing, allowlist, open, off."""
    assert outcome(send(says("hello", sender), house(dm=dm), paired=paired)) == expected


@pytest.mark.parametrize(
    ("groups", "chat", "expected"),
    [
        ("allowlist", Chat("-100", "group"), "turn"),
        ("allowlist", Chat("-101", "group"), "drop"),
        ("allowlist", Chat("-101", "group", former="-100"), "turn"),
        ("allowlist", Chat("-101", "group", former="-102"), "drop"),
        ("open", Chat("-101", "group"), "turn"),
        ("off", Chat("-100", "group"), "drop"),
    ],
)
@pytest.mark.parametrize("sender", [OWNER, GUEST, STRANGER])
def test_groups(groups: Any, chat: Chat, expected: str, sender: str) -> None:
    """IN-10: a group is let in by its id or the one it had, whoever speaks; nobody gets a pairing code in a group."""
    said = replace(says("@ourbot hello", sender, mentions=AT_US), chat=chat)
    done = send(said, house(groups=groups))
    assert outcome(done) == expected
    assert not done.replies


def test_an_unknown_channel_lets_nobody_in() -> None:
    """IN-4: what is not configured is closed."""
    assert outcome(send(replace(says("hello", OWNER), channel="nowhere"), house())) == "drop"


@pytest.mark.parametrize(
    ("lists", "sender", "role"),
    [
        ({}, SENDER, "sender"),
        ({"telegram": (SENDER,)}, SENDER, "sender"),
        ({"telegram": (GUEST,)}, SENDER, "guest"),
        ({"*": ("telegram:2",)}, SENDER, "sender"),
        ({"telegram": (), "*": ("telegram:2",)}, SENDER, "guest"),
        ({"telegram": (STRANGER,)}, STRANGER, "stranger"),
    ],
)
def test_who_may_command(lists: Any, sender: str, role: str) -> None:
    """IN-13: `allow_from` by channel in the place of `*`; without a list, who is let in by name."""
    rules = house(commands={"allow_from": lists})
    assert send(says("x", sender), rules).message.actor.role == role


@pytest.mark.parametrize(("sender", "role"), [(OWNER, "owner"), (SENDER, "sender"), (STRANGER, "guest")])
def test_who_is_let_in_is_told_as_whom(sender: str, role: str) -> None:
    """IN-64: the trace says why a message came further, not only why one did not."""
    reasons = {step.stage: step.reason for step in send(says("x", sender), house(dm="open")).trace}
    assert reasons["access"] == f"let in as {role}"
    assert reasons["activation"] == "a direct chat"


def test_an_open_door_makes_guests() -> None:
    """IN-4: being let in by an open door authorises nothing."""
    rules = house(commands={"allow_from": {}}, dm="open")
    assert send(says("x", STRANGER), rules).message.actor.role == "guest"


def test_an_owner_by_phone_number() -> None:
    """IN-13: any of a sender's stable ids may be the one on the list."""
    rules = house(commands={"owner_allow_from": ("telegram:77",)}, owners=())
    said = replace(says("x"), sender=Sender("lid", phone="77"))
    assert send(said, rules).message.actor.role == "owner"


# --- pairing ------------------------------------------------------------------------------------


def request(
    minutes_ago: float, sender: str = STRANGER, code: str = "ABCDEFGH", told: float | None = None
) -> PendingCode:
    return PendingCode(
        sender,
        code,
        NOW - timedelta(minutes=minutes_ago),
        NOW - timedelta(minutes=minutes_ago if told is None else told),
    )


def test_a_stranger_gets_a_code_and_the_agent_nothing() -> None:
    """IN-11: an 8-letter code without look-alikes, valid for an hour."""
    done = send(says("secret plans", STRANGER), house())
    (asked,) = done.effects
    assert isinstance(asked, AskPairing)
    assert asked.code in done.replies[0]
    assert len(asked.code) == 8
    assert not set(asked.code) & set("ILO01")
    assert asked.expires - asked.asked == timedelta(hours=1)
    assert "secret" not in done.replies[0]


@pytest.mark.parametrize(
    ("pending", "expected"),
    [
        ((), "answer"),
        ((request(1),), "drop"),
        ((request(6),), "answer"),
        ((request(30, told=1),), "drop"),
        ((request(30, told=6),), "answer"),
        ((request(61),), "answer"),
        ((request(1, "7"), request(1, "8")), "answer"),
        ((request(1, "7"), request(1, "8"), request(1, "9")), "drop"),
        ((request(61, "7"), request(1, "8"), request(1, "9")), "answer"),
        ((request(6), request(1, "8"), request(1, "9")), "answer"),
    ],
)
def test_codes_are_told_rarely_and_are_few(pending: tuple[PendingCode, ...], expected: str) -> None:
    """IN-11: at most once in 5 minutes, at most 3 pending, expired ones do not count."""
    done = send(says("hello", STRANGER), house(), pairing=PairingCodes(pending))
    assert outcome(done) == expected


def test_a_code_that_is_still_valid_is_told_again() -> None:
    """IN-11: one code per stranger; its hour does not start over."""
    done = send(says("hello", STRANGER), house(), pairing=PairingCodes((request(30, told=6),)))
    (asked,) = done.effects
    assert isinstance(asked, AskPairing)
    assert (asked.code, asked.asked) == ("ABCDEFGH", NOW - timedelta(minutes=30))


def test_the_owner_approves_by_code() -> None:
    """IN-11: `/approve`, in any case, as long as the code is valid."""
    state = PairingCodes((request(30),))
    done = send(says("/approve abcdefgh", OWNER), house(), pairing=state)
    assert [type(effect).__name__ for effect in done.effects] == ["ApprovePairing"]
    assert not send(says("/approve HGFEDCBA", OWNER), house(), pairing=state).effects
    assert find_request(state, "ABCDEFGH", NOW + timedelta(minutes=31)) is None


def test_codes_are_made_of_the_given_chance() -> None:
    """Randomness is a parameter, and every code is one."""
    codes = {make_code(bytes([number]) * 16) for number in range(256)}
    assert len(codes) > 200
    assert all(is_code(code) and set(code) <= set(ALPHABET) for code in codes)


@pytest.mark.parametrize("text", ["/config show", "/stop", "/think high", "/new", "/status", "/tts on"])
def test_a_strangers_control_command_meets_silence(text: str) -> None:
    """IN-14: silence and a trace, not even a code."""
    done = send(says(text, STRANGER), house())
    assert (outcome(done), last(done)[0]) == ("drop", "access")


@pytest.mark.parametrize("text", ["hello", "/help", "/start", "stop", "please /think high do it"])
def test_a_strangers_words_knock(text: str) -> None:
    """IN-11: what is no control command is a request."""
    assert outcome(send(says(text, STRANGER), house())) == "answer"
