"""What follows from a platform's answer."""

import pytest

from rejoinder.events import NewThread, Part, Route
from rejoinder.events.outcomes import Delivered, Rejected, RetryAfter, Unknown
from rejoinder.outbound.operations import Amend, Open, React, Remove, Say
from rejoinder.outbound.verdict import (
    MOST_LOOKS,
    MOST_TRIES,
    Arrived,
    Forget,
    GiveUp,
    HoldBack,
    LookAgain,
    LookUp,
    Resend,
    Retry,
    judge,
    judge_look,
)

ROUTE = Route("fake", "room")
PLAIN = Part(ROUTE, "*hi*")
SAY = Say(Part(ROUTE, "hi"))
FORMATTED = Say(Part(ROUTE, "hi", html="<b>hi</b>"), PLAIN)
REPLY = Say(Part(ROUTE, "hi", reply_to="7"))
EDIT = Amend("5", Part(ROUTE, "hi"))
REACT = React("5", "👀")
BLIND, KEYS, FINDS = "nothing", "keys", "messages"


@pytest.mark.parametrize(
    ("outcome", "operation", "recognises", "verdict"),
    [
        (Delivered("9"), SAY, BLIND, Arrived("9")),
        (Rejected("bad", "formatting"), FORMATTED, BLIND, Retry(0, "bad", counted=False, omits="formatting")),
        (Rejected("bad", "formatting"), SAY, BLIND, Retry(0, "bad", counted=False, omits="formatting")),
        (Rejected("bad", "formatting"), REACT, BLIND, GiveUp("bad")),
        (Rejected("gone", "target"), REPLY, BLIND, Retry(0, "gone", counted=False, omits="target")),
        (Rejected("gone", "target"), SAY, BLIND, GiveUp("gone")),
        (Rejected("gone", "target"), EDIT, BLIND, Retry(0, "gone", counted=False, omits="message")),
        (Rejected("gone", "target"), Amend("5", PLAIN, resend_if_gone=False), BLIND, Forget("gone")),
        (Rejected("gone", "target"), REACT, BLIND, GiveUp("gone")),
        (Rejected("kicked", "gone"), SAY, KEYS, GiveUp("kicked")),
        (Rejected("kicked", "gone"), Open(PLAIN), BLIND, Forget("kicked")),
        (Rejected("401", "account"), SAY, KEYS, Retry(0.0, "401", False, False, True)),
        (RetryAfter(7, "slow", limited=True), SAY, BLIND, Retry(7, "slow", counted=False)),
        (RetryAfter(7, "", limited=True, everywhere=True), SAY, BLIND, Retry(7, "too fast", False, True)),
        (RetryAfter(None, "502"), SAY, BLIND, Retry(1.0, "502")),
        (RetryAfter(9, "502"), SAY, BLIND, Retry(9, "502")),
        (Unknown("reset"), SAY, KEYS, Retry(1.0, "reset")),
        (Unknown("reset"), SAY, FINDS, LookUp("reset")),
        (Unknown("reset"), SAY, BLIND, HoldBack("reset")),
        (Unknown("reset"), EDIT, BLIND, Retry(1.0, "reset")),
        (Unknown("reset"), REACT, BLIND, Retry(1.0, "reset")),
        (Unknown("reset"), Remove("5"), BLIND, Retry(1.0, "reset")),
        (Unknown("reset"), Open(Part(ROUTE, "…")), BLIND, Forget("reset")),
    ],
)
def test_what_follows_from_an_outcome(outcome, operation, recognises, verdict):
    """DE-31, DE-32, DE-13, OD-62, DU-3."""
    assert judge(outcome, operation, recognises, tries=1) == verdict


def test_an_answer_whose_thread_and_question_are_gone_is_said_without_both():
    """CH-24, CH-21: a question that was deleted while it was answered."""
    operation = Say(Part(ROUTE, "hi", opens=NewThread("7", "hi")))
    first = judge(Rejected("no", "thread"), operation, KEYS, tries=1)
    assert first == Retry(0, "no", counted=False, omits="thread")
    then = judge(Rejected("gone", "target"), operation, KEYS, tries=2, omitted=frozenset({"thread"}))
    assert then == Retry(0, "gone", counted=False, omits="target")
    both = frozenset({"thread", "target"})
    assert judge(Rejected("gone", "target"), operation, KEYS, tries=3, omitted=both) == GiveUp("gone")


@pytest.mark.parametrize(
    ("outcome", "operation", "omitted"),
    [
        (Rejected("bad", "formatting"), FORMATTED, {"formatting"}),
        (Rejected("bad", "formatting"), SAY, {"formatting"}),
        (Rejected("gone", "target"), REPLY, {"target"}),
        (Rejected("gone", "target"), EDIT, {"message"}),
        (Rejected("gone", "target"), Amend("5", Part(ROUTE, "hi", reply_to="7")), {"message", "target"}),
    ],
)
def test_each_thing_is_omitted_once(outcome, operation, omitted):
    """DE-13, OD-62: once, for that chunk only."""
    assert isinstance(judge(outcome, operation, BLIND, tries=2, omitted=frozenset(omitted)), GiveUp)


def test_an_edit_that_became_a_message_is_one():
    """DU-3: it may have arrived, and said again it would stand twice."""
    became = frozenset({"message"})
    assert judge(Unknown("reset"), EDIT, BLIND, tries=1, omitted=became) == HoldBack("reset")


def test_pauses_grow_and_end():
    """DE-32: back-off with jitter; given up in the end."""
    pauses = [judge(RetryAfter(None, "x"), SAY, BLIND, tries=n, jitter=0.5).seconds for n in range(1, MOST_TRIES)]
    assert pauses[:4] == [1, 2, 4, 8]
    assert pauses[-1] == 30
    assert sum(pauses) > 1000
    assert isinstance(judge(RetryAfter(None, "x"), SAY, BLIND, tries=MOST_TRIES), GiveUp)
    jittered = {judge(RetryAfter(None, "x"), SAY, BLIND, tries=3, jitter=j).seconds for j in (0.0, 0.9)}
    assert jittered == {2.0, 5.6}


def test_resend_is_for_who_would_rather_have_it_twice():
    """DU-3: `on_unknown = "resend"`."""
    assert judge(Unknown("x"), SAY, BLIND, tries=1, on_unknown="resend") == Retry(1.0, "x")


OPENING = Open(Part(ROUTE, "…"))
LAST = MOST_LOOKS


@pytest.mark.parametrize(
    ("found", "operation", "looks", "on_unknown", "verdict"),
    [
        (Delivered("9", ROUTE), SAY, 1, "hold", Arrived("9", ROUTE)),
        (Delivered("9"), OPENING, LAST, "hold", Arrived("9")),
        (RetryAfter(None, "it is not there"), SAY, 1, "hold", Retry(0.0, "reset")),
        (RetryAfter(7, "it is not there"), SAY, LAST, "hold", Retry(0.0, "reset")),
        (RetryAfter(7, "429", limited=True), SAY, LAST, "hold", LookAgain(7, counted=False)),
        (RetryAfter(None, "429", True, True), SAY, 1, "hold", LookAgain(1.0, counted=False, everywhere=True)),
        (Unknown("502"), SAY, 1, "hold", LookAgain(1.0)),
        (Unknown("502"), SAY, LAST - 1, "resend", LookAgain(LAST - 1)),
        (Unknown("502"), SAY, LAST, "hold", HoldBack("reset")),
        (Unknown("502"), SAY, LAST, "resend", Resend()),
        (Unknown("502"), OPENING, LAST, "resend", Forget("reset")),
        (Rejected("not found"), OPENING, 1, "hold", Forget("not found")),
        (Rejected("missing access"), SAY, 1, "hold", LookAgain(1.0)),
        (Rejected("missing access"), SAY, LAST, "hold", HoldBack("reset")),
        (Rejected("missing access"), SAY, LAST, "resend", Resend()),
    ],
)
def test_what_follows_from_a_look(found, operation, looks, on_unknown, verdict):
    """DU-3: sent again only where it is surely not there, or as configured; no message is dropped without a word."""
    assert judge_look(found, operation, "reset", looks=looks, on_unknown=on_unknown) == verdict
