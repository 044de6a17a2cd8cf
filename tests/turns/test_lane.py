"""What a lane does, mode by mode."""

from typing import get_args

import pytest

from rejoinder.turns.backlog import LINE_LENGTH, QueuedMessage, Summary
from rejoinder.turns.lane import Decision, Lane, step
from rejoinder.turns.modes import DropPolicy, Grouping, Mode, QueueSettings
from rejoinder.turns.phases import ON_ARRIVAL, ON_EVENT, Phase
from rejoinder.turns.signals import (
    Abort,
    Action,
    DebounceElapsed,
    Discard,
    Event,
    MessageArrived,
    QueueSettingsChanged,
    RunEnded,
    RunStarted,
    Start,
    Steer,
    Steered,
    SteerRefused,
    SteerTaken,
    Stop,
    Summarise,
    WakeAfter,
)
from tests.turns.world import HERE, THERE, message, with_waiting

A, B, C, D, E = (message(n) for n in range(5))


def told(lane: Lane, *events: Event) -> Decision:
    """The lane after these events, and everything it asked for on the way."""
    asked: tuple[Action, ...] = ()
    for event in events:
        lane, actions = step(lane, event)
        asked += actions
    return lane, asked


def arrivals(*messages: QueuedMessage) -> tuple[MessageArrived, ...]:
    return tuple(MessageArrived(each) for each in messages)


def running(
    mode: Mode = Mode.COLLECT, *, can_steer: bool = False, first: QueuedMessage = A, **settings: object
) -> Lane:
    lane = Lane(settings=QueueSettings(mode=mode, **settings))
    return told(lane, MessageArrived(first), RunStarted(1, can_steer))[0]


def turns(actions: tuple[Action, ...]) -> list[tuple[str, ...]]:
    return [action.ids for action in actions if isinstance(action, Start)]


# --- the tables ---------------------------------------------------------------------------------


def test_every_phase_has_an_answer_in_every_mode() -> None:
    """TU-3: the table of arrivals is total."""
    assert set(ON_ARRIVAL) == {(phase, mode) for phase in Phase for mode in Mode}


def test_every_phase_has_an_answer_to_every_event() -> None:
    """The table of events is total; an arrival's answer is in its own table."""
    events = set(get_args(Event)) - {MessageArrived}
    assert set(ON_EVENT) == {(phase, event) for phase in Phase for event in events}


# --- starting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", Mode)
def test_the_first_message_of_an_idle_lane_starts_at_once(mode: Mode) -> None:
    """TU-1: no debounce, no timer, in no mode."""
    assert step(Lane(settings=QueueSettings(mode=mode)), MessageArrived(A))[1] == (Start(1, ("m0",)),)


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.INTERRUPT])
def test_what_has_been_quiet_during_the_run_starts_when_it_ends(mode: Mode) -> None:
    """TU-9: the debounce runs beside the run, not after it."""
    lane, _ = told(running(mode), MessageArrived(B), DebounceElapsed("m1"))
    assert step(lane, RunEnded(1))[1] == (Start(2, ("m1",)),)


# --- the modes ----------------------------------------------------------------------------------


def test_followup_runs_one_turn_per_message() -> None:
    """TU-3."""
    lane, asked = told(running(Mode.FOLLOWUP), *arrivals(B, C), DebounceElapsed("m2"), RunEnded(1), RunEnded(2))
    assert turns(asked) == [("m1",), ("m2",)]
    assert lane.phase is Phase.STARTING


def test_queue_waits_for_no_quiet_and_knows_no_cap() -> None:
    """TU-3: plain FIFO."""
    _, asked = told(running(Mode.QUEUE, cap=1), *arrivals(B, C, D), RunEnded(1), RunEnded(2), RunEnded(3))
    assert asked == (Start(2, ("m1",)), Start(3, ("m2",)), Start(4, ("m3",)))


def test_collect_gathers_until_quiet() -> None:
    """TU-3: messages that came during the run, and those that follow before it is quiet, are one turn."""
    lane, asked = told(
        running(), *arrivals(B, C), DebounceElapsed("m1"), RunEnded(1), MessageArrived(D), DebounceElapsed("m2")
    )
    assert lane.phase is Phase.GATHERING
    assert asked == (WakeAfter(1000, "m1"), WakeAfter(1000, "m2"), WakeAfter(1000, "m3"))
    assert step(lane, DebounceElapsed("m3"))[1] == (Start(2, ("m1", "m2", "m3")),)


def test_collect_gathers_only_one_route() -> None:
    """TU-3: an answer goes to one place, so a turn comes from one; order is kept."""
    there = message(2, route=THERE)
    _, asked = told(
        running(), *arrivals(B, there, D), DebounceElapsed("m3"), RunEnded(1), RunEnded(2), RunEnded(3), RunEnded(4)
    )
    assert turns(asked) == [("m1",), ("m2",), ("m3",)]


def test_interrupt_aborts_and_starts_with_the_newest_when_the_run_has_ended() -> None:
    """TU-3, TU-1: never two runs; what waited is discarded, and the prompt says so."""
    lane, asked = told(running(Mode.INTERRUPT), MessageArrived(B), MessageArrived(C))
    assert asked == (Abort(1), Discard(("m1",), "interrupted"))
    passed_over = Summary(1, ("text 1",))
    assert step(lane, RunEnded(1))[1] == (Start(2, ("m2",), passed_over=passed_over, after_abort=True),)


def test_an_interrupt_while_nothing_runs_needs_no_abort() -> None:
    """TU-3: what was gathering is passed over, the newest starts."""
    lane, _ = told(running(), MessageArrived(B), RunEnded(1))
    inline = message(2, settings=QueueSettings(mode=Mode.INTERRUPT))
    asked = step(lane, MessageArrived(inline))[1]
    assert asked == (
        Discard(("m1",), "interrupted"),
        Start(2, ("m2",), passed_over=Summary(1, ("text 1",))),
    )


def test_steer_offers_what_comes_and_names_it_when_taken() -> None:
    """TU-3: one offer at a time, the next when it is answered, so order holds inside the run too."""
    lane, asked = told(running(Mode.STEER, can_steer=True, debounce_ms=0), *arrivals(B, C, D))
    assert asked == (Steer(1, ("m1",)),)
    lane, asked = told(lane, SteerTaken(1, ("m1",)), SteerTaken(1, ("m2", "m3")), RunEnded(1))
    assert asked == (Steered(1, ("m1",)), Steer(1, ("m2", "m3")), Steered(1, ("m2", "m3")))
    assert lane.phase is Phase.IDLE


@pytest.mark.parametrize("mode", [Mode.STEER, Mode.STEER_BACKLOG])
def test_an_agent_that_cannot_steer_gets_it_as_followup(mode: Mode) -> None:
    """TU-3: the ability is an input."""
    _, asked = told(running(mode, can_steer=False, debounce_ms=0), *arrivals(B, C), RunEnded(1), RunEnded(2))
    assert asked == (Start(2, ("m1",)), Start(3, ("m2",)))


@pytest.mark.parametrize("mode", [Mode.STEER, Mode.STEER_BACKLOG])
def test_what_came_before_the_agent_began_is_offered_when_it_begins(mode: Mode) -> None:
    """TU-3."""
    lane, _ = told(Lane(settings=QueueSettings(mode=mode, debounce_ms=0)), MessageArrived(A), MessageArrived(B))
    assert step(lane, RunStarted(1, can_steer=True))[1] == (Steer(1, ("m1",)),)


def test_what_a_run_refused_is_offered_again_with_the_next_arrival() -> None:
    """`steer`: one refusal, in a compaction say, does not end steering for this run."""
    _, asked = told(
        running(Mode.STEER, can_steer=True, debounce_ms=0),
        MessageArrived(B),
        SteerRefused(1, ("m1",)),
        MessageArrived(C),
    )
    assert asked == (Steer(1, ("m1",)), Steer(1, ("m1", "m2")))


def test_a_backlog_is_not_offered_again() -> None:
    """`steer-backlog`: what was not taken in runs as followup, not into a later run, and nothing overtakes it."""
    _, asked = told(
        running(Mode.STEER_BACKLOG, can_steer=True, debounce_ms=0),
        *(
            MessageArrived(B),
            SteerRefused(1, ("m1",)),
            MessageArrived(C),
            RunEnded(1),
            RunStarted(2, can_steer=True),
            RunEnded(2),
        ),
    )
    assert asked == (Steer(1, ("m1",)), Start(2, ("m1",)), Start(3, ("m2",)))


def test_a_message_of_another_route_is_not_steered() -> None:
    """TU-3: the run would answer it in the wrong place."""
    lane = running(Mode.STEER, can_steer=True, debounce_ms=0)
    assert step(lane, MessageArrived(message(1, route=THERE)))[1] == ()


def test_an_inline_directive_decides_for_its_message_alone() -> None:
    """TU-4."""
    alone = message(2, settings=QueueSettings(mode=Mode.FOLLOWUP))
    lane, asked = told(running(), *arrivals(B, alone, D, E), DebounceElapsed("m4"))
    asked += told(lane, RunEnded(1), RunEnded(2), RunEnded(3))[1]
    assert turns(asked) == [("m1",), ("m2",), ("m3", "m4")]


# --- change, stop, restart ----------------------------------------------------------------------


def test_a_change_of_mode_keeps_what_waits_and_ends_the_wait() -> None:
    """TU-4."""
    lane, _ = told(running(), *arrivals(B, C), RunEnded(1))
    assert lane.phase is Phase.GATHERING
    lane, asked = step(lane, QueueSettingsChanged(QueueSettings(mode=Mode.QUEUE)))
    assert asked == (Start(2, ("m1",)),)
    assert step(lane, RunEnded(2))[1] == (Start(3, ("m2",)),)


def test_a_change_to_steer_offers_what_waits() -> None:
    """TU-4."""
    lane, _ = told(running(can_steer=True), *arrivals(B, C))
    assert step(lane, QueueSettingsChanged(QueueSettings(mode=Mode.STEER)))[1] == (Steer(1, ("m1", "m2")),)


def test_stop_aborts_the_run_and_clears_the_lane() -> None:
    """IN-70, IN-71: nothing that waited runs; the next prompt, and only that one, tells of the abort."""
    lane, asked = told(running(cap=2), *arrivals(B, C, D), Stop(), RunEnded(1), MessageArrived(E))
    assert asked[-3:] == (Discard(("m2", "m3"), "stopped"), Abort(1), Start(2, ("m4",), after_abort=True))
    assert told(lane, RunEnded(2), MessageArrived(A))[1] == (Start(3, ("m0",)),)


def test_a_late_stop_keeps_what_came_after_it() -> None:
    """SC-15: it runs next; an offer of it to the run is over, whatever the agent still says."""
    lane, asked = told(running(Mode.QUEUE), *arrivals(B, C, D), Stop(("m2", "m3")))
    assert asked[-2:] == (Discard(("m1",), "stopped"), Abort(1))
    assert step(lane, RunEnded(1))[1] == (Start(2, ("m2",), after_abort=True),)
    offered, _ = told(running(Mode.STEER, can_steer=True, debounce_ms=0), *arrivals(B))
    lane, asked = step(offered, Stop(("m1",)))
    assert asked == (Abort(1),)
    assert step(lane, SteerTaken(1, ("m1",))) == (lane, ())
    settling, _ = step(offered, RunEnded(1))
    assert step(settling, Stop(("m1",)))[1] == (Start(2, ("m1",)),)


def test_stop_on_an_idle_lane_does_nothing() -> None:
    """IN-70."""
    assert step(Lane(), Stop()) == (Lane(), ())


# --- overflow -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drop", "goes", "stays"),
    [
        (DropPolicy.OLD, Discard(("m1",), "overflow"), ("m2", "m3")),
        (DropPolicy.NEW, Discard(("m3",), "overflow"), ("m1", "m2")),
        (DropPolicy.SUMMARIZE, Summarise(("m1",)), ("m2", "m3")),
    ],
)
def test_who_pays_when_the_backlog_is_full(drop: DropPolicy, goes: Action, stays: tuple[str, ...]) -> None:
    """TU-5."""
    lane, asked = told(running(cap=2, drop=drop), *arrivals(B, C, D))
    assert goes in asked
    assert tuple(each.message.id for each in lane.waiting) == stays


def test_a_summary_counts_all_and_keeps_as_many_lines_as_the_cap() -> None:
    """TU-5: one line of 160 characters each, at most cap lines, the full count."""
    long = message(2, text="much\n to   say " * 40)
    lane, _ = told(running(cap=2), *arrivals(B, long, D, E, message(5)), DebounceElapsed("m5"))
    (start,) = step(lane, RunEnded(1))[1]
    assert isinstance(start, Start)
    assert start.ids == ("m4", "m5")
    assert start.overflow.count == 3
    first, second = start.overflow.lines
    assert first.startswith("much to say much")
    assert first.endswith("…")
    assert len(first) <= LINE_LENGTH
    assert second == "text 3"


def test_a_message_in_flight_is_never_evicted() -> None:
    """TU-5: neither the turn nor what has been offered to the run."""
    lane, asked = told(
        running(Mode.STEER, can_steer=True, debounce_ms=0, cap=1, drop=DropPolicy.OLD), *arrivals(B, C, D)
    )
    assert asked == (Steer(1, ("m1",)), Discard(("m2",), "overflow"))
    assert step(lane, SteerTaken(1, ("m1",)))[1] == (Steered(1, ("m1",)), Steer(1, ("m3",)))


def test_lowering_the_cap_loses_nothing_that_waits() -> None:
    """TU-4: an arrival costs at most one message."""
    lane, _ = told(running(), *arrivals(B, C, D), QueueSettingsChanged(QueueSettings(cap=1)))
    assert len(lane.waiting) == 3
    lane, asked = step(lane, MessageArrived(E))
    assert Summarise(("m1",)) in asked
    assert len(lane.waiting) == 3


def test_somebody_who_never_pauses_is_heard_when_the_backlog_is_full() -> None:
    """TU-5: while nothing runs, a full buffer starts; it does not overflow."""
    lane, _ = told(running(Mode.FOLLOWUP, cap=2), MessageArrived(B), RunEnded(1))
    assert step(lane, MessageArrived(C))[1] == (WakeAfter(1000, "m2"), Start(2, ("m1",)))


# --- batches ------------------------------------------------------------------------------------


def test_each_sender_has_an_own_buffer_and_an_own_turn() -> None:
    """TU-6: one answer to three senders drops somebody; the oldest head goes first."""
    b1, b2 = message(1, sender="bob"), message(3, sender="bob")
    c1, c2 = message(2, sender="cem"), message(4, sender="cem")
    lane, asked = told(
        running(grouping=Grouping.SENDER),
        *arrivals(b1, c1, b2, c2),
        DebounceElapsed("m3"),
        DebounceElapsed("m4"),
        RunEnded(1),
    )
    asked += step(lane, RunEnded(2))[1]
    assert turns(asked) == [("m1", "m3"), ("m2", "m4")]


def test_a_quiet_sender_does_not_wait_for_a_busy_one() -> None:
    """TU-6: each buffer has its own quiet."""
    bob, cem = message(1, sender="bob"), message(2, sender="cem")
    _, asked = told(running(grouping=Grouping.SENDER), *arrivals(bob, cem), DebounceElapsed("m2"), RunEnded(1))
    assert turns(asked) == [("m2",)]


def test_only_the_runs_own_sender_is_steered_into_it() -> None:
    """TU-6: and somebody else's waiting message does not stand in the way."""
    lane = running(Mode.STEER, can_steer=True, debounce_ms=0, grouping=Grouping.SENDER)
    assert told(lane, MessageArrived(message(1, sender="bob")), MessageArrived(C))[1] == (Steer(1, ("m2",)),)


@pytest.mark.parametrize(
    ("tokens", "batches"),
    [
        ((1, 1, 1, 1), [(0, 1, 2), (3,)]),
        ((6, 4, 1, 1), [(0, 1), (2, 3)]),
        ((50, 1, 1, 1), [(0,), (1, 2, 3)]),
        ((1, 50, 1, 1), [(0,), (1,), (2, 3)]),
    ],
)
def test_batches_end_at_their_limits(tokens: tuple[int, ...], batches: list[tuple[int, ...]]) -> None:
    """TU-6: three messages or ten tokens here; a single larger message goes alone, and what follows too."""
    waiting = tuple(message(n, tokens=each) for n, each in enumerate(tokens))
    lane, asked = with_waiting(QueueSettings(max_batch=3, max_batch_tokens=10), waiting, 0, Summary())
    while lane.phase is not Phase.IDLE:
        lane, actions = step(lane, RunEnded(lane.run))
        asked += actions
    assert turns(asked) == [tuple(f"m{n}" for n in batch) for batch in batches]


def test_a_full_batch_does_not_wait_for_quiet() -> None:
    """TU-6: nothing could join it any more."""
    lane, _ = told(running(max_batch=2), MessageArrived(B), RunEnded(1))
    assert step(lane, MessageArrived(C))[1] == (WakeAfter(1000, "m2"), Start(2, ("m1", "m2")))


def test_a_message_the_lane_holds_arrives_only_once() -> None:
    """TU-2: the same id again is the same message."""
    lane = told(running(), MessageArrived(B))[0]
    assert told(lane, MessageArrived(A), MessageArrived(B)) == (lane, ())
    assert lane.turn[0].route == HERE


# --- work on the session itself -----------------------------------------------------------------

CHORE = QueuedMessage("chore", HERE, "anna", "/compact", settings=QueueSettings(mode=Mode.QUEUE), chore=True)


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.INTERRUPT])
def test_a_chore_is_done_in_its_place(mode: Mode) -> None:
    """TU-1, TU-23: by itself, after what came before it, before what came after it; no run takes it in."""
    lane, asked = told(running(mode, can_steer=True, debounce_ms=0), *arrivals(B, CHORE, C))
    steered = [action for action in asked if isinstance(action, Steer)]
    lane, more = told(lane, *(SteerTaken(steer.run, steer.ids) for steer in steered), RunEnded(1))
    asked += more
    while lane.phase is not Phase.IDLE:
        lane, more = told(lane, RunStarted(lane.run), RunEnded(lane.run))
        asked += more
    taken = [id for action in asked if isinstance(action, Start | Steered) for id in action.ids]
    assert taken == [B.id, CHORE.id, C.id]
    assert (CHORE.id,) in turns(asked)


def test_a_chore_tells_nothing_and_leaves_it_to_the_next_turn() -> None:
    """TU-5, IN-71: what was summarised, and that a run was aborted, is for an agent to hear."""
    lane = running(Mode.FOLLOWUP, cap=1, debounce_ms=0)
    lane, _ = told(lane, *arrivals(B, C))
    lane, asked = told(lane, MessageArrived(CHORE), RunEnded(1), RunStarted(2), RunEnded(2))
    assert turns(asked) == [(C.id,), (CHORE.id,)]
    lane, _ = told(running(), Stop(), RunEnded(1))
    lane, (chore,) = step(lane, MessageArrived(CHORE))
    assert chore == Start(2, (CHORE.id,))
    lane, (after,) = told(lane, RunEnded(2), MessageArrived(B))
    assert after == Start(3, (B.id,), after_abort=True)


def test_a_chore_that_is_stopped_is_no_run_that_was_aborted() -> None:
    """IN-71: the agent was asked nothing."""
    lane, _ = told(Lane(), MessageArrived(CHORE), RunStarted(1), Stop(), RunEnded(1), MessageArrived(B))
    assert step(told(Lane(), MessageArrived(CHORE), RunStarted(1), Stop(), RunEnded(1))[0], MessageArrived(B))[1] == (
        Start(2, (B.id,)),
    )
    assert not lane.after_abort


@pytest.mark.parametrize("drop", [DropPolicy.OLD, DropPolicy.SUMMARIZE])
def test_nobody_pays_with_a_chore(drop: DropPolicy) -> None:
    """TU-5, TU-23: a full line costs a message, and an interruption tells of messages alone."""
    lane, _ = told(running(Mode.FOLLOWUP, cap=1, drop=drop), *arrivals(CHORE, B, C))
    assert [each.message.id for each in lane.waiting] == [CHORE.id, C.id]
    lane, _ = told(running(Mode.INTERRUPT), MessageArrived(CHORE), MessageArrived(B))
    assert lane.passed_over.count == 0
