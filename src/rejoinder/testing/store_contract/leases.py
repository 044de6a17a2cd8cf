"""Leases on shards: one holder at a time, and nothing is written by one that has lost it (SC-3 to SC-6)."""

from pathlib import Path

from msgspec.structs import replace

from rejoinder.errors import LeaseLost, Superseded
from rejoinder.events import Chat, Question, Route, Sender
from rejoinder.session import Session, route_home, shard_of
from rejoinder.store.base import (
    Accept,
    BeginTurn,
    ClaimPart,
    Deployment,
    EndRun,
    Lease,
    MarkSent,
    MoveCursor,
    MoveEvent,
    NamedLease,
    PlanParts,
    PutQuestion,
    PutSession,
    PutSubagent,
    ReleaseRun,
    ResumeTurn,
    RunClaim,
    SettleEvent,
    SharedStore,
    StoredCursor,
    StoredPart,
    StoredQuestion,
    StoredSubagent,
)
from rejoinder.testing.store_contract.given import (
    HERE,
    NOW,
    THREAD,
    an_inbound,
    an_intent,
    begun,
    claimed,
    refused,
    waiting,
)
from rejoinder.testing.store_contract.opened import Opened, elsewhere_in, shard_at

TELEGRAM = "s:telegram:default:direct:chat-1"
"""A session of the home in which `HERE` is."""


class Leases(Opened):
    async def test_one_process_holds_a_shard(self, tmp_path: Path) -> None:
        """SC-3: a second process is told who holds the shard; each claim has a new generation; a released shard is free
        at once."""
        async with self.shared(tmp_path) as store:
            shard = shard_at(store)
            first = await store.claim(shard, "one")
            assert first is not None
            assert await store.claim(shard, "two") is None
            await store.release(first)
            second = await store.claim(shard, "two")
            assert second is not None
            assert second.generation > first.generation
            await store.release(first)  # too late, and no harm
            assert await store.claim(shard, "one") is None
            await store.leave("two")
            assert isinstance(await store.claim(shard, "one"), Lease)

    async def test_what_is_given_back_late_is_the_old_lease_only(self, tmp_path: Path) -> None:
        """SC-3, SC-10: a late release ends only the old lease, even if the same process has claimed it again."""
        async with self.shared(tmp_path) as store:
            shard = shard_at(store)
            old = await store.claim(shard, "one"), await store.claim_named("telegram", "one")
            new = await store.claim(shard, "one"), await store.claim_named("telegram", "one")
            for lease in old:
                assert lease is not None
                await store.release(lease)
            assert await store.claim(shard, "two") is None
            assert await store.claim_named("telegram", "two") is None
            assert (await store.renew("one", tuple(each for each in new if each))).held == new

    async def test_all_can_see_who_holds_what(self, tmp_path: Path) -> None:
        """SC-5: everybody can see the shards with their holders, and the living processes without a shard."""
        async with self.shared(tmp_path) as store:
            found = await store.owners()
            assert [each.id for each in found.shards] == [*range(store.shards)]
            assert {each.holder for each in found.shards} == {None}
            shard = shard_at(store)
            lease = await store.claim(shard, "one")
            assert lease is not None
            renewed = await store.renew("two", ())
            assert renewed.held == ()
            found = await store.owners()
            assert found.shards[shard].holder == "one"
            assert found.processes == ("one", "two")
            await store.leave("two")
            await store.release(lease)
            found = await store.owners()
            assert (found.shards[shard].holder, found.processes) == (None, ("one",))

    async def test_all_can_see_when_the_first_lease_runs_out(self, tmp_path: Path) -> None:
        """SC-5: everybody can see when the first of all leases runs out, and looks again then."""
        async with self.shared(tmp_path) as store:
            assert (await store.owners()).first_end is None
            await store.claim_named("telegram", "one")
            found = (await store.owners()).first_end
            if store.lease_seconds is None:
                assert found is None
            else:
                assert found is not None
                assert 0 < found <= store.lease_seconds
                await store.claim(shard_at(store), "two")
                later = (await store.owners()).first_end
                assert later is not None
                assert later <= found

    async def test_one_process_does_what_is_done_for_all(self, tmp_path: Path) -> None:
        """SC-10: a lease by name has one holder at a time; each claim has a new generation."""
        async with self.shared(tmp_path) as store:
            first = await store.claim_named("telegram", "one")
            assert first is not None
            assert await store.claim_named("telegram", "two") is None
            assert isinstance(await store.claim_named("slack", "two"), NamedLease)
            assert (await store.owners()).named == {"telegram": "one", "slack": "two"}
            assert (await store.renew("one", (first,))).held == (first,)
            await store.release(first)
            second = await store.claim_named("telegram", "two")
            assert second is not None
            assert second.generation > first.generation
            assert (await store.renew("one", (first,))).held == ()
            await store.release(first)  # too late, and no harm
            assert await store.claim_named("telegram", "one") is None
            await store.leave("two")
            assert (await store.owners()).named == {}

    async def test_another_process_does_it_after_the_first_has_died(self, tmp_path: Path) -> None:
        """SC-10: another process gets the lease when it has run out; if the first one comes back, it has lost it."""
        async with self.shared(tmp_path) as store:
            first = await store.claim_named("telegram", "one")
            assert first is not None
            await self.let_leases_run_out(store)
            second = await store.claim_named("telegram", "two")
            if store.lease_seconds is None:
                assert second is None
                return
            assert second is not None
            assert second.generation > first.generation
            assert (await store.renew("one", (first,))).held == ()
            assert await store.claim_named("telegram", "one") is None

    async def test_who_listens_no_longer_does_not_move_the_cursor(self, tmp_path: Path) -> None:
        """SC-10: messages from a lost listener are still stored, and are recognised when they come again."""
        async with self.shared(tmp_path) as store:
            old = await store.claim_named("telegram", "one")
            assert old is not None
            await store.write(Accept((an_inbound(1),), NOW, StoredCursor("telegram", "read", "1", lease=old)))
            await store.release(old)
            new = await store.claim_named("telegram", "two")
            await store.write(Accept((an_inbound(2),), NOW, StoredCursor("telegram", "read", "2", lease=new)))
            (late,) = await store.write(Accept((an_inbound(3),), NOW, StoredCursor("telegram", "read", "1", lease=old)))
            assert late.inbound == an_inbound(3)
            assert await store.cursor("telegram", "read") == "2"
            await store.write(MoveCursor(StoredCursor("telegram", "read", "1", lease=old)))
            assert await store.cursor("telegram", "read") == "2"
            assert (
                await store.write(Accept((an_inbound(3),), NOW, StoredCursor("telegram", "read", "3", lease=new))) == ()
            )
            assert await store.cursor("telegram", "read") == "3"

    async def test_a_process_may_claim_no_shards(self, tmp_path: Path) -> None:
        """SC-24: a process that only listens and serves pages is alive, and no shard is kept for it."""
        async with self.shared(tmp_path) as store:
            await store.renew("front", (), claims=False)
            await store.renew("worker", ())
            found = await store.owners()
            assert (found.processes, found.fronts) == (("worker",), ("front",))

    async def test_operators_see_the_processes(self, tmp_path: Path) -> None:
        """SC-24: operators see which processes are alive, what each holds and does for all, and how long a message has
        waited."""
        async with self.shared(tmp_path) as store:
            assert await store.deployment() == Deployment(store.shards, store.shards, 0.0, ())
            shard = shard_at(store)
            await store.claim(shard, "worker")
            await store.claim_named("telegram", "front")
            await store.renew("front", (), claims=False)
            await store.write(Accept((an_inbound(1),), NOW.replace(year=2020)))
            found = await store.deployment()
            front, worker = found.processes
            assert (front.name, front.claims, front.shards, front.duties) == ("front", False, 0, ("telegram",))
            assert (worker.name, worker.claims, worker.shards, worker.duties) == ("worker", True, 1, ())
            assert (found.unowned, worker.waiting, front.waiting) == (store.shards - 1, 1, 0)
            assert found.lag_seconds == worker.lag_seconds > 0
            if store.lease_seconds is None:
                assert worker.lease_seconds is None
            else:
                assert worker.lease_seconds is not None
                assert 0 < worker.lease_seconds <= store.lease_seconds

    async def test_shards_with_work_are_found_whoever_wrote(self, tmp_path: Path) -> None:
        """SC-12: work is found by shard and state."""
        async with self.shared(tmp_path) as store:
            assert await store.shards_with_work() == frozenset()
            (event,) = await store.write(Accept((an_inbound(1),), NOW))
            assert await store.shards_with_work() == {event.shard}
            mine = store.owned(await self._claimed(store, "one", event.inbound.route))
            await mine.write(SettleEvent(event.id, "nobody was meant"))
            assert await store.shards_with_work() == frozenset()
            (part,) = await mine.write(PlanParts((an_intent(1),), NOW, claims=True))
            assert await store.shards_with_work() == {event.shard}
            await mine.write(MarkSent(part, "msg-1", NOW))
            assert await store.shards_with_work() == frozenset()

    async def test_who_has_lost_the_lease_writes_nothing(self, tmp_path: Path) -> None:
        """SC-3: every write of a process that lost its lease is refused whole, and its engine learns of it; the new
        holder goes on."""
        async with self.shared(tmp_path) as store:
            lease, told = await self._claimed(store, "one"), list[str]()
            late = store.owned(lease, lambda: told.append("lost"))
            run = await begun(late, 1)
            (part,) = await late.write(PlanParts((an_intent(1),), NOW, run, claims=True))
            await store.release(lease)
            await late.write(ReleaseRun(run))  # nobody has claimed the shard: the last holder may still tidy up
            new = store.owned(await self._claimed(store, "two"))
            before = await store.count_rows()
            verbs = (
                MarkSent(part, "msg-1", NOW),
                PlanParts((an_intent(2),), NOW),
                PutSession(Session("s", "helper", NOW, NOW), 0),
                Accept((an_inbound(9),), NOW),
            )
            for verb in verbs:
                with refused(LeaseLost, "no longer holds shard"):
                    await late.write(verb)
                with refused(LeaseLost):
                    await late.write(PlanParts((an_intent(3),), NOW), verb)
            assert told == ["lost"] * 2 * len(verbs)
            assert await store.count_rows() == before
            (unknown,) = await new.parts_in("unknown")
            await new.write(MarkSent(unknown, "msg-1", NOW))
            assert isinstance(await begun(new, 2), RunClaim)

    async def test_a_claim_recovers_the_shard_and_no_other(self, tmp_path: Path) -> None:
        """SC-4, DU-13: a claim ends the runs of its shard and marks parts that were being sent as unknown; other shards
        do not change."""
        async with self.shared(tmp_path) as store:
            elsewhere = elsewhere_in(store)
            stay = store.owned(await self._claimed(store, "one", elsewhere))
            lease = await self._claimed(store, "one")
            mine = store.owned(lease)
            run = await begun(mine, 1, session=TELEGRAM)
            await mine.write(PlanParts((an_intent(1), an_intent(2, THREAD)), NOW, run))
            assert (await claimed(mine)).state == "sending"
            if elsewhere is not HERE:
                await stay.write(PlanParts((an_intent(3, elsewhere),), NOW, claims=True))
            await store.release(lease)
            new = store.owned(await self._claimed(store, "two"))
            found = await new.recover(NOW)
            assert [(left.turn.id, left.turn.crashes) for left in found.turns] == [(run.turn, 0)]
            assert [part.key for part in found.unknown] == ["key-1"]
            assert found.to_send == (HERE, THREAD)
            if elsewhere is not HERE:
                assert [part.key for part in (await stay.recover(NOW)).unknown] == []
                assert await stay.routes_to_send() == (elsewhere,)
                assert await new.write(ClaimPart(elsewhere, NOW)) is None

    async def test_another_home_is_planned_for_and_not_sent_to(self, tmp_path: Path) -> None:
        """SC-1: a part is a row of the home of its place; only the owner of that home sends it."""
        async with self.shared(tmp_path) as store:
            elsewhere = elsewhere_in(store)
            if elsewhere is HERE:
                return
            mine = store.owned(await self._claimed(store, "one"))
            theirs = store.owned(await self._claimed(store, "two", elsewhere))
            (planned,) = await mine.write(PlanParts((an_intent(1, elsewhere),), NOW, claims=True))
            assert planned.state == "planned"
            assert await mine.write(ClaimPart(elsewhere, NOW)) is None
            assert await mine.routes_to_send() == ()
            assert await theirs.routes_to_send() == (elsewhere,)
            assert isinstance(await theirs.write(ClaimPart(elsewhere, NOW)), StoredPart)

    async def test_a_home_stays_where_it_was_first_written(self, tmp_path: Path) -> None:
        """SC-1: a chat that we wrote to before it spoke, or whose scope changes, keeps its home and is sent to from
        there; its messages are decided in the home of their session."""
        async with self.shared(tmp_path) as store:
            mine = store.owned(await self._claimed(store, "one"))
            await mine.write(PlanParts((an_intent(1),), NOW))
            (event,) = await store.write(Accept((an_inbound(1),), NOW, homes=("main",)))
            assert event.shard == shard_of("main", store.shards)
            assert await mine.routes_to_send() == (HERE,)
            assert (await mine.place(HERE, NOW)).elsewhere is False
            if event.shard != shard_at(store):
                assert (await mine.recover(NOW)).events == ()
                main = await store.claim(event.shard, "one")
                assert main is not None
                deciding = store.owned(main)
                assert (await deciding.place(HERE, NOW)).elsewhere is True
                assert [each.id for each in (await deciding.recover(NOW)).events] == [event.id]
                await mine.write(MoveEvent(event.id, route_home(HERE)))
                assert (await deciding.recover(NOW)).events == ()
            assert [each.id for each in (await mine.recover(NOW)).events] == [event.id]
            with refused(Superseded):
                await mine.write(MoveEvent(event.id + 1, "main"))

    async def test_a_place_is_at_home_where_its_first_message_says(self, tmp_path: Path) -> None:
        """SC-1: a person's chat is in the home of their session, not in that of its own id; answers are sent from
        there, whatever a later message says."""
        async with self.shared(tmp_path) as store:
            elsewhere = elsewhere_in(store)
            home = route_home(elsewhere)
            theirs = store.owned(await self._claimed(store, "two", elsewhere))
            (event,) = await store.write(Accept((an_inbound(1),), NOW, homes=(home,)))
            assert event.shard == shard_at(store, elsewhere)
            await store.write(Accept((an_inbound(2),), NOW, homes=(route_home(HERE),)))
            assert (await theirs.place(HERE, NOW)).elsewhere is False
            (part,) = await theirs.write(PlanParts((an_intent(1),), NOW, claims=True))
            assert part.state == "sending"
            if elsewhere is not HERE:
                mine = store.owned(await self._claimed(store, "one"))
                assert (await mine.place(HERE, NOW)).elsewhere is True
                assert await mine.write(ClaimPart(HERE, NOW)) is None

    async def test_a_new_place_is_at_home_where_its_chat_is(self, tmp_path: Path) -> None:
        """SC-1: a new place is in the home of its chat, even before anybody has written there."""
        async with self.shared(tmp_path) as store:
            elsewhere = elsewhere_in(store)
            mine = store.owned(await self._claimed(store, "one"))
            assert (await mine.place(HERE, NOW)).elsewhere is False
            assert (await mine.place(elsewhere, NOW)).elsewhere is (elsewhere is not HERE)
            assert (await store.place(elsewhere, NOW)).elsewhere is False  # nobody's in particular

    async def test_what_names_nobody_goes_where_its_message_went(self, tmp_path: Path) -> None:
        """SC-1, CH-8: a deletion goes to the home of its message, because it does not say whose direct chat it is
        in."""
        async with self.shared(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            (event,) = await store.write(Accept((an_inbound(1),), NOW, homes=("main",)))
            gone = replace(event.inbound, event_id="gone", entry="delete", sender=Sender(""))
            unknown = replace(gone, event_id="unknown", message_id="never-seen")
            (deletion, stray) = await store.write(Accept((gone, unknown), NOW, homes=("", "")))
            assert (deletion.shard, stray.shard) == (event.shard, shard_at(store))
            there = elsewhere_in(store)  # ids of messages are a chat's own
            (other,) = await store.write(
                Accept((replace(gone, event_id="there", chat=Chat(there.chat)),), NOW, homes=("",))
            )
            assert other.shard == shard_at(store, there)

    async def test_the_work_of_a_session_is_in_its_home(self, tmp_path: Path) -> None:
        """SC-1, SC-4: the owner of a session's home finds its work, whatever home its chats have; a claim of their
        shard does not end it."""
        async with self.shared(tmp_path) as store:
            elsewhere = elsewhere_in(store)
            if elsewhere is HERE:
                return
            session = f"s:telegram:default:direct:{elsewhere.chat}"
            lease, theirs = await self._claimed(store, "one", elsewhere), await self._claimed(store, "two")
            mine = store.owned(lease)
            run = await begun(mine, 1, session=session)
            (queued,) = await waiting(mine, 2, session=session)
            asked = StoredQuestion("q1", run.turn, session, "mark", Question("", "May I?"), HERE, ("ann",), NOW)
            helper = StoredSubagent("x:subagent:s:x", session, session, "x", "x", "look", HERE, NOW)
            await mine.write(PutQuestion(asked), PutSubagent(helper))
            await store.release(theirs)
            other = store.owned(await self._claimed(store, "three"))
            found = await other.recover(NOW)
            assert (found.turns, found.backlogs) == ((), ())
            assert (await other.open_questions(), await other.open_subagents()) == ((), ())
            await mine.write(PlanParts((an_intent(1),), NOW, run))  # the run goes on
            await store.release(lease)
            new = store.owned(await self._claimed(store, "four", elsewhere))
            found = await new.recover(NOW)
            assert [left.turn.id for left in found.turns] == [run.turn]
            assert [put.event.id for each in found.backlogs for put in each.singly] == [queued]
            assert (await new.open_questions(), await new.open_subagents()) == ((asked,), (helper,))
            again = await new.write(ResumeTurn(run.turn))
            assert isinstance(again, RunClaim)
            await new.write(EndRun(again, "answered", NOW))
            assert isinstance(await new.write(BeginTurn(session, HERE, (queued,), NOW)), RunClaim)

    async def test_leases_run_out(self, tmp_path: Path) -> None:
        """SC-5, SC-6: leases run out by the clock of the store unless they are renewed; a store that notices by itself
        that its holder has ended needs no renewal."""
        async with self.shared(tmp_path) as store:
            first = await self._claimed(store, "one")
            if store.lease_seconds is None:
                await self.let_leases_run_out(store)
                assert await store.claim(first.shard, "two") is None
                return
            before = await store.renew("one", (first,))
            assert before.held == (first,)
            await self.let_leases_run_out(store)
            assert (await store.owners()).shards[first.shard].holder is None
            again = await store.renew("one", (first,))  # nobody has claimed it: it is still the same lease
            assert again.held == (first,)
            assert again.now > before.now
            assert await store.claim(first.shard, "two") is None
            await self.let_leases_run_out(store)
            second = await store.claim(first.shard, "two")
            assert second is not None
            assert (await store.renew("one", (first,))).held == ()
            assert (await store.renew("two", (second, first))).held == (second,)
            with refused(LeaseLost):
                await store.owned(first).write(PlanParts((an_intent(1),), NOW))

    async def test_a_lost_lease_is_no_attempt(self, tmp_path: Path) -> None:
        """SC-3, DU-2: a turn is suspected if its process has died, not if the process has only lost its lease."""
        async with self.shared(tmp_path) as store:
            if store.lease_seconds is None:
                return
            lost = await self._claimed(store, "one")
            run = await begun(store.owned(lost), 1, session=TELEGRAM)
            await self.let_leases_run_out(store)
            await store.renew("one", ())
            taken = await self._claimed(store, "two")
            (left,) = (await store.owned(taken).recover(NOW)).turns
            assert (left.turn.id, left.turn.attempts, left.turn.crashes, left.turn.alone) == (run.turn, 0, 0, 0)
            other = TELEGRAM.replace("s:", "another:", 1)
            (event,) = await waiting(store.owned(taken), 2, session=other)
            await store.owned(taken).write(BeginTurn(other, HERE, (event,), NOW))
            await self.let_leases_run_out(store)
            last = await self._claimed(store, "three")
            found = {each.turn.id: each.turn for each in (await store.owned(last).recover(NOW)).turns}
            assert [(each.crashes, each.alone) for each in found.values()] == [(0, 0), (1, 1)]

    async def test_what_a_process_left_in_several_shards_was_not_alone(self, tmp_path: Path) -> None:
        """DU-2: the shards of a dead process are claimed one by one, perhaps by several processes; each claim takes the
        others into account."""
        async with self.shared(tmp_path) as store:
            elsewhere = elsewhere_in(store)
            if store.lease_seconds is None or elsewhere is HERE:
                return
            here, there = await self._claimed(store, "one"), await self._claimed(store, "one", elsewhere)
            await begun(store.owned(here), 1, session=TELEGRAM)
            session = f"s:telegram:default:direct:{elsewhere.chat}"
            (event,) = await waiting(store.owned(there), 2, session=session)
            await store.owned(there).write(BeginTurn(session, elsewhere, (event,), NOW))
            await self.let_leases_run_out(store)
            for holder, route in (("two", HERE), ("three", elsewhere)):
                new = store.owned(await self._claimed(store, holder, route))
                (left,) = (await new.recover(NOW)).turns
                assert (left.turn.crashes, left.turn.alone) == (1, 0)

    async def _claimed(self, store: SharedStore, holder: str, route: Route = HERE) -> Lease:
        lease = await store.claim(shard_at(store, route), holder)
        assert lease is not None
        return lease
