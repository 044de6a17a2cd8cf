"""The typing sign: when it shows, and that it cannot stick."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.outbound.typing import (
    Action,
    Closed,
    Event,
    Show,
    Sign,
    SignOfLife,
    Typing,
    TypingPhase,
    WakeAfter,
    Woke,
    mode_for,
    step,
)
from rejoinder.session import TypingMode

RUN, THOUGHT, TEXT, TOOL = SignOfLife("run"), SignOfLife("thought"), SignOfLife("text"), SignOfLife("tool")


def after(typing: Typing, *events: Event) -> tuple[Typing, tuple[Action, ...]]:
    asked: tuple[Action, ...] = ()
    for event in events:
        typing, actions = step(typing, event)
        asked += actions
    return typing, asked


@pytest.mark.parametrize(
    ("mode", "sign", "starts"),
    [
        ("never", "text", False),
        ("instant", "run", True),
        ("thinking", "run", False),
        ("thinking", "tool", False),
        ("thinking", "thought", True),
        ("thinking", "text", True),
        ("message", "thought", False),
        ("message", "tool", False),
        ("message", "text", True),
    ],
)
def test_what_each_mode_waits_for(mode: TypingMode, sign: Sign, starts: bool) -> None:
    """TU-24: and it starts 0.4 s later."""
    assert step(Typing(mode), SignOfLife(sign))[1] == ((WakeAfter(400),) if starts else ())


@pytest.mark.parametrize(
    ("configured", "direct", "mentioned", "heartbeat", "mode"),
    [
        (None, True, False, False, "instant"),
        (None, False, True, False, "instant"),
        (None, False, False, False, "message"),
        ("thinking", True, True, False, "thinking"),
        ("instant", True, True, True, "never"),
    ],
)
def test_which_mode_applies(
    configured: TypingMode | None, direct: bool, mentioned: bool, heartbeat: bool, mode: TypingMode
) -> None:
    """TU-24."""
    assert mode_for(configured, direct=direct, mentioned=mentioned, heartbeat=heartbeat) == mode


def test_it_is_shown_again_each_period() -> None:
    """TU-24."""
    _, asked = after(Typing("instant"), RUN, Woke(), Woke())
    assert asked == (WakeAfter(400), Show(), WakeAfter(6000), Show(), WakeAfter(6000))


def test_a_fast_answer_shows_no_sign() -> None:
    """TU-24: the scope ended before the sign began."""
    assert after(Typing("instant"), RUN, Closed(), Woke())[1] == (WakeAfter(400),)


def test_two_silent_minutes_pause_it_and_life_brings_it_back() -> None:
    """TU-24: a long tool does not end the sign for good."""
    typing, asked = after(Typing("instant"), RUN, *[Woke()] * 21)
    assert asked.count(Show()) == 20
    assert typing.phase is TypingPhase.PAUSED
    assert step(typing, TOOL)[1] == (Show(), WakeAfter(6000))


def test_life_puts_the_pause_off() -> None:
    """TU-24."""
    typing, _ = after(Typing("instant"), RUN, *[Woke()] * 20, TEXT, Woke())
    assert typing.phase is TypingPhase.SHOWING


@given(
    st.lists(st.sampled_from([RUN, THOUGHT, TEXT, TOOL, Woke()])),
    st.lists(st.sampled_from([RUN, TEXT, Woke()])),
)
def test_it_cannot_stick(before: list[Event], later: list[Event]) -> None:
    """TU-24: once off it stays off, whatever comes late; and at most one timer is ever set."""
    typing = Typing("instant")
    timers = 0
    for event in before:
        if event == Woke():
            if not timers:
                continue
            timers -= 1
        typing, actions = step(typing, event)
        timers += sum(isinstance(action, WakeAfter) for action in actions)
        assert timers <= 1
    assert after(typing, Closed(), *later)[1] == ()
