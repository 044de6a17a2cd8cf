"""A turn whose chat is in another shard than its session: that of a job, in somebody's chat (SC-1, SC-15)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import Agent
from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.events import Chat, Route, Sender
from rejoinder.runtime.session.background import Background
from rejoinder.runtime.session.subagents import SubagentParent
from rejoinder.session import job_key, route_home, session_home, shard_of
from rejoinder.store.base import Accept, AskHome, IndexedMessage, NoteMessages, RequestJobRun, StopWork
from rejoinder.store.postgresql.store import open_store
from rejoinder.store.sql.values import seal
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.store_contract.given import NOW, an_inbound
from rejoinder.turns.heartbeat import heartbeat_of
from rejoinder.turns.subagents import SpawnRequest
from tests.cluster.beside import configuration, owns, serving
from tests.cluster.test_from_anywhere import Long, said
from tests.conversations.agents import Asking, told
from tests.conversations.test_subagents import Team, by_task
from tests.postgres import Server, a_database, database_of

SHARDS = 4


class Homes:
    """One process with four shards; `job` is a job whose session is in another shard than the chat it speaks in."""

    def __init__(self, url: str, platform: FakePlatform, gateway: Gateway, agent: str, session: str, job: str) -> None:
        self.url = url
        self.platform = platform
        self.gateway = gateway
        self.agent = agent
        self.session = session
        self.job = job

    @property
    def chat(self) -> Route:
        return Route("telegram", self.platform.id_of("ann"))

    async def has_obeyed(self) -> bool:
        """What the owners of homes were asked is done."""
        shard = shard_of(session_home(self.session), SHARDS)
        engine = self.gateway.engines.of(shard)
        assert engine is not None
        return not await engine.store.home_requests()

    def told(self, text: str) -> list[str]:
        """What people were told that has this in it."""
        return [seen.text for seen in self.platform.truth.messages("ann") if text in seen.text]

    async def runs(self) -> None:
        await self.gateway.store.write(RequestJobRun(self.job))

    async def begins(self, id: str, text: str, answerable: tuple[str, ...] = ()) -> None:
        """Another turn of the session of the job."""
        turn = Background(
            id=id, agent=self.agent, session=self.session, text=text, target=self.chat, answerable=answerable
        )
        await self.gateway.begin(turn)


@asynccontextmanager
async def two_homes(
    postgres: Server, agent: Agent, *, heartbeat: bool = False, shared: bool = False
) -> AsyncIterator[Homes]:
    """`shared`: the session of the chat is in a third shard; the chat was written to before."""
    url = a_database(postgres, "four_shards")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        ann = platform.id_of("ann")
        taken = {shard_of(route_home(Route("telegram", ann)), SHARDS)}
        taken |= {shard_of("main", SHARDS)} if shared else set()
        names = (f"job-{number}" for number in range(50))
        keys = ((name, job_key(agent.name, name)) for name in names)
        job, session = next((name, key) for name, key in keys if shard_of(session_home(key), SHARDS) not in taken)
        text = configuration(platform, "telegram", agent.name)
        about = f'every = "1h"\nprompt = "Look."\nchannel = "telegram"\nchat = "{ann}"\n'
        if heartbeat:
            job = heartbeat_of(agent.name)
            text += f'[agents.{agent.name}.heartbeat]\nsession = "{session}"\n{about}'
        else:
            text += f"[cron.{job}]\n{about}"
        if shared:
            text += '[session]\nscope = "shared"\n'
        settings = read(text, "rejoinder.toml", {})
        gateway = await stack.enter_async_context(serving(settings, {agent.name: agent}, url))
        await until(lambda: owns(gateway, SHARDS))

        async def is_scheduled() -> bool:
            return any(each.due is not None for each in await gateway.store.jobs())

        await until(is_scheduled)
        if shared:
            earlier = IndexedMessage("1", agent.name, NOW, "own")
            await gateway.store.write(NoteMessages(Route("telegram", ann), (earlier,)))
        await platform.says("ann", "ann", "/whoami")
        await platform.hears("ann")
        yield Homes(url, platform, gateway, agent.name, session, job)


@pytest.mark.parametrize("words", ["/stop", "/stop!", "[[/stop]]", "Stop."])
async def test_it_is_stopped_from_the_chat(postgres: Server, words: str) -> None:
    """SC-15: in whatever words, /stop reaches the owner of every session that works for the chat."""
    agent = Long()
    async with two_homes(postgres, agent) as homes:
        await homes.runs()
        await until(lambda: agent.turns)
        await homes.platform.says("ann", "ann", words)
        await agent.stopped.wait()
        await homes.platform.hears("ann", "Agent was aborted.")
        await homes.platform.says("ann", "ann", words)
        await homes.platform.hears("ann", "Nothing is running.")


async def test_its_sub_agent_is_stopped_from_the_chat(postgres: Server) -> None:
    """SC-15, TU-36: also when nothing else of its session is at work there any more."""
    agent = Team(by_task)
    async with two_homes(postgres, agent) as homes:
        engine = homes.gateway.engines.of_session(homes.session)
        assert engine is not None
        parent = SubagentParent(homes.session, agent.name, homes.chat, (), lifts=True, key="k1", by_person=True)
        await engine.subagents.start(SpawnRequest(agent.name, "wait"), parent)
        await agent.asked(1)
        await homes.platform.says("ann", "ann", "/stop")
        await homes.platform.hears("ann", "Agent was aborted.")
        await until(lambda: agent.cancelled)


@pytest.mark.parametrize("by", ["button", "words"])
async def test_its_question_is_answered_in_the_chat(postgres: Server, by: str) -> None:
    """SC-15, TU-34: by a button or by words, and the question says so."""
    agent = Asking()
    async with two_homes(postgres, agent) as homes:
        platform = homes.platform
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        asked = await platform.hears("ann")
        assert "May I delete it all?" in asked.text
        if by == "button":
            await platform.presses("ann", "ann", asked.id, "Allow once")
        else:
            await _is_shown(homes)
            await platform.says("ann", "ann", "yes")
        await said(platform, "I was told allow-once.")
        await said(platform, "May I delete it all?\n\nAllowed")


@pytest.mark.parametrize("by", ["button", "words"])
async def test_its_question_is_answered_where_three_homes_meet(postgres: Server, by: str) -> None:
    """SC-15, TU-34: neither the owner of the chat nor the owner of its session has asked."""
    async with two_homes(postgres, Asking(), shared=True) as homes:
        platform = homes.platform
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        asked = await platform.hears("ann")
        if by == "button":
            await platform.presses("ann", "ann", asked.id, "Allow once")
        else:
            await platform.says("ann", "ann", "yes")
        await said(platform, "I was told allow-once.")
        await said(platform, "May I delete it all?\n\nAllowed")


async def test_its_question_stays_open_when_another_shard_moves(postgres: Server) -> None:
    """SC-4, TU-34: that of its chat, or any other; the new owner closes what sessions of that shard had asked."""
    async with two_homes(postgres, Asking()) as homes:
        platform, engines = homes.platform, homes.gateway.engines
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        asked = await platform.hears("ann")
        at_home = shard_of(session_home(homes.session), SHARDS)
        for shard in sorted(set(range(SHARDS)) - {at_home}):
            await engines.hand_over(shard, 0.0)
        await until(lambda: owns(homes.gateway, SHARDS))
        await platform.presses("ann", "ann", asked.id, "Allow once")
        await said(platform, "I was told allow-once.")
        await said(platform, "May I delete it all?\n\nAllowed")


async def test_a_question_that_is_over_before_it_is_shown_loses_its_buttons(postgres: Server) -> None:
    """TU-34: the owner of the chat shows it later, and only the store knows when."""
    agent = Asking()
    async with two_homes(postgres, agent) as homes:
        platform = homes.platform
        platform.fault("429", seconds=2.0)
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        await until(lambda: agent.turns)
        await _is_shown(homes)
        await homes.gateway.store.write(AskHome(homes.session, StopWork(homes.chat)))
        await until(homes.has_obeyed)
        assert not homes.told("May I delete it all?")
        await said(platform, "May I delete it all?\n\nNo longer valid: the run has ended.")


async def test_a_question_that_is_not_shown_does_not_keep_the_gateway_from_ending(postgres: Server) -> None:
    """DU-2, TU-34: the next owner of its session removes its buttons."""
    agent = Asking()
    async with two_homes(postgres, agent) as homes:
        homes.platform.fault("429", seconds=PATIENCE)
        await homes.begins("t1", "Clean up.", answerable=(homes.platform.id_of("ann"),))
        await until(lambda: agent.turns)
        await _is_shown(homes)
        await homes.gateway.store.write(AskHome(homes.session, StopWork(homes.chat)))
        await until(homes.has_obeyed)
        await homes.gateway.drain(0)
        async with asyncio.timeout(10):
            await homes.gateway.tasks.idle()


async def test_words_answer_no_question_that_is_over(postgres: Server) -> None:
    """SC-15, TU-34: where a platform cannot edit, nothing is written to the home of the chat when it is over."""
    async with two_homes(postgres, Asking()) as homes:
        platform = homes.platform
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        await platform.hears("ann")
        await _is_shown(homes)
        postgres.execute("UPDATE question SET state = 'over'", database_of(homes.url))
        await platform.says("ann", "ann", "yes")
        await until(lambda: len(homes.told("May I delete it all?")) == 2)


async def _is_shown(homes: Homes) -> None:
    """The owner of the chat knows that somebody is asked there."""
    engine = homes.gateway.engines.of(shard_of(route_home(homes.chat), SHARDS))
    assert engine is not None
    await until(lambda: engine.turn_runner.questions.waiting_for(homes.chat.chat, homes.chat) is not None)


async def test_its_agent_hears_what_became_of_its_words(postgres: Server) -> None:
    """SC-1: the turn is over when they are planned; what they came to is told with the next one."""
    agent = ScriptedAgent("The disk is full.", "All right.")
    async with two_homes(postgres, agent) as homes:
        homes.platform.fault("403")
        await homes.runs()

        async def is_told() -> bool:
            kept = await homes.gateway.store.session(homes.session)
            return kept is not None and bool(kept.session.system_events)

        await until(is_told)
        await homes.begins("t2", "And now?")
        await until(lambda: len(agent.turns) == 2)
        assert f"What you said to telegram {homes.chat.chat} was not delivered" in told(agent.turns[-1])


async def test_a_heartbeat_does_not_speak_while_somebody_talks_there(postgres: Server) -> None:
    """TU-26, SC-1: also if that is another home."""
    agent = Long()
    async with two_homes(postgres, agent, heartbeat=True) as homes:
        await homes.platform.says("ann", "ann", "Look it up.")
        await until(lambda: agent.turns)
        await homes.runs()

        async def is_passed() -> bool:
            (kept,) = await homes.gateway.store.jobs()
            return kept.passed is not None and kept.reason == "somebody is talking to the agent"

        await until(is_passed)
        await homes.platform.says("ann", "ann", "/stop")
        await agent.stopped.wait()


async def test_a_heartbeat_may_speak_beside_other_turns_of_jobs(postgres: Server) -> None:
    """TU-26, SC-1: nobody talks there, whatever session such a turn belongs to."""
    agent = Long()
    async with two_homes(postgres, agent, heartbeat=True) as homes:
        about = {"agent": agent.name, "session": f"{agent.name}:report", "text": "Write the report."}
        await homes.gateway.begin(Background(id="t1", target=homes.chat, **about))
        await until(lambda: len(agent.turns) == 1)
        await homes.runs()
        await until(lambda: len(agent.turns) == 2)
        await homes.platform.says("ann", "ann", "/stop")
        await agent.stopped.wait()


async def test_what_was_given_up_is_sent_again_by_its_owner(postgres: Server) -> None:
    """DU-3, SC-15: `/status` counts it and `/resend` has it sent, though the chat is in another home than its
    session."""
    agent = ScriptedAgent("The disk is full.")
    async with two_homes(postgres, agent, shared=True) as homes:
        platform = homes.platform
        platform.fault("403")
        await platform.says("ann", "ann", "How is it?")

        async def is_given_up() -> bool:
            return bool(await homes.gateway.store.parts_in("dead"))

        await until(is_given_up)
        await platform.says("ann", "ann", "/status")
        await said(platform, "/resend sends the 1 of this chat again")
        await platform.says("ann", "ann", "/resend")
        await said(platform, "Sent again: 1.")
        await said(platform, "The disk is full.")


async def test_a_late_stop_ends_nothing_that_began_after_it(postgres: Server) -> None:
    """SC-15: its owner was away, or died before it could note that the work was stopped."""
    agent = Long()
    async with two_homes(postgres, agent) as homes:
        await homes.runs()
        await until(lambda: agent.turns)
        (asked,) = await homes.gateway.store.write(Accept((an_inbound(1),), NOW))
        for stop, is_meant in ((StopWork(homes.chat, 1), False), (StopWork(homes.chat, asked.id), True)):
            await homes.gateway.store.write(AskHome(homes.session, stop))
            await until(homes.has_obeyed)
            assert agent.stopped.is_set() is is_meant


async def test_a_turn_that_cannot_be_read_holds_up_nothing(postgres: Server) -> None:
    """DE-3, SC-25: its words are given up like any others; whoever cannot read it tells its session nothing."""
    agent = ScriptedAgent("The disk is full.")
    async with two_homes(postgres, agent) as homes:
        platform, database = homes.platform, database_of(homes.url)
        platform.fault("429", seconds=1.0)
        platform.fault("403")
        await homes.runs()
        await until(lambda: postgres.execute("SELECT 1 FROM part WHERE state = 'retry'", database))
        postgres.execute("UPDATE inbox SET body = '\\x00'", database)
        await until(lambda: postgres.execute("SELECT 1 FROM part WHERE state = 'dead'", database))
        await platform.says("ann", "ann", "/whoami")
        await until(lambda: len(homes.told("You are")) == 2)


async def test_a_question_that_cannot_be_read_does_not_keep_its_home_from_recovering(postgres: Server) -> None:
    """SC-4, SC-25: a newer version has asked it; the turn runs again, and asks again."""
    agent = Asking()
    async with two_homes(postgres, agent) as homes:
        platform, database = homes.platform, database_of(homes.url)
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        await platform.hears("ann")
        postgres.execute("UPDATE question SET body = '\\x00'", database)
        await homes.gateway.engines.hand_over(shard_of(session_home(homes.session), SHARDS), 0.0)
        await until(lambda: len(agent.turns) == 2)
        await until(lambda: owns(homes.gateway, SHARDS))


async def test_a_question_that_cannot_be_read_holds_up_no_other_home(postgres: Server) -> None:
    """SC-25: a newer version has asked it; the owner of the chat goes on with what others accept for it."""
    agent = Asking()
    async with two_homes(postgres, agent) as homes:
        platform, database = homes.platform, database_of(homes.url)
        await homes.begins("t1", "Clean up.", answerable=(platform.id_of("ann"),))
        await _is_shown(homes)
        postgres.execute("UPDATE question SET body = '\\x00'", database)
        text = replace(an_inbound(1), channel="telegram", chat=Chat(homes.chat.chat), sender=Sender(homes.chat.chat))
        shown = replace(text, text="/whoami")
        home = route_home(homes.chat)
        other = open_store(homes.url)
        await other.write(Accept((shown,), NOW, homes=(home,)))
        await other.close()
        await until(lambda: len(homes.told("You are")) == 2)


async def test_a_sub_agent_of_another_version_is_left_to_it(postgres: Server) -> None:
    """SC-25, TU-36: neither it nor its turn goes on here, and nothing else waits for them."""
    agent = Team(by_task)
    async with two_homes(postgres, agent) as homes:
        database, engine = database_of(homes.url), homes.gateway.engines.of_session(homes.session)
        assert engine is not None
        parent = SubagentParent(homes.session, agent.name, homes.chat, (), lifts=True, key="k1", by_person=True)
        await engine.subagents.start(SpawnRequest(agent.name, "wait"), parent)
        await agent.asked(1)
        strange = seal(b'{"session": 7}').hex()
        postgres.execute(f"UPDATE subagent SET body = '\\x{strange}'", database)
        await homes.gateway.engines.hand_over(shard_of(session_home(homes.session), SHARDS), 0.0)
        await until(lambda: owns(homes.gateway, SHARDS))
        await homes.begins("t2", "And now?")
        await agent.asked(2)
        assert "could not finish" not in told(agent.turns[1])
        assert postgres.execute("SELECT state FROM subagent", database) == [("running",)]
        assert ("open",) in postgres.execute("SELECT state FROM turn", database)
