"""Hooks over HTTP: what a program is to be told is kept once, claimed by one, and tried until it is taken (IN-8)."""

from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from rejoinder.store.base import (
    Accept,
    ClaimHookEvent,
    EndHookEvent,
    FreeHookEvents,
    HookEvent,
    HookQueue,
    PutHookEvents,
    Retention,
    RetryHookEvent,
    Sweep,
)
from rejoinder.testing.store_contract.given import NOW, an_inbound
from rejoinder.testing.store_contract.opened import Opened

LATER = NOW + timedelta(seconds=30)
FIRST = HookEvent("log", "e1", "reply_sent", NOW, b"{}")


class HookEventsKept(Opened):
    async def test_an_event_is_told_once_and_in_order(self, tmp_path: Path):
        """IN-8: an event is kept once, however often it is written; one process at a time gets the oldest that is
        due."""
        async with self.opened(tmp_path) as store:
            second, other = replace(FIRST, event="e2"), replace(FIRST, hook="other")
            await store.write(PutHookEvents((FIRST, second, other)))
            await store.write(PutHookEvents((FIRST,)))
            claimed = await store.write(ClaimHookEvent("log", NOW, LATER))
            assert claimed is not None
            assert (claimed.row, claimed.attempts) == (FIRST, 1)
            following = await store.write(ClaimHookEvent("log", NOW, LATER))
            assert following is not None
            assert following.row == second
            assert await store.write(ClaimHookEvent("log", NOW, LATER)) is None
            await store.write(EndHookEvent(claimed, "taken"))
            await store.write(RetryHookEvent(following, LATER, "503"))
            assert await store.hook_queues() == (HookQueue("log", 1, 0, NOW, "503"), HookQueue("other", 1, 0, NOW))
            again = await store.write(ClaimHookEvent("log", LATER, LATER))
            assert again is not None
            assert (again.row, again.attempts) == (second, 2)
            await store.write(EndHookEvent(following, "dead", "an attempt that is over says nothing"))
            await store.write(EndHookEvent(again, "dead", "503"))
            assert (await store.hook_queues())[0] == HookQueue("log", 0, 1)
            await store.write(PutHookEvents((FIRST,)))
            assert (await store.hook_queues())[0].waiting == 0

    async def test_a_message_is_told_in_the_commit_that_accepts_it(self, tmp_path: Path):
        """IN-8: an event about a message is kept in the commit that accepts it, and not again when the platform repeats
        it."""
        async with self.opened(tmp_path) as store:
            await store.write(Accept((an_inbound(1),), NOW, tells=((FIRST,),)))
            await store.write(Accept((an_inbound(1),), NOW, tells=((replace(FIRST, event="e2"),),)))
            assert await store.hook_queues() == (HookQueue("log", 1, 0, NOW),)

    async def test_a_process_that_begins_alone_frees_what_is_claimed(self, tmp_path: Path):
        """IN-8: events that a killed process was posting are posted again at once, with the same id."""
        async with self.opened(tmp_path) as store:
            await store.write(PutHookEvents((FIRST,)))
            assert await store.write(ClaimHookEvent("log", NOW, LATER)) is not None
            await store.write(FreeHookEvents(NOW))
            again = await store.write(ClaimHookEvent("log", NOW, LATER))
            assert again is not None
            assert (again.row, again.attempts) == (FIRST, 2)

    async def test_old_events_are_removed(self, tmp_path: Path):
        async with self.opened(tmp_path) as store:
            await store.write(PutHookEvents((FIRST, replace(FIRST, event="e2", made=LATER))))
            await store.write(Sweep(Retention(ended_before=NOW + timedelta(seconds=1)), LATER))
            assert await store.hook_queues() == (HookQueue("log", 1, 0, LATER),)
