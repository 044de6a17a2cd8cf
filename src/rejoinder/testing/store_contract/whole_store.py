"""The store itself: together or not at all, taken over after a crash, swept, copied."""

import asyncio
from datetime import timedelta
from pathlib import Path

from rejoinder.errors import BadUse, Superseded
from rejoinder.events import Inbound, Step
from rejoinder.store.base import (
    Accept,
    EndRun,
    MarkSent,
    PlanParts,
    Retention,
    SettleEvent,
    Sweep,
    Trace,
)
from rejoinder.testing.store_contract.given import (
    HERE,
    NOW,
    THREAD,
    accepted,
    an_inbound,
    an_intent,
    begun,
    claimed,
    loses,
    refused,
    waiting,
)
from rejoinder.testing.store_contract.opened import Opened


class WholeStoreBehaviour(Opened):
    async def test_verbs_written_together_happen_together(self, tmp_path: Path) -> None:
        """DU-12: if a verb fails, its whole write is undone, and no other write."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            await store.write(EndRun(run, "answered", NOW))
            losing = store.write(Accept((an_inbound(2),), NOW), EndRun(run, "answered", NOW))
            winning = store.write(Accept((an_inbound(3),), NOW))
            lost, won = await asyncio.gather(losing, winning, return_exceptions=True)
            assert isinstance(lost, Superseded)
            assert not isinstance(won, BaseException)
            assert [event.inbound.event_id for event in (await store.recover(NOW)).events] == ["event-3"]

    async def test_sixty_four_producers(self, tmp_path: Path) -> None:
        """DU-12: no producer waits for a timer or gets another's rows, and each producer's order is kept."""
        async with self.opened(tmp_path) as store:

            async def produce(producer: int) -> list[int]:
                ids: list[int] = []
                for number in range(10):
                    inbound = an_inbound(number, chat=f"{producer}")
                    unique = Inbound("telegram", f"{producer}-{number}", "1", inbound.chat, inbound.sender)
                    (event,) = await store.write(Accept((unique,), NOW))
                    ids.append(event.id)
                return ids

            produced = await asyncio.gather(*map(produce, range(64)))
            assert all(ids == sorted(ids) for ids in produced)
            events = (await store.recover(NOW)).events
            assert sorted(event.id for event in events) == sorted(id for ids in produced for id in ids)

    async def test_restart_takes_over(self, tmp_path: Path) -> None:
        """DU-13: a restart has a new generation: sessions have no active run, parts that were being sent are unknown,
        everything else is unchanged."""
        if not self.survives:
            return
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            await store.write(PlanParts((an_intent(1), an_intent(2, THREAD)), NOW, run))
            sending = await claimed(store)
            before = await store.count_rows()
        async with self.opened(tmp_path) as store:
            after = await store.count_rows()
            assert (after.runs, after.parts) == (0, {"planned": 1, "unknown": 1})
            assert (after.events, after.inputs, after.turns) == (before.events, before.inputs, before.turns)
            (unknown,) = await store.parts_in("unknown")
            assert unknown.generation > sending.generation
            for late in (MarkSent(sending, "x", NOW), EndRun(run, "answered", NOW)):
                await loses(store, late)
            recovery = await store.recover(NOW)
            (left,) = recovery.turns
            assert (left.turn.id, left.turn.attempts, left.turn.route) == (run.turn, 1, HERE)
            assert [part.key for part in left.parts] == ["key-1", "key-2"]
            assert [part.key for part in recovery.unknown] == ["key-1"]
            assert recovery.to_send == (HERE, THREAD)

    async def test_what_waited_is_resumed(self, tmp_path: Path) -> None:
        """TU-10: all waiting messages are resumed, oldest first; those that are old or beyond 20 are gathered into one
        turn before the others."""
        async with self.opened(tmp_path) as store:
            old = await waiting(store, 1, 2)
            later = NOW + timedelta(minutes=16)
            await waiting(store, 100, session="t", now=later)
            new = await waiting(store, *range(3, 28), now=later)
            mine, other = (await store.recover(later)).backlogs
            assert (mine.session, other.session) == ("s", "t")
            assert [put.event.id for put in mine.gathered] == [*old, *new[:5]]
            assert [put.event.id for put in mine.singly] == [*new[5:]]
            assert (other.gathered, len(other.singly)) == ((), 1)

    async def test_a_backup_is_whole_while_writing_goes_on(self, tmp_path: Path) -> None:
        """DU-14: a backup is a copy of one moment, and never replaces another file."""
        async with self.opened(tmp_path) as store:
            await begun(store, 1, 2, 3)
            copy = tmp_path / "copy"
            if not self.copies:
                with refused(BadUse, "the database's own tools"):
                    await store.backup(copy)
                return
            await asyncio.gather(store.backup(copy), *(accepted(store, number) for number in range(10, 30)))
            assert copy.stat().st_size > 0
            with refused(BadUse, "exists already"):
                await store.backup(copy)
            copy.write_bytes(b"old")
            await store.backup(copy, overwrite=True)
            assert copy.stat().st_size > len(b"old")

    async def test_the_sweep_removes_what_has_ended(self, tmp_path: Path) -> None:
        """DU-14: a sweep removes a bounded number at a time, and never anything that waits, runs, is unsent or is
        dead."""
        async with self.opened(tmp_path) as store:
            for number in range(6):
                run = await begun(store, number)
                await store.write(PlanParts((an_intent(number),), NOW, run, final=True))
                if number < 5:
                    await store.write(MarkSent(await claimed(store), f"own-{number}", NOW))
                await store.write(EndRun(run, "answered", NOW))
            (settled, _) = await accepted(store, 10, 11)
            await store.write(SettleEvent(settled.id, "overheard"), Trace(settled.id, NOW, (Step("a", "drop"),)))
            await waiting(store, 12)
            later = NOW + timedelta(days=31)
            sweep = Sweep(Retention(later, messages=2, rows=4), later)
            removed = 0
            while step := await store.write(sweep):
                removed += step
            assert removed
            left = await store.count_rows()
            assert left.parts == {"planned": 1}
            assert left.turns == {"closed": 1}
            assert left.events == {"new": 1, "routed": 2}
            assert [each.id for each in await store.messages(HERE)] == ["own-3", "own-4"]

    async def test_what_is_new_has_no_number_of_what_is_gone(self, tmp_path: Path) -> None:
        """DU-14: numbers are not reused, even if nothing is left after a restart. A transcript is kept longer than its
        turns."""
        if not self.survives:
            return
        later = NOW + timedelta(days=31)
        async with self.opened(tmp_path) as store:
            gone = await begun(store, 1)
            await store.write(EndRun(gone, "answered", NOW))
            (settled,) = await accepted(store, 2)
            await store.write(SettleEvent(settled.id, "overheard"))
            while await store.write(Sweep(Retention(later, messages=0), later)):
                pass
            assert ((await store.count_rows()).turns, (await store.count_rows()).events) == ({}, {})
        async with self.opened(tmp_path) as store:
            (event,) = await accepted(store, 3)
            assert event.id > settled.id
            assert (await begun(store, 4)).turn > gone.turn

    async def test_a_healthy_store_says_so(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            assert (await store.health()).fault is None
            await store.check()
