"""Bugs that gateways of this kind have had, each held off by name."""

from rejoinder.turns.backlog import Summary
from rejoinder.turns.lane import Lane, may_speak, step
from rejoinder.turns.modes import Mode, QueueSettings
from rejoinder.turns.phases import Phase
from rejoinder.turns.signals import (
    Abort,
    DebounceElapsed,
    MessageArrived,
    RunEnded,
    RunStarted,
    Start,
    Steer,
    SteerRefused,
    SteerTaken,
    Stop,
)
from tests.turns.world import message, world

A, B, C, D, E = (message(n) for n in range(5))


def test_collect_that_never_collects_because_the_channel_serialised_first() -> None:
    """TU-8: messages reach the lane while the run is active, so three texts of a busy period are one turn."""
    now = world(QueueSettings())
    for event in (
        MessageArrived(A),
        RunStarted(1),
        MessageArrived(B),
        MessageArrived(C),
        MessageArrived(D),
        DebounceElapsed("m3"),
        RunEnded(1),
    ):
        now = now.after(event)
    assert now.inside == ("m1", "m2", "m3")
    assert now.lane.run == 2


def test_the_overflow_summary_that_eats_a_message() -> None:
    """TU-5: cap 2 and four messages in followup: the summary is a heading, both that stay run."""
    lane = Lane(settings=QueueSettings(mode=Mode.FOLLOWUP, cap=2, debounce_ms=0))
    for event in (
        MessageArrived(A),
        RunStarted(1),
        MessageArrived(B),
        MessageArrived(C),
        MessageArrived(D),
        MessageArrived(E),
    ):
        lane, _ = step(lane, event)
    lane, first = step(lane, RunEnded(1))
    lane, second = step(lane, RunEnded(2))
    assert first == (Start(2, ("m3",), overflow=Summary(2, ("text 1", "text 2"))),)
    assert second == (Start(3, ("m4",)),)


def test_an_item_enqueued_just_after_the_drain() -> None:
    """TU-9: the last message is taken and the lane set free in one step; who comes then starts a run."""
    lane = Lane(settings=QueueSettings(debounce_ms=0))
    for event in (MessageArrived(A), RunStarted(1), MessageArrived(B), RunEnded(1), RunStarted(2), RunEnded(2)):
        lane, _ = step(lane, event)
    assert lane.phase is Phase.IDLE
    assert step(lane, MessageArrived(C))[1] == (Start(3, ("m2",)),)


def test_an_answer_of_the_previous_turn_sent_again_after_a_stop() -> None:
    """IN-70: a stopped run may not speak any more, even before it has ended; nor the one before it."""
    lane = Lane()
    for event in (MessageArrived(A), RunStarted(1), RunEnded(1), MessageArrived(B), RunStarted(2)):
        lane, _ = step(lane, event)
    assert may_speak(lane, 2)
    lane, asked = step(lane, Stop())
    assert asked == (Abort(2),)
    assert not may_speak(lane, 2)
    lane, _ = step(lane, RunEnded(2))
    lane, asked = step(lane, MessageArrived(C))
    assert asked == (Start(3, ("m2",), after_abort=True),)
    assert [run for run in range(4) if may_speak(lane, run)] == [3]


def test_a_late_reply_of_an_abandoned_run_answers_the_next_question() -> None:
    """TU-20: its lease ran out, the next run is at work; whatever the old one says or reports is nobody's."""
    lane = Lane(settings=QueueSettings(mode=Mode.STEER))
    for event in (MessageArrived(A), RunStarted(1, can_steer=True), RunEnded(1), MessageArrived(B)):
        lane, _ = step(lane, event)
    assert not may_speak(lane, 1)
    for late in (RunStarted(1), RunEnded(1), SteerTaken(1, ("m1",)), SteerRefused(1, ("m1",))):
        assert step(lane, late) == (lane, ())


def test_steering_lost_between_drain_and_finalise() -> None:
    """TU-9: the run ends while an offer is open; the lane waits for the answer, then runs it or not."""
    lane = Lane(settings=QueueSettings(mode=Mode.STEER, debounce_ms=0))
    for event in (MessageArrived(A), RunStarted(1, can_steer=True), MessageArrived(B)):
        lane, asked = step(lane, event)
    assert asked == (Steer(1, ("m1",)),)
    lane, asked = step(lane, RunEnded(1))
    assert asked == ()
    assert lane.phase is Phase.SETTLING
    assert step(lane, SteerRefused(1, ("m1",)))[1] == (Start(2, ("m1",)),)
    taken, asked = step(lane, SteerTaken(1, ("m1",)))
    assert not any(isinstance(action, Start) for action in asked)
    assert taken.phase is Phase.IDLE


def test_one_queued_message_that_switches_steering_off_for_all_that_follow() -> None:
    """TU-3: what a run refused is offered again, in order, with the next message."""
    lane = Lane(settings=QueueSettings(mode=Mode.STEER, debounce_ms=0))
    started = (MessageArrived(A), RunStarted(1, can_steer=True), MessageArrived(B), SteerRefused(1, ("m1",)))
    for event in started:
        lane, _ = step(lane, event)
    assert step(lane, MessageArrived(C))[1] == (Steer(1, ("m1", "m2")),)
