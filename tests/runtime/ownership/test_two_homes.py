"""A chat in another shard than the session it uses: who does what, and what follows when one of the two dies (SC-1,
SC-4)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.channels.base import Delivered, Limits, Unknown
from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.outbound.draft import Streaming
from rejoinder.outbound.operations import React, encode
from rejoinder.runtime.answer.drafting import streaming_at
from rejoinder.session import SessionSettings, route_home, shard_of
from rejoinder.store.base import (
    Accept,
    AnswerAgent,
    AskHome,
    IndexedMessage,
    NoteMessages,
    PartIntent,
    PlanParts,
    QuarantineEvent,
    RequestEventRerun,
    StopWork,
    TellSession,
)
from rejoinder.store.sql.values import seal
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing import FakeChannel, ScriptedAgent
from rejoinder.testing.patience import until
from rejoinder.testing.store_contract.given import NOW
from tests.runtime.ownership.test_moving_shards import (
    CHATS,
    LEASE,
    SHARDS,
    Finds,
    MovingShards,
    Platform,
    Process,
    World,
    ripple,
    search,
)

SESSION = shard_of("main", SHARDS)
CHAT = next(number for number in range(100) if shard_of(route_home(Route("fake", f"chat-{number}")), SHARDS) != SESSION)
"""It was written to before anybody spoke there, and stays where it was."""
AT_HOME = next(
    number for number in range(100) if shard_of(route_home(Route("fake", f"chat-{number}")), SHARDS) == SESSION
)
"""A chat in the shard of the session."""
PLACE = shard_of(route_home(Route("fake", f"chat-{CHAT}")), SHARDS)
SHARED = with_channel(
    Settings(
        session=SessionSettings(scope="shared"),
        messages=MessagesSettings(queue=QueueSection(mode="queue", debounce_ms=0)),
    ),
    "fake",
    "bot",
    (f"chat-{CHAT}",),
)


async def written_to(world: World, chat: int) -> None:
    route = Route("fake", f"chat-{chat}")
    await world.store.write(NoteMessages(route, (IndexedMessage("m0", "bot", NOW, "own"),)))


@asynccontextmanager
async def two_processes(platform: type[Platform] = Finds) -> AsyncIterator[tuple[World, Process, Process]]:
    """The first holds the shard of the chat, the second that of the session."""
    world = World()
    world.session_home = "main"
    await written_to(world, CHAT)
    one, two = (Process(world, name, platform, SHARED) for name in ("one", "two"))
    await one.open()
    await two.open()
    try:
        await one.claim(PLACE)
        await two.claim(SESSION)
        await ripple()
        yield world, one, two
    finally:
        world.agents_answer.set()
        world.seconds += 2 * LEASE
        for process in (one, two):
            await process.look()
            await process.gateway.__aexit__(None, None, None)
        assert not world.foreign_calls


async def go_on(*processes: Process) -> None:
    """All look what others have written, until nothing more follows."""
    for _ in range(6):
        await ripple(100)
        for process in processes:
            process.gateway.engines.changed()
    await ripple(100)


async def dies(world: World, survivor: Process) -> None:
    """The other one does nothing any more, and its lease runs out; the survivor renews its own."""
    for _ in range(2):
        world.seconds += LEASE / 2 + 0.5
        await survivor.renew(is_told=True)


async def test_the_owner_of_the_session_runs_the_turn() -> None:
    """SC-1: whichever process heard the message; the owner of the chat sends the answer."""
    async with two_processes() as (world, one, two):
        for process in (one, two):
            await process.says(CHAT)
            await go_on(one, two)
        assert world.said[f"chat-{CHAT}"] == ["re #1", "re #2"]
        assert (one.agent.asked, two.agent.asked) == (0, 2)
        assert (one.platform.sent, two.platform.sent) == (2, 0)
        assert set((await world.store.count_rows()).turns) == {"closed"}


class Edits(Finds):
    """Could show an answer while it is written."""

    limits = Limits(length=4000)

    async def edit(self, route, message, part):
        self.world.called(self.holder, route.chat, "edits")
        return Delivered(message)


@pytest.mark.parametrize(("chat", "shown"), [(CHAT, "off"), (AT_HOME, "edits")])
async def test_there_are_no_drafts_between_two_homes(chat: int, shown: str) -> None:
    """SC-1: only the owner of a chat sends there."""
    async with two_processes(Edits) as (_, one, two):
        await two.says(chat)
        await go_on(one, two)
        engine = two.gateway.engines.of(SESSION)
        assert engine is not None
        conversation = engine.conversations.at(Route("fake", f"chat-{chat}"))
        assert conversation is not None
        options = conversation.settings.delivery.options
        assert streaming_at(conversation.sender, Streaming("edits"), options, other_bot=False).mode == shown


async def test_what_people_say_meanwhile_reaches_the_run() -> None:
    """SC-1, IN-70: a command is carried out where the session is."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await one.says(CHAT)
        await go_on(one, two)
        assert (await world.store.workload()).runs == 1
        await one.gateway.dispatch(spoken("/stop"))
        await go_on(one, two)
        assert (await world.store.workload()).runs == 0
        assert set((await world.store.count_rows()).turns) == {"closed"}
        assert world.said[f"chat-{CHAT}"] == ["Agent was aborted."]


async def test_a_message_that_was_accepted_for_the_owner_of_the_chat_is_given_on() -> None:
    """SC-1: as a version before did. It is answered by the owner of the session, in its order."""
    async with two_processes() as (world, one, two):
        world.asked_in |= {"#8": f"chat-{CHAT}", "#9": f"chat-{CHAT}"}
        await world.store.write(Accept((spoken("#8"), spoken("#9")), NOW))
        await go_on(one, two)
        assert world.said[f"chat-{CHAT}"] == ["re #8", "re #9"]
        assert (one.agent.asked, two.agent.asked) == (0, 2)


async def test_a_message_that_is_to_run_again_is_given_on_too() -> None:
    """SC-1, DU-2: it was put into quarantine by a version before, or by the owner of the chat before `rehome`."""
    async with two_processes() as (world, one, two):
        world.asked_in["#8"] = f"chat-{CHAT}"
        (event,) = await world.store.write(Accept((spoken("#8"),), NOW))
        await world.store.write(QuarantineEvent(event.id, "it crashed"))
        await world.store.write(RequestEventRerun(event.id))
        await go_on(one, two)
        assert world.said[f"chat-{CHAT}"] == ["re #8"]
        assert (one.agent.asked, two.agent.asked) == (0, 1)


async def test_a_turn_is_answered_though_the_owner_of_its_chat_dies() -> None:
    """SC-4: once, and sent by whoever owns the chat then; what comes later is answered, too."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await one.says(CHAT)
        await go_on(one, two)
        await dies(world, two)
        world.agents_answer.set()
        await go_on(two)
        assert world.said[f"chat-{CHAT}"] == []
        await two.claim(PLACE)
        await go_on(two)
        assert world.said[f"chat-{CHAT}"] == ["re #1", "re #2"]
        await two.says(CHAT)
        await go_on(two)
        assert world.said[f"chat-{CHAT}"] == ["re #1", "re #2", "re #3"]
        assert (await world.store.workload()).runs == 0
        assert set((await world.store.count_rows()).turns) == {"closed"}


async def test_a_turn_is_answered_though_the_owner_of_its_session_dies() -> None:
    """SC-4, DU-2: by whoever owns the session then; what was queued behind it is answered after it."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await one.says(CHAT)
        await go_on(one, two)
        await dies(world, one)
        await one.claim(SESSION)
        world.agents_answer.set()
        await go_on(one)
        assert world.said[f"chat-{CHAT}"] == ["re #1", "re #2"]
        assert [await attempts(world, turn) for turn in (1, 2)] == [2, 1]
        assert set((await world.store.count_rows()).turns) == {"closed"}


async def test_a_turn_goes_on_when_the_shard_of_its_chat_moves() -> None:
    """SC-3: its run belongs to the owner of its session."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await go_on(one, two)
        await one.gateway.engines.hand_over(PLACE, 0.0)
        await two.claim(PLACE)
        await go_on(one, two)
        world.agents_answer.set()
        await go_on(one, two)
        assert world.said[f"chat-{CHAT}"] == ["re #1"]
        assert await attempts(world, 1) == 1


async def test_a_reaction_that_could_not_be_made_is_told_as_one() -> None:
    """SC-1: outcomes return as events of the session; what was said has arrived."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        await one.says(CHAT)
        await go_on(one, two)
        engine, route = two.gateway.engines.of(SESSION), Route("fake", f"chat-{CHAT}")
        assert engine is not None
        (lane,) = engine.lanes.at(route)
        assert lane.run is not None
        reaction = PartIntent("reaction", route, encode(React("m1", "👍")), "react")
        await engine.store.write(PlanParts((reaction,), NOW, lane.run.claim))
        await go_on(one, two)
        kept = await world.store.session(lane.key)
        assert kept is not None
        (event,) = kept.session.system_events
        assert event.startswith(f"Your reaction in fake chat-{CHAT} was not made: ")


async def test_what_people_are_still_to_be_told_is_kept_by_each_owner() -> None:
    """DU-3, SC-4: that an answer may not have arrived, with the next message that arrives there, whoever sends it."""
    arrives = asyncio.Event()

    class Doubtful(Platform):
        async def send(self, part):
            return await super().send(part) if arrives.is_set() else Unknown("no answer came")

    async with two_processes(Doubtful) as (world, one, two):
        for chat in (CHAT, AT_HOME):
            await two.says(chat)
            await go_on(one, two)
        arrives.set()
        await one.gateway.engines.hand_over(PLACE, 0.0)
        await two.gateway.engines.hand_over(SESSION, 0.0)
        await one.claim(SESSION)
        await two.claim(PLACE)
        for number, chat in enumerate((CHAT, AT_HOME), 3):
            await two.says(chat)
            await go_on(one, two)
            answer, told = world.said[f"chat-{chat}"]
            assert answer == f"re #{number}"
            assert "may not have arrived" in told


async def attempts(world: World, number: int) -> int:
    turn = await world.store.turn(number)
    assert turn is not None
    assert turn.turn.state == "closed"
    return turn.turn.attempts


def spoken(text: str) -> Inbound:
    return Inbound("fake", f"e{text}", f"m{text}", Chat(f"chat-{CHAT}", "direct"), Sender(f"chat-{CHAT}"), text)


class OneSession(MovingShards):
    """All chats share a session, and each is in a shard of its own."""

    configured = SHARED
    session_home = "main"

    async def _open(self, platform: type[Platform]) -> None:
        for number in range(CHATS):
            await written_to(self.world, number)
        await super()._open(platform)


def test_each_message_gets_one_answer_in_a_session_of_many_homes() -> None:
    """SC-1, SC-4: wherever its chats and the session move, nothing of it is stuck, lost or said twice."""
    search(OneSession, 30)


async def test_a_request_that_fails_stays_and_is_logged_once(caplog, monkeypatch) -> None:
    """SC-12: it is tried again at each look, and holds up none behind it."""
    async with two_processes() as (world, one, two):
        engine = two.gateway.engines.of(SESSION)
        assert engine is not None

        async def fails(*_) -> None:
            raise ValueError("odd")

        with monkeypatch.context() as patched:
            patched.setattr(engine.subagents, "stop", fails)
            for asked in (StopWork(Route("fake", f"chat-{CHAT}")), TellSession("It was not delivered.")):
                await world.store.write(AskHome("bot:main", asked))
            for _ in range(3):
                await go_on(one, two)
            assert [type(left.request) for left in await engine.store.home_requests()] == [StopWork]
        assert [each.levelname for each in caplog.records if "could not be carried out" in each.message] == ["ERROR"]
        await go_on(one, two)
        assert await engine.store.home_requests() == ()


async def test_a_late_stop_leaves_what_came_after_it() -> None:
    """SC-15: the run from before is ended, and a later message that waits behind it has its turn."""
    async with two_processes() as (world, one, two):
        world.agents_answer.clear()
        for _ in range(3):
            await one.says(CHAT)
        await go_on(one, two)
        (last,) = await world.store.events_of("m3")
        await world.store.write(AskHome("bot:main", StopWork(Route("fake", f"chat-{CHAT}"), last.id)))
        await go_on(one, two)
        world.agents_answer.set()
        await go_on(one, two)
        assert world.said[f"chat-{CHAT}"] == ["re #3"]
        assert set((await world.store.count_rows()).turns) == {"closed"}


@pytest.mark.parametrize("way", ["damaged", "of another version"])
async def test_a_request_that_cannot_be_read_holds_up_none_behind_it(way: str, caplog) -> None:
    """SC-12, SC-25: a damaged one is removed, and the log says so once; one of another version is left to others."""
    body = seal(b'{"of": "later"}') if way == "of another version" else b"\0\0\0\0{}"
    async with two_processes() as (world, one, two):
        await two.says(AT_HOME)
        await go_on(one, two)
        await world.store.write(AskHome("bot:main", StopWork(Route("fake", f"chat-{CHAT}"))))
        assert world.store._writer._db is not None
        world.store._writer._db.execute("UPDATE home_request SET body = ?", (body,))
        await world.store.write(AskHome("bot:main", TellSession("It was not delivered.")))
        for _ in range(3):
            await go_on(one, two)
        kept = await world.store.session("bot:main")
        assert kept is not None
        assert kept.session.system_events == ("It was not delivered.",)
        assert await world.store.shards_with_work() == ({SESSION} if way == "of another version" else set())
    told = [each.message for each in caplog.records if each.levelname == "ERROR"]
    assert told == (
        ["bot:main: a request of another home is damaged and cannot be carried out; it was removed"]
        if way == "damaged"
        else []
    )


async def test_what_a_home_was_asked_is_done_also_when_its_store_has_become_one_shard():
    """SC-1, SC-23: it was asked in a cluster, whose store was then copied for one gateway alone."""
    store, channel, agent = open_store(MEMORY), FakeChannel(), ScriptedAgent()
    await store.write(AskHome("bot:main", TellSession("It was not delivered.")))
    settings = with_channel(Settings(), channel.name, agent.name, ())
    async with Gateway(settings, agents={agent.name: agent}, channels=[channel], store=store) as gateway:
        serving = asyncio.create_task(gateway.serve())

        async def is_done() -> bool:
            return not await gateway.engine.store.home_requests()

        await until(is_done)
        await channel.close()
        await serving


async def test_the_reply_to_an_answer_is_said_also_when_its_store_has_become_one_shard():
    """SC-15, SC-23: the question was over by then."""
    store, channel, agent = open_store(MEMORY), FakeChannel(), ScriptedAgent()
    await store.write(AskHome("bot:main", AnswerAgent("q1", "yes", Route(channel.name, "ann"), "ann")))
    settings = with_channel(Settings(), channel.name, agent.name, ())
    async with Gateway(settings, agents={agent.name: agent}, channels=[channel], store=store) as gateway:
        serving = asyncio.create_task(gateway.serve())
        await until(lambda: channel.messages)
        await channel.close()
        await serving
