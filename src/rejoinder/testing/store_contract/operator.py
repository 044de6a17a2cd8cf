"""The operator's side: what can be looked up, and what can be written while a gateway has the store open."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from rejoinder.errors import BadUse, Superseded
from rejoinder.events import Route
from rejoinder.session import Session
from rejoinder.store.base import (
    Accept,
    BeginTurn,
    BuryPart,
    DropPart,
    EndRun,
    HoldPart,
    IndexedMessage,
    LocatedMessage,
    MarkSent,
    MarkUnknown,
    NoteMessages,
    OperatorStore,
    Paired,
    PairingRequest,
    PairSender,
    PendingWork,
    PlanParts,
    PutPairingRequest,
    PutSession,
    QuarantineEvent,
    QuarantineSession,
    QuarantineTurn,
    ReadmitEvent,
    ReadmitTurn,
    ReleaseRun,
    RequestEventRerun,
    RequestTurnRerun,
    ResendPart,
    RunClaim,
    Store,
    Workload,
)
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.store_contract.given import (
    HERE,
    NOW,
    SOON,
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
from rejoinder.testing.store_contract.opened import Opened, claimed_by


async def buried(store: Store, number: int, why: str = "403 blocked") -> None:
    await store.write(PlanParts((an_intent(number),), NOW))
    await store.write(BuryPart(await claimed(store), why))


class Operator(Opened):
    @asynccontextmanager
    async def both(self, folder: Path) -> AsyncGenerator[tuple[Store, OperatorStore]]:
        async with self.opened(folder) as store, self._operator(folder) as operator:
            yield store, operator

    @asynccontextmanager
    async def _operator(self, folder: Path) -> AsyncGenerator[OperatorStore]:
        operator = self.operator(folder)
        try:
            yield operator
        finally:
            await operator.close()

    # --- looked up ----------------------------------------------------------------------------------

    async def test_the_latest_event(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            assert await store.latest_event() is None
            *_, last = await accepted(store, 1, 2)
            assert await store.latest_event() == last
            (elsewhere,) = await store.write(Accept((an_inbound(3, chat="chat-2"),), NOW))
            assert await store.latest_event("telegram", "chat-1") == last
            assert await store.latest_event(chat="chat-2") == elsewhere
            assert await store.latest_event("web") is None

    async def test_a_message_is_found_without_its_chat(self, tmp_path: Path) -> None:
        """OD-22: a message is found by id or handle; a handle alone may fit several conversations."""
        async with self.opened(tmp_path) as store:
            for route, id in ((HERE, "17"), (THREAD, "18")):
                await store.write(NoteMessages(route, (IndexedMessage(id, "anna", NOW),)))
            (found,) = await store.find_messages("18")
            assert found == LocatedMessage(THREAD, IndexedMessage("18", "anna", NOW, number=1))
            assert {each.route for each in await store.find_messages("m1")} == {HERE, THREAD}
            assert await store.find_messages("nothing") == ()

    async def test_what_was_sent_is_found_by_its_receipt(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            await store.write(MarkSent(await claimed(store), "msg-1", NOW))
            found = await store.part_sent_as(HERE, "msg-1")
            assert found is not None
            assert (found.key, found) == ("key-1", await store.part(found.id))
            assert await store.part_sent_as(THREAD, "msg-1") is None
            assert await store.part(found.id + 1) is None

    async def test_what_was_answered_to_an_event_is_found(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            for key in ("event/7/0/0/a", "event/71/0/0/b", "event/7/1/0/c", "event/6/0/0/d"):
                await store.write(PlanParts((replace(an_intent(1), key=key),), NOW))
            assert [part.key for part in await store.parts_about(7)] == ["event/7/0/0/a", "event/7/1/0/c"]
            assert await store.parts_about(8) == ()
            assert [part.key for part in await store.parts_under("event/7/1")] == ["event/7/1/0/c"]

    async def test_what_is_quarantined_is_listed(self, tmp_path: Path) -> None:
        """DU-14: an event, a turn and a session are listed, each with its place; a new session starts under the key of
        a quarantined one."""
        async with self.opened(tmp_path) as store:
            (event,) = await accepted(store, 1)
            await store.write(QuarantineEvent(event.id, "odd"))
            await loses(store, QuarantineEvent(event.id, "odd"))
            run = await begun(store, 2)
            await store.write(EndRun(run, "failed", NOW))
            other = await begun(store, 3)
            await store.write(ReleaseRun(other))
            await store.write(QuarantineTurn(other.turn, SOON, "strange"))
            await store.write(PutSession(Session("s", "helper", NOW, NOW), 0))
            await store.write(QuarantineSession("s", NOW))
            await loses(store, QuarantineSession("s", NOW))
            assert await store.session("s") is None
            await store.write(PutSession(Session("s", "helper", NOW, NOW), 0))
            assert (len(await store.sessions()), await store.count_sessions()) == (1, 1)
            found = await store.quarantined()
            assert {(each.kind, each.where, each.why) for each in found} == {
                ("message", "telegram", "odd"),
                ("turn", "s", "strange"),
                ("session", "s", ""),
            }
            assert found[0].kind == "turn"
            assert await store.quarantined(1) == found[:1]

    async def test_what_is_quarantined_can_be_run_again(self, tmp_path: Path) -> None:
        """DU-2: somebody marks it, and the gateway releases it; an event comes back as new, the messages of a turn wait
        for another turn."""
        if not self.survives:
            return
        async with self.both(tmp_path) as (store, operator):
            (event,) = await accepted(store, 1)
            run = await begun(store, 2)
            await loses(store, QuarantineTurn(run.turn, SOON, "strange"))
            await store.write(ReleaseRun(run))
            await store.write(QuarantineTurn(run.turn, SOON, "strange"), QuarantineEvent(event.id, "odd"))
            assert await store.requested_reruns() == ()
            await operator.write(RequestTurnRerun(run.turn), RequestEventRerun(event.id))
            assert [(each.kind, each.number) for each in await store.requested_reruns()] == [
                ("message", event.id),
                ("turn", run.turn),
            ]
            assert await store.write(ReadmitEvent(event.id)) == replace(event, state="new")
            await loses(store, ReadmitEvent(event.id))
            again = await store.write(ReadmitTurn(run.turn, SOON))
            await loses(store, ReadmitTurn(run.turn, SOON))
            assert [(put.event.id, put.state) for put in await store.waiting_inputs("s")] == [(again[0], "waiting")]
            assert (await store.requested_reruns(), await store.quarantined()) == ((), ())
            await loses(store, RequestTurnRerun(run.turn))
            await loses(store, RequestEventRerun(event.id))
            assert isinstance(await store.write(BeginTurn("s", HERE, again, NOW)), RunClaim)

    async def test_dead_letters_are_counted_and_the_latest_come_first(self, tmp_path: Path) -> None:
        """DE-33: of many dead letters, only the requested ones are read."""
        async with self.opened(tmp_path) as store:
            for number in (1, 2, 3):
                await buried(store, number)
            await store.write(PlanParts((an_intent(4),), NOW))
            assert await store.count_parts("dead", "held") == 3
            listed = await store.parts_in("dead", "held", limit=2, latest_first=True)
            assert [part.key for part in listed] == ["key-3", "key-2"]

    async def test_what_each_session_has_before_it(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1, session="busy")
            await store.write(PlanParts((an_intent(1), an_intent(2)), NOW, run))
            await store.write(BuryPart(await claimed(store), "403"))
            await waiting(store, 2, 3, session="patient")
            done = await begun(store, 4, session="done")
            await store.write(EndRun(done, "silent", NOW))
            assert await store.pending_work() == {
                "busy": PendingWork(running=NOW, unsent=1, stuck=1),
                "patient": PendingWork(waiting=2),
            }
            ended = await store.turn(done.turn)
            assert ended is not None
            assert ended.turn.closed == NOW

    async def test_sessions_are_found_by_a_piece_of_their_key(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            for key in ("helper:web:1", "helper:web:12", "coder:web:1"):
                await store.write(PutSession(Session(key, key.split(":")[0], NOW, NOW), 0))
            assert await store.count_sessions() == 3
            assert await store.session_keys("helper:web:1") == ("helper:web:1",)
            assert await store.session_keys("web:1", limit=2) == ("coder:web:1", "helper:web:1")
            assert await store.session_keys("nobody") == ()

    async def test_the_places_with_something_to_send(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1, THREAD), an_intent(2)), NOW))
            assert await store.routes_to_send() == (THREAD, HERE)
            await store.write(MarkSent(await claimed(store, route=THREAD), "msg-1", NOW))
            assert await store.routes_to_send() == (HERE,)

    async def test_everybody_who_asked_to_be_paired(self, tmp_path: Path) -> None:
        async with self.opened(tmp_path) as store:
            first = PairingRequest("telegram", "default", "anna", "AAAA", NOW, NOW, SOON)
            second = PairingRequest("matrix", "default", "boris", "BBBB", SOON, SOON, SOON)
            await store.write(PutPairingRequest(second), PutPairingRequest(first))
            assert await store.all_pairing_requests() == (first, second)

    # --- written ------------------------------------------------------------------------------------

    async def test_dropped_it_is_said_no_more(self, tmp_path: Path) -> None:
        """DE-33: only a dead or held part can be dropped, and only in the state in which it was seen."""
        async with self.opened(tmp_path) as store:
            await buried(store, 1)
            (dead,) = await store.parts_in("dead")
            assert (await store.write(DropPart(dead))).state == "withdrawn"
            await loses(store, ResendPart(dead))
            await store.write(PlanParts((an_intent(2),), NOW))
            unknown = await store.write(MarkUnknown(await claimed(store), "timeout"))
            await loses(store, DropPart(unknown))
            await store.write(DropPart(await store.write(HoldPart(unknown))))
            assert (await store.count_rows()).parts == {"withdrawn": 2}

    async def test_an_operator_writes_beside_the_gateway(self, tmp_path: Path) -> None:
        """DE-33: a dead part is planned again, and the gateway learns of it and sends it."""
        if not self.survives:
            return
        async with self.shared(tmp_path) as process, self._operator(tmp_path) as operator:
            store = process.owned(await claimed_by(process, "gateway"))
            await buried(store, 1)
            told = asyncio.Event()
            process.on_external_change(lambda _: told.set())
            (dead,) = await operator.parts_in("dead")
            assert (await operator.write(ResendPart(dead))).state == "planned"
            await asyncio.wait_for(told.wait(), PATIENCE)
            assert await store.routes_to_send() == (HERE,)
            assert (await claimed(store)).key == "key-1"

    async def test_what_the_gateway_writes_is_no_external_change(self, tmp_path: Path) -> None:
        """A gateway that was woken by its own writes would never rest."""
        if not self.survives:
            return
        async with self.shared(tmp_path) as process, self._operator(tmp_path) as operator:
            store = process.owned(await claimed_by(process, "gateway"))
            changes: list[str | None] = []
            name = "before"
            noticed = asyncio.Event()

            def told(_: frozenset[int]) -> None:
                changes.append(name)
                noticed.set()

            process.on_external_change(told)
            for number in range(20):
                await store.write(Accept((an_inbound(number),), NOW))
            name = "after"
            await operator.write(PlanParts((an_intent(1),), NOW))
            await asyncio.wait_for(noticed.wait(), PATIENCE)
            assert changes == ["after"]

    async def test_who_was_slower_loses(self, tmp_path: Path) -> None:
        """DU-12: the fences hold between operator and gateway; nothing of the losing write takes effect."""
        if not self.survives:
            return
        async with self.both(tmp_path) as (store, operator):
            await buried(store, 1)
            (dead,) = await operator.parts_in("dead")
            await store.write(ResendPart(dead))
            with refused(Superseded):
                await operator.write(PlanParts((an_intent(2),), NOW), ResendPart(dead))
            assert (await store.count_rows()).parts == {"planned": 1}

    async def test_a_gateway_keeps_its_claims(self, tmp_path: Path) -> None:
        """DU-13: a reader or writer beside the gateway takes nothing over."""
        if not self.survives:
            return
        async with self.both(tmp_path) as (store, operator):
            run = await begun(store, 1)
            await store.write(PlanParts((an_intent(1),), NOW, run))
            part = await claimed(store)
            await operator.write(PlanParts((an_intent(2, Route("web", "room")),), NOW))
            await store.write(MarkSent(part, "msg-1", NOW), EndRun(run, "answered", NOW))
            with refused(BadUse, "the gateway's own"):
                await operator.write(EndRun(run, "answered", NOW))

    async def test_what_is_under_way_is_counted(self, tmp_path: Path) -> None:
        """The console reads the count each second; work that has ended is not in it."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            await waiting(store, 2, 3)
            await store.write(PlanParts((an_intent(1), an_intent(2), an_intent(3)), NOW, run))
            await store.write(MarkSent(await claimed(store), "msg-1", NOW))
            await store.write(BuryPart(await claimed(store), "403"))
            assert await store.workload() == Workload(1, 2, {"dead": 1, "planned": 1})

    async def test_what_is_quarantined_is_counted(self, tmp_path: Path) -> None:
        """DU-2: `/health` gets the number of quarantined messages and turns."""
        async with self.opened(tmp_path) as store:
            (event,) = await accepted(store, 1)
            await store.write(QuarantineEvent(event.id, "odd"))
            assert (await store.workload()).quarantined == 1
            await store.write(RequestEventRerun(event.id))
            await store.write(ReadmitEvent(event.id))
            assert (await store.workload()).quarantined == 0

    async def test_who_asked_to_be_paired_is_let_in(self, tmp_path: Path) -> None:
        if not self.survives:
            return
        async with self.both(tmp_path) as (store, operator):
            request = PairingRequest("telegram", "default", "anna", "AAAA", NOW, NOW, NOW + timedelta(hours=1))
            await store.write(PutPairingRequest(request))
            assert await operator.write(PairSender("AAAA", NOW)) == request
            assert (await store.admission("telegram", "default")).paired == (Paired("telegram", "default", "anna"),)
            assert await operator.write(PairSender("AAAA", NOW)) is None

    async def test_whether_a_gateway_runs(self, tmp_path: Path) -> None:
        """The question does not keep a gateway from starting."""
        if not self.survives:
            return
        async with self.shared(tmp_path) as store, self._operator(tmp_path) as operator:
            assert await operator.gateway()
            await store.close()
            assert await operator.gateway() is None
        async with self.opened(tmp_path):
            pass
