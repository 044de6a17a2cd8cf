"""The oracles find what they are for, and nothing else."""

import pytest

from rejoinder.channels.base import Limits
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.truth import Call, Frame

EXPECTED = {"ann": ["#1", "#2"], "bob": ["#3"]}


def said(chat, text, message="", kind="message", **more):
    return Frame(0.0, chat, kind, message=message or text, text=text, **more)


GOOD = [
    Frame(0.0, "ann", "message", "ann", "7", "question [[not ours]]"),
    Frame(0.0, "ann", "typing"),
    said("ann", "answer #1"),
    said("ann", "answer", "8"),
    said("ann", "answer #2", "8", "edit"),
    said("bob", "answer #3"),
]


def test_a_good_run_is_clean():
    verdict = oracles.judge(GOOD, EXPECTED, "telegram")
    assert verdict.is_clean, verdict
    assert verdict.messages == 3


@pytest.mark.parametrize(
    ("oracle", "frames"),
    [
        ("lost", GOOD[:-1]),
        ("lost", [*GOOD, said("bob", "", "answer #3", "delete")]),
        ("duplicated", [*GOOD, said("bob", "again #3")]),
        ("wrong_chat", [*GOOD, said("bob", "#1", "9"), said("bob", "", "9", "delete")]),
        ("out_of_order", [*GOOD[3:], GOOD[2]]),
        ("out_of_order", [said("ann", "#1", place=5), said("ann", "#2", place=4), said("bob", "#3", place=6)]),
        ("leaked", [*GOOD, said("bob", "[[reply_to:4]] hi", "9"), said("bob", "hi", "9", "edit")]),
        ("leaked", [*GOOD, said("bob", "hi <react")]),
        ("typing_after_final", [*GOOD, Frame(0.0, "bob", "typing")]),
        ("over_length", [*GOOD, said("bob", "😀" * 2049)]),
        ("mentions_fired", [*GOOD, said("bob", "@carl", pinged=("@carl",))]),
    ],
)
def test_what_is_wrong_is_found(oracle, frames):
    """DU-22: also when it was seen for a moment only; by the one oracle that is for it."""
    verdict = oracles.judge(frames, EXPECTED, "telegram")
    wrong = {name for name in verdict.__struct_fields__[1:] if getattr(verdict, name)}
    assert wrong == {oracle}


def test_who_hears_late_of_a_message_sees_it_where_it_stands():
    """Where messages have places, it does not matter in which order people were told of them."""
    frames = [said("ann", "#2", place=5), said("ann", "#1", place=4), said("bob", "#3", place=6)]
    assert oracles.judge(frames, EXPECTED, "web").is_clean


def test_calls():
    calls = [
        Call(0.0, "send", "ann", 200, "sendMessage"),
        Call(0.0, "send", "ann", 400, "sendMessage", said="Bad Request: x"),
        Call(0.0, "send", "ann", 429, "sendMessage", too_early=True),
    ]
    assert oracles.refused(calls) == ["sendMessage: Bad Request: x"]
    assert oracles.too_early(calls) == ["sendMessage to ann"]


def test_no_limit_no_finding():
    assert not oracles.over_length([said("ann", "x" * 10_000)], Limits())
