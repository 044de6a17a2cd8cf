"""Incoming events are accepted once, decided once, and never lost."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.store.base import (
    Accept,
    CountEventAttempts,
    Destination,
    InboxEvent,
    MoveCursor,
    PutUnderstood,
    QuarantineEvent,
    RouteEvent,
    SettleEvent,
    StoredCursor,
    TakeBackEventAttempts,
)
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.store_contract.given import NOW, SOON, accepted, an_inbound, loses
from rejoinder.testing.store_contract.opened import Opened


class Events(Opened):
    async def test_an_event_is_accepted_once(self, tmp_path: Path) -> None:
        """DU-1: events are recognised by channel, account and event id, in one batch or in two; the caller learns which
        are new."""
        async with self.opened(tmp_path) as store:
            first = await store.write(Accept((an_inbound(1), an_inbound(2), an_inbound(1)), NOW))
            assert [event.inbound for event in first] == [an_inbound(1), an_inbound(2)]
            again = await store.write(Accept((an_inbound(2), an_inbound(3)), SOON))
            assert [event.inbound.event_id for event in again] == ["event-3"]
            assert [event.id for event in (*first, *again)] == sorted(event.id for event in (*first, *again))
            assert (await store.recover(NOW)).events == (*first, *again)

    async def test_an_event_can_be_decided_before_it_is_safe(self, tmp_path: Path) -> None:
        """DU-12: the caller is called early, once, and what it then writes is as safe as the event itself."""
        async with self.opened(tmp_path) as store:
            told: list[tuple[InboxEvent, ...]] = []
            deciding: list[asyncio.Task[None]] = []

            def decide(events: tuple[InboxEvent, ...]) -> None:
                told.append(events)
                settled = (store.write(SettleEvent(event.id, "overheard")) for event in events)
                deciding.extend(map(asyncio.ensure_future, settled))

            async with asyncio.timeout(PATIENCE):
                assert await store.write(Accept((an_inbound(1),), NOW), on_result=decide) == told[0]
                await asyncio.gather(*deciding)
            assert len(told) == 1
            assert [event.reason for event in await store.events_of("1")] == ["overheard"]

    async def test_what_was_understood_is_kept_with_its_event(self, tmp_path: Path) -> None:
        """ME-1: after a restart a transcript is found and not made again; for a decided event it no longer changes."""
        async with self.opened(tmp_path) as store:
            (event,) = await accepted(store, 1)
            heard = replace(an_inbound(1), transcript="buy milk \ud83d", understood=True)
            await store.write(PutUnderstood(event.id, heard))
            (found,) = (await store.recover(NOW)).events
            assert (found.inbound.transcript, found.inbound.understood) == ("buy milk \ufffd", True)
            await store.write(SettleEvent(event.id, "answered"))
            await loses(store, PutUnderstood(event.id, heard))

    async def test_other_accounts_and_channels_are_others(self, tmp_path: Path) -> None:
        """DU-1: the same id on another account or channel is another event."""
        async with self.opened(tmp_path) as store:
            there = Inbound("slack", "event-1", "1", Chat("chat-1"), Sender("anna"))
            second = Inbound("telegram", "event-1", "1", Chat("chat-1"), Sender("anna"), account="second")
            assert len(await store.write(Accept((an_inbound(1), there, second), NOW))) == 3

    async def test_the_cursor_moves_with_its_events(self, tmp_path: Path) -> None:
        """DU-1: the cursor and the inbox rows are one transaction; events that cannot be stored do not move it."""
        async with self.opened(tmp_path) as store:
            assert await store.cursor("telegram", "offset") is None
            await store.write(Accept((an_inbound(1),), NOW, StoredCursor("telegram", "offset", "10")))
            assert await store.cursor("telegram", "offset") == "10"
            moving = Accept((an_inbound(2),), NOW, StoredCursor("telegram", "offset", "11"))
            await loses(store, moving, SettleEvent(999, "there is no such event"))
            assert await store.cursor("telegram", "offset") == "10"
            await store.write(MoveCursor(StoredCursor("telegram", "offset", "3")))
            assert await store.cursor("telegram", "offset") == "3"
            assert await store.cursor("telegram", "offset", "second") is None

    async def test_each_place_has_a_cursor_of_its_own(self, tmp_path: Path) -> None:
        """DU-1: the cursors of single places also move with the events, one by one, and are read together."""
        async with self.opened(tmp_path) as store:
            read = StoredCursor("discord", "read", "session")
            first = (StoredCursor("discord", "place 1", "10"), StoredCursor("discord", "place 2", "20"))
            await store.write(Accept((an_inbound(1),), NOW, read, first))
            await store.write(Accept((), NOW, places=(StoredCursor("discord", "place 2", "21"),)))
            await loses(
                store, Accept((), NOW, places=(StoredCursor("discord", "place 1", "11"),)), SettleEvent(999, "no")
            )
            assert await store.cursors("discord", "place ") == {"1": "10", "2": "21"}
            assert await store.cursor("discord", "read") == "session"
            assert await store.cursors("discord", "place ", "second") == {}

    async def test_undecided_events_are_read_in_pages(self, tmp_path: Path) -> None:
        """SC-12: the oldest first, and those that are decided no more."""
        async with self.opened(tmp_path) as store:
            one, two, three, four = await accepted(store, 1, 2, 3, 4)
            await store.write(SettleEvent(two.id, "not addressed"))
            assert await store.undecided_events(2) == (one, three)
            assert await store.undecided_events(2, three.id) == (four,)
            assert await store.undecided_events(2, four.id) == ()

    async def test_an_event_is_decided_once(self, tmp_path: Path) -> None:
        """TU-2: an event is routed or settled, never both, and never twice."""
        async with self.opened(tmp_path) as store:
            one, two = await accepted(store, 1, 2)
            await store.write(RouteEvent(one.id, (Destination("a", b"for a"), Destination("b"))))
            await store.write(SettleEvent(two.id, "not addressed", overheard=True))
            for verb in (
                RouteEvent(one.id, (Destination("c"),)),
                SettleEvent(one.id, "late"),
                CountEventAttempts((two.id,)),
            ):
                await loses(store, verb)
            assert [(put.session, put.payload) for put in await store.inputs_of(one.id)] == [
                ("a", b"for a"),
                ("b", b""),
            ]
            assert [(event.reason, event.overheard) for event in await store.events_of("2")] == [
                ("not addressed", True)
            ]
            assert (await store.recover(NOW)).events == ()

    async def test_a_quarantined_event_is_left_alone(self, tmp_path: Path) -> None:
        """DU-2: attempts are counted before handling; a quarantined event is not tried again, and the others go on."""
        async with self.opened(tmp_path) as store:
            bad, good = await accepted(store, 1, 2)
            await store.write(CountEventAttempts((bad.id, good.id)))
            await store.write(QuarantineEvent(bad.id, "it ended the process"))
            await loses(store, CountEventAttempts((bad.id,)))
            assert [(event.id, event.attempts) for event in (await store.recover(NOW)).events] == [(good.id, 1)]

    async def test_a_release_gives_attempts_back(self, tmp_path: Path) -> None:
        """DU-2: a release gives attempts back for events that are still undecided, but no more than were counted."""
        async with self.opened(tmp_path) as store:
            twice, once, never, decided = await accepted(store, 1, 2, 3, 4)
            await store.write(CountEventAttempts((twice.id, once.id, decided.id)))
            await store.write(CountEventAttempts((twice.id,)))
            await store.write(SettleEvent(decided.id, "answered"))
            await store.write(TakeBackEventAttempts((twice.id, once.id, never.id, decided.id)))
            assert [event.attempts for event in (await store.recover(NOW)).events] == [1, 0, 0]

    async def test_odd_text_is_kept(self, tmp_path: Path) -> None:
        """DU-1: no message can hold up the ones behind it, whatever it contains."""
        async with self.opened(tmp_path) as store:
            odd = ("NUL \0 inside", "half a pair \ud83d", "‮ and 𝕏", "x" * 1_000_000)
            kept = await store.write(Accept(tuple(an_inbound(n, text=text) for n, text in enumerate(odd)), NOW))
            read = (await store.recover(NOW)).events
            assert len(kept) == len(read) == len(odd)
            assert [event.inbound.text for event in read] == [odd[0], "half a pair �", odd[2], odd[3]]
            assert [event.inbound for event in kept] == [event.inbound for event in read]
