"""An answer becomes operations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.channels.telegram import CHANNEL
from rejoinder.events import Part, Route
from rejoinder.outbound.budget import LEAVES, Rate, full, take, wait
from rejoinder.outbound.operations import Amend, Open, React, Remove, Say, decode, encode, keyed, kind, words
from rejoinder.outbound.plan import AnswerWording, Slot, reply_mode, say, settle, withdraw
from rejoinder.rendering import RenderOptions
from rejoinder.rendering.chunk import length

ROUTE = Route("telegram", "1")
MANNER = RenderOptions(CHANNEL.renderer, 200, "utf16")
WORDING = AnswerWording(reply_to="7", author="bot")
TEXTS = st.text(st.sampled_from("abc def.\n*`_#-👍ü"), max_size=600)


@settings(deadline=None)
@given(TEXTS)
def test_every_part_fits_and_together_they_are_the_source(text):
    """DE-10, DE-11, DE-14: no part is too long or empty; white space and what the cutter adds aside nothing is lost."""
    parts = [planned.operation.part for planned in say(text, ROUTE, MANNER, WORDING, "t1")]
    assert all(length(part.text, "utf16") <= 200 and part.text.strip() for part in parts)
    letters = [character for character in text if character.isalpha()]
    assert [character for part in parts for character in part.text if character.isalpha()] == letters


@settings(deadline=None)
@given(TEXTS)
def test_the_same_answer_has_the_same_keys_whoever_thinks_of_it(text):
    """DU-4: a key is made of the turn and the bytes; parts of one answer have different ones."""
    once, again = (say(text, ROUTE, MANNER, WORDING, "t1") for _ in range(2))
    assert once == again
    keys = [planned.key for planned in once]
    assert len(set(keys)) == len(keys)
    assert all(planned.key == planned.operation.part.key for planned in once)
    other = say(text, ROUTE, MANNER, AnswerWording(reply_to="8"), "t1")
    assert not text.strip() or once[0].key != other[0].key


@settings(deadline=None)
@given(TEXTS, st.lists(st.text("ab", min_size=1, max_size=5), max_size=3))
def test_whatever_is_on_the_screen_becomes_the_answer(text, sources):
    """DE-2: every message ends with its chunk, every message too many goes, none is said twice."""
    slots = tuple(Slot(str(n), source, "7" if n == 0 else None) for n, source in enumerate(sources))
    screen = dict(enumerate(sources))
    for planned in settle(text, slots, ROUTE, MANNER, WORDING, "t1"):
        match planned.operation:
            case Amend(message=message, part=part):
                screen[int(message)] = part.text
            case Remove(message=message):
                del screen[int(message)]
            case Say(part=part):
                screen[len(screen)] = part.text
    whole = [planned.operation.part.text for planned in say(text, ROUTE, MANNER, WORDING, "t1")]
    assert list(screen.values()) == whole


def test_a_message_that_already_says_it_costs_no_call():
    """DE-2, DE-20."""
    assert settle("Hi.", (Slot("5", "Hi.", "7"),), ROUTE, MANNER, WORDING, "t1") == []


def test_a_target_that_changed_moves_the_answer():
    """OD-61: said again, and the old one goes only after that."""
    said, removed = settle("Hi.", (Slot("5", "Hi.", None),), ROUTE, MANNER, WORDING, "t1")
    assert removed.operation == Remove("5", after=(said.key,))
    (kept,) = settle("Hi!", (Slot("5", "Hi.", None),), ROUTE, MANNER, WORDING, "t1", may_move=False)
    assert isinstance(kept.operation, Amend)


def test_what_a_late_edit_could_overwrite_is_said_again():
    """DE-20: under another message; the draft goes when all of it has arrived."""
    slots = Slot("5", "One", "7"), Slot("6", "tw", "7", unsure=True)
    said, *gone = (planned.operation for planned in settle("One two", slots, ROUTE, MANNER, WORDING, "t1"))
    assert isinstance(said, Say)
    assert gone == [Remove("5", (said.part.key,)), Remove("6", (said.part.key,))]


def test_what_was_live_is_told_that_it_is_whole():
    (last,) = settle("Hi.", (Slot("5", "Hi.", "7"),), ROUTE, MANNER, WORDING, "t1", live=True)
    assert (last.operation.message, last.operation.grown) == ("5", 3)
    assert [planned.operation for planned in withdraw((Slot("5", "Hi."),), "t1")] == [Remove("5")]


@pytest.mark.parametrize(
    "operation",
    [
        Say(Part(ROUTE, "hi"), Part(ROUTE, "*hi*")),
        Open(Part(ROUTE, "hi")),
        Amend("5", Part(ROUTE, "hi")),
        React("5", "👀"),
        Remove("5", ("a", "b")),
    ],
)
def test_a_deed_is_kept_as_it_is(operation):
    """DE-30: frozen bytes."""
    key, known = keyed(operation, "t1")
    assert decode(encode(known)) == known
    assert keyed(operation, "t1") == (key, known)
    assert kind(known).encode() in encode(known)
    assert words(known) in ("hi", "👀", "")


@pytest.mark.parametrize(
    ("configured", "direct", "other_bot", "mode"),
    [
        (None, True, False, "off"),
        (None, False, False, "first"),
        (None, False, True, "off"),
        ("all", True, True, "all"),
        ("off", False, False, "off"),
    ],
)
def test_reply_modes(configured, direct, other_bot, mode):
    """DE-6."""
    assert reply_mode(configured, direct=direct, other_bot=other_bot) == mode


# --- budgets ------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.floats(0, 2), max_size=60), st.integers(1, 5), st.floats(0.5, 10))
def test_who_waits_as_told_never_goes_over_the_rate(pauses, burst, per_second):
    """DE-32: at most the burst and what the time allows."""
    rate = Rate(burst, per_second)
    bucket, now, calls = full(rate, 0.0), 0.0, 0
    for pause in pauses:
        now += pause + wait(bucket, rate, "final", now + pause)
        bucket, calls = take(bucket, rate, now), calls + 1
        assert calls <= burst + now * per_second + 1e-6


def test_what_matters_more_takes_the_last_call():
    """DE-32: final and action before edit before typing."""
    rate = Rate(3, 1.0)
    bucket = take(take(full(rate, 0.0), rate, 0.0), rate, 0.0)
    assert {rank: wait(bucket, rate, rank, 0.0) for rank in LEAVES} == {"final": 0, "action": 0, "edit": 1, "typing": 2}


# --- echoes -------------------------------------------------------------------------------------
