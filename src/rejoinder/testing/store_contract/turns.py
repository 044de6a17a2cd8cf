"""Turns and runs: one at a time in a session, and no late word of an ended one."""

from pathlib import Path

from rejoinder.events import Route
from rejoinder.store.base import (
    Accept,
    BeginTurn,
    Busy,
    CloseTurn,
    CountEventAttempts,
    Destination,
    DropInputs,
    EndRun,
    PlanParts,
    QuarantineTurn,
    ReleaseRun,
    ResumeTurn,
    ReviseInput,
    RouteEvent,
    RunClaim,
    SettleEvent,
    SteerInputs,
    SummariseInputs,
)
from rejoinder.testing.store_contract.given import (
    HERE,
    NOW,
    SOON,
    THREAD,
    accepted,
    an_inbound,
    an_intent,
    begun,
    loses,
    waiting,
)
from rejoinder.testing.store_contract.opened import Opened


class Turns(Opened):
    async def test_one_active_run_for_a_session(self, tmp_path: Path) -> None:
        """TU-1, DU-11: a second caller is told which run is active, and waiting messages keep waiting."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            (late,) = await waiting(store, 2)
            assert await store.write(BeginTurn("s", HERE, (late,), NOW)) == Busy(run.turn)
            assert [put.event.id for put in await store.waiting_inputs("s")] == [late]
            assert isinstance(await begun(store, 3, session="another"), RunClaim)
            await store.write(EndRun(run, "answered", NOW))
            after = await store.write(BeginTurn("s", HERE, (late,), NOW))
            assert isinstance(after, RunClaim)
            assert after.generation > run.generation

    async def test_a_turn_may_bring_its_event(self, tmp_path: Path) -> None:
        """DU-12: a turn that starts at once takes its event in the same step; in a busy session the event waits, as if
        it had been routed there before."""
        async with self.opened(tmp_path) as store:
            first, second = [event.id for event in await accepted(store, 1, 2)]
            begins = BeginTurn("s", HERE, (first,), NOW, brings=b"first")
            run, _ = await store.write(begins, RouteEvent(first, ()))
            assert isinstance(run, RunClaim)
            assert await store.waiting_inputs("s") == ()
            (taken,) = await store.inputs_of(first)
            assert (taken.state, taken.turn, taken.payload) == ("taken", run.turn, b"first")
            busy, _ = await store.write(BeginTurn("s", HERE, (second,), NOW, brings=b"second"), RouteEvent(second, ()))
            assert busy == Busy(run.turn)
            assert [(put.event.id, put.payload) for put in await store.waiting_inputs("s")] == [(second, b"second")]
            await store.write(EndRun(run, "answered", NOW))
            assert isinstance(await store.write(BeginTurn("s", HERE, (second,), NOW)), RunClaim)

    async def test_a_message_is_in_one_turn_of_a_session(self, tmp_path: Path) -> None:
        """DU-11: a turn cannot begin with an event that was taken, dropped, or never routed to the session."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            await store.write(EndRun(run, "answered", NOW))
            (dropped,) = await waiting(store, 2)
            await store.write(DropInputs("s", (dropped,), "stopped"))
            taken = await store.turn(run.turn)
            assert taken is not None
            for event in (taken.inputs[0].event.id, dropped, 999):
                await loses(store, BeginTurn("s", HERE, (event,), NOW))

    async def test_every_input_ends_with_a_name(self, tmp_path: Path) -> None:
        """TU-2: an input ends in a turn, steered, summarised, or dropped with a reason; the next turn has the
        summary."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            steered, summarised, dropped = await waiting(store, 2, 3, 4)
            await store.write(SteerInputs(run, (steered,)))
            await store.write(SummariseInputs("s", (summarised,)), DropInputs("s", (dropped,), "interrupted"))
            assert [(put.event.id, put.state) for put in await store.waiting_inputs("s")] == [
                (summarised, "summarised")
            ]
            await store.write(EndRun(run, "answered", NOW))
            (last,) = await waiting(store, 5)
            following = await store.write(BeginTurn("s", HERE, (last,), NOW))
            assert isinstance(following, RunClaim)
            first, second = await store.turn(run.turn), await store.turn(following.turn)
            assert first is not None
            assert second is not None
            assert [put.state for put in first.inputs] == ["taken", "steered"]
            assert [(put.event.id, put.state) for put in second.inputs] == [(summarised, "summarised"), (last, "taken")]
            assert [(put.state, put.reason) for put in await store.inputs_of(dropped)] == [("dropped", "interrupted")]

    async def test_a_run_that_was_ended_can_do_nothing_more(self, tmp_path: Path) -> None:
        """TU-20: late output of an abandoned run is discarded, whatever the run tries."""
        async with self.opened(tmp_path) as store:
            stale = await begun(store, 1)
            await store.write(ReleaseRun(stale))
            run = await store.write(ResumeTurn(stale.turn))
            assert isinstance(run, RunClaim)
            assert run.turn == stale.turn
            (more,) = await waiting(store, 2)
            for verb in (
                SteerInputs(stale, (more,)),
                PlanParts((an_intent(1),), NOW, stale),
                EndRun(stale, "answered", NOW),
                ReleaseRun(stale),
            ):
                await loses(store, verb)
            await store.write(EndRun(run, "answered", NOW))
            await loses(store, EndRun(run, "answered", NOW))

    async def test_a_turn_that_was_left_open_is_closed_though_another_runs(self, tmp_path: Path) -> None:
        """TU-20: an open turn can be closed without waiting for its session, unless somebody has claimed it."""
        async with self.opened(tmp_path) as store:
            left, answered = await begun(store, 1), await begun(store, 2, session="t")
            await store.write(PlanParts((), NOW, answered, final=True))
            for run in (left, answered):
                await loses(store, CloseTurn(run.turn, "stopped", NOW))
                await store.write(ReleaseRun(run))
                (more,) = await waiting(store, 2 + run.turn, session=run.session)
                assert isinstance(await store.write(BeginTurn(run.session, HERE, (more,), NOW)), RunClaim)
                await store.write(CloseTurn(run.turn, "stopped", NOW, "somebody stopped it"))
                await loses(store, CloseTurn(run.turn, "stopped", NOW))
                await loses(store, ResumeTurn(run.turn))
                found = await store.turn(run.turn)
                assert found is not None
                over = found.turn
                assert (over.state, over.outcome, over.detail) == ("closed", "stopped", "somebody stopped it")
                assert over.closed == NOW

    async def test_what_was_summarised_waits_for_a_turn_that_tells_of_it(self, tmp_path: Path) -> None:
        """TU-5, TU-23: a turn that asks the agent nothing leaves the summary for the next turn."""
        async with self.opened(tmp_path) as store:
            left_out, *others = await waiting(store, 1, 2, 3)
            await store.write(SummariseInputs("s", (left_out,)))
            for event, tells in zip(others, (False, True), strict=True):
                run = await store.write(BeginTurn("s", HERE, (event,), NOW, tells=tells))
                assert isinstance(run, RunClaim)
                assert [put.event.id for put in await store.waiting_inputs("s") if put.event.id == left_out] == (
                    [] if tells else [left_out]
                )
                await store.write(EndRun(run, "answered", NOW))

    async def test_a_crash_makes_suspects(self, tmp_path: Path) -> None:
        """DU-2: turns that were under way when the process died are suspects; a crash counts fully against a turn only
        if it was alone. Attempts are counted before they are made."""
        if not self.survives:
            return
        async with self.opened(tmp_path) as store:
            both = [await begun(store, 1), await begun(store, 2, session="t")]
        for attempt in (2, 3):
            async with self.opened(tmp_path) as store:
                again = await store.write(ResumeTurn(both[0].turn))
                assert isinstance(again, RunClaim)
                assert again.attempt == attempt
                assert await store.write(ResumeTurn(both[0].turn)) == Busy(both[0].turn)
        async with self.opened(tmp_path) as store:
            first, second = [left.turn for left in (await store.recover(NOW)).turns]
            assert (first.crashes, first.alone) == (3, 2)
            assert (second.crashes, second.alone) == (1, 0)

    async def test_an_event_that_is_tried_is_suspected_too(self, tmp_path: Path) -> None:
        """DU-2: a turn and an event that ran together were not alone; an event that was decided is not a suspect."""
        if not self.survives:
            return
        async with self.opened(tmp_path) as store:
            event, decided = await accepted(store, 1, 2)
            run = await begun(store, 3)
            await store.write(CountEventAttempts((event.id, decided.id)))
            await store.write(SettleEvent(decided.id, "answered"))
        async with self.opened(tmp_path) as store:
            found = await store.recover(NOW)
            assert [(each.attempts, each.alone) for each in found.events] == [(1, 0)]
            assert [(left.turn.id, left.turn.crashes, left.turn.alone) for left in found.turns] == [(run.turn, 1, 0)]
            await store.write(CountEventAttempts((event.id,)))
        async with self.opened(tmp_path) as store:
            assert [(each.attempts, each.alone) for each in (await store.recover(NOW)).events] == [(2, 1)]

    async def test_a_quarantined_turn_leaves_its_session_free(self, tmp_path: Path) -> None:
        """DU-2: a quarantined turn is left alone, and the next message gets its turn."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            await store.write(ReleaseRun(run))
            await store.write(QuarantineTurn(run.turn, NOW, "it ended the process"))
            await loses(store, QuarantineTurn(run.turn, NOW, "it ended the process"))
            await loses(store, ResumeTurn(run.turn))
            assert (await store.recover(NOW)).turns == ()
            assert isinstance(await begun(store, 2), RunClaim)

    async def test_a_drain_counts_no_attempt(self, tmp_path: Path) -> None:
        """A gateway that goes down cleanly gives the turn back as it was."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            for _ in range(5):
                await store.write(ReleaseRun(run))
                again = await store.write(ResumeTurn(run.turn))
                assert isinstance(again, RunClaim)
                assert again.attempt == 1
                run = again

    async def test_an_answered_turn_is_not_asked_again(self, tmp_path: Path) -> None:
        """DU-2: once the whole answer is planned, a crash leaves only its delivery to do, and does not count."""
        if not self.survives:
            return
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            await store.write(PlanParts((an_intent(1),), NOW, run, final=True))
        for _ in range(5):
            async with self.opened(tmp_path) as store:
                again = await store.write(ResumeTurn(run.turn))
                assert isinstance(again, RunClaim)
                assert (again.answered, again.attempt) == (True, 1)

    async def test_what_waits_can_be_revised(self, tmp_path: Path) -> None:
        """CH-8: the turn gets an edited message in its new form; a message that no longer waits does not change."""
        async with self.opened(tmp_path) as store:
            first, second = await waiting(store, 1, 2)
            await store.write(ReviseInput("s", first, b"other words"))
            payloads = {put.event.id: put.payload for put in await store.waiting_inputs("s")}
            assert payloads == {first: b"other words", second: b""}
            await store.write(BeginTurn("s", HERE, (first,), NOW))
            await loses(store, ReviseInput("s", first, b"too late"))
            await loses(store, ReviseInput("t", second, b"of another session"))
            assert [put.payload for put in await store.inputs_of(first)] == [b"other words"]

    async def test_turns_are_counted_by_chat_and_person(self, tmp_path: Path) -> None:
        """IN-33: turns are counted for a chat with its threads, and for one person in it."""
        async with self.opened(tmp_path) as store:
            await begun(store, 1)
            (event,) = await store.write(Accept((an_inbound(2, sender="bob"),), NOW))
            await store.write(RouteEvent(event.id, (Destination("t"),)), BeginTurn("t", THREAD, (event.id,), NOW))
            assert await store.turns_since(NOW, HERE) == 2
            assert await store.turns_since(NOW, HERE, "bob") == 1
            assert await store.turns_since(SOON, HERE) == 0
            assert await store.turns_since(NOW, Route("telegram", "chat-2")) == 0
