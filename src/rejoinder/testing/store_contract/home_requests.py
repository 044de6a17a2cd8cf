"""Requests between the owners of different homes (SC-1, SC-12, SC-15)."""

from pathlib import Path

from msgspec.structs import replace

from rejoinder.errors import Superseded
from rejoinder.events import Question
from rejoinder.store.base import (
    Accept,
    AnswerAgent,
    AskHome,
    BeginTurn,
    Destination,
    EndHomeRequest,
    EndRun,
    PutQuestion,
    PutSubagent,
    RouteEvent,
    RunClaim,
    StopWork,
    StoredHomeRequest,
    StoredQuestion,
    StoredSubagent,
    TellSession,
)
from rejoinder.testing.store_contract.given import HERE, NOW, THREAD, an_inbound, begun, refused, waiting
from rejoinder.testing.store_contract.leases import TELEGRAM
from rejoinder.testing.store_contract.opened import Opened, claimed_by, elsewhere_in, shard_at


class HomeRequestsKept(Opened):
    async def test_a_request_waits_in_the_home_of_its_session(self, tmp_path: Path) -> None:
        """SC-1, SC-12: requests wait in order until each is carried out once; the owner of the session finds them."""
        async with self.shared(tmp_path) as store:
            there = elsewhere_in(store)
            mine = store.owned(await claimed_by(store, "one"))
            asked = (
                TellSession("It was not delivered."),
                AnswerAgent("q1", "yes", there, "ann", "m1"),
                StopWork(there),
            )
            other = mine if there is HERE else store.owned(await claimed_by(store, "two", there))
            for each in asked:
                await other.write(AskHome(TELEGRAM, each))
            found = await mine.home_requests()
            assert [(each.session, each.request) for each in found] == [(TELEGRAM, each) for each in asked]
            assert await store.shards_with_work() == {shard_at(store)}
            if there is not HERE:
                assert await other.home_requests() == ()
            await mine.write(EndHomeRequest(found[0].id))
            with refused(Superseded):
                await mine.write(EndHomeRequest(found[0].id))
            assert await mine.home_requests() == found[1:]
            assert isinstance(found[1], StoredHomeRequest)

    async def test_the_sessions_at_work_in_a_place_are_known(self, tmp_path: Path) -> None:
        """SC-15: sessions with an open turn or a waiting message in a place are found, whoever owns them."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1, session="s")
            await waiting(store, 2, session="t")
            assert await store.sessions_at_work(HERE) == ("s", "t")
            assert await store.sessions_at_work(THREAD) == ()
            await store.write(EndRun(run, "answered", NOW))
            assert await store.sessions_at_work(HERE) == ("t",)
            sub = StoredSubagent("sub", "u", "u", "eve", "a", "read", HERE, NOW)
            await store.write(PutSubagent(sub))
            assert await store.sessions_at_work(HERE) == ("t",)
            assert await store.sessions_at_work(HERE, beside=True) == ("t", "u")
            assert await store.sessions_at_work(THREAD, beside=True) == ()
            await store.write(PutSubagent(replace(sub, state="ended")))
            assert await store.sessions_at_work(HERE, beside=True) == ("t",)

    async def test_whether_somebody_talks_in_a_place_is_known(self, tmp_path: Path) -> None:
        """TU-26: running or waiting messages in a place show that somebody talks there, whoever owns them, and whatever
        session a job has."""
        async with self.opened(tmp_path) as store:
            own = replace(an_inbound(1), entry="cron")
            (event, said) = await store.write(Accept((own, an_inbound(2)), NOW))
            for each in (event, said):
                await store.write(RouteEvent(each.id, (Destination("s"),)))
            assert await store.is_talked_to(HERE)
            assert not await store.is_talked_to(THREAD)
            run = await store.write(BeginTurn("s", HERE, (said.id,), NOW))
            assert isinstance(run, RunClaim)
            assert await store.is_talked_to(HERE)
            await store.write(EndRun(run, "answered", NOW))
            assert not await store.is_talked_to(HERE)
            run = await store.write(BeginTurn("s", HERE, (event.id,), NOW))
            assert isinstance(run, RunClaim)
            assert not await store.is_talked_to(HERE)

    async def test_questions_of_other_homes_are_found(self, tmp_path: Path) -> None:
        """SC-15: questions of other homes are found while they are open; their homes are known for longer."""
        async with self.shared(tmp_path) as store:
            there = elsewhere_in(store)
            if there is HERE:
                return
            mine = store.owned(await claimed_by(store, "one"))
            other = store.owned(await claimed_by(store, "two", there))
            run = await begun(mine, 1, session=TELEGRAM)
            asked = StoredQuestion("q1", run.turn, TELEGRAM, "mark", Question("", "May I?"), there, ("ann",), NOW)
            await mine.write(PutQuestion(asked))
            assert await other.questions_elsewhere() == (asked,)
            assert await mine.questions_elsewhere() == await store.questions_elsewhere() == ()
            await mine.write(PutQuestion(replace(asked, state="answered")))
            assert await other.questions_elsewhere() == ()
            assert await other.asked_elsewhere(("q1", "q2")) == {"q1"}
            assert await mine.asked_elsewhere(("q1",)) == await store.asked_elsewhere(("q1",)) == frozenset()
