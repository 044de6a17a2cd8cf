"""What a message costs the store, and what happens while nothing can be kept."""

import asyncio
import logging
import sqlite3
from datetime import timedelta

import pytest
from msgspec.structs import replace

from rejoinder import app
from rejoinder.channels.base import Delivered
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime import write_batch
from rejoinder.runtime.engine import utc_now
from rejoinder.runtime.tasks import Tasks
from rejoinder.runtime.upkeep import Upkeep
from rejoinder.store.base import PutSession
from rejoinder.store.sqlite import SqliteStore, writer
from rejoinder.store.sqlite.writer import Writer
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from tests.conversations.restarting import Machine, settled


@pytest.fixture
def commits(monkeypatch):
    """What was committed together, by the names of the verbs, and where the channel was called."""
    log, group = [], []
    perform, committed = writer.perform, Writer._committed

    def carried_out(db, verbs, lease):
        group.extend(type(verb).__name__ for verb in verbs)
        return perform(db, verbs, lease)

    def counted(self):
        log.append(tuple(group))
        group.clear()
        committed(self)

    monkeypatch.setattr(writer, "perform", carried_out)
    monkeypatch.setattr(Writer, "_committed", counted)
    return log


async def test_a_message_costs_two_commits_before_its_send(tmp_path, commits):
    """DU-12: accepted, decided and its turn begun; and what is planned, which is the sender's."""
    machine = Machine(tmp_path)
    seen = []

    async def send(part):
        seen.append(len(commits))
        shown = machine.channel._add("bot", part.text, None)
        await machine.channel._tell()
        return Delivered(shown.id)

    async with machine.running(ScriptedAgent("Hi.", "Again.")) as gateway:
        machine.channel.begin = machine.channel.send = send
        for said, heard in (("hello", "Hi."), ("once more", "Again.")):
            commits.clear()
            seen.clear()
            await machine.chat.says(said)
            await machine.chat.hears(heard)
            await settled(gateway)
            planned, *after = commits[seen[0] - 1 :]
            decided = [verb for commit in commits[: seen[0] - 1] for verb in commit]
            assert planned == ("PlanParts", "AppendTranscript")
            assert [verb for commit in after for verb in commit][:2] == ["MarkSent", "EndRun"]
            owners = {"MoveCursor"}  # once: where an owner writes
            assert {"Accept", "RouteEvent", "Trace", "NoteMessages", "BeginTurn", "PutSession"} == {*decided} - owners
        assert seen == [2], "when the place is known; of the first message it has to be read"


async def test_what_comes_together_is_one_commit(tmp_path, commits):
    """DU-12: a channel that delivers a batch waits for one."""
    machine = Machine(tmp_path)
    async with machine.running(ScriptedAgent(*["Hi."] * 5)):
        commits.clear()
        deliver = machine.channel._deliver
        batch = [Inbound("fake", f"e{n}", f"{n}", Chat(f"c{n}"), Sender(f"p{n}"), "hello") for n in range(5)]
        await deliver(*batch, cursor="5")
        assert commits[0][0] == "Accept"
        for _ in batch:
            await machine.chat.hears("Hi.")
    assert len([group for group in commits if "Accept" in group]) == 1


def refusing(code, tried):
    """A disk that takes nothing; `tried` is set by each attempt."""

    def refuse(self, *_):
        error = sqlite3.OperationalError("broken")
        error.sqlite_errorcode = code
        tried.set()
        raise error

    return refuse


@pytest.mark.parametrize("when", ["_do", "_commit_to_disk"])
@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (sqlite3.SQLITE_FULL, "full"),
        (sqlite3.SQLITE_READONLY, "read-only"),
        (sqlite3.SQLITE_BUSY, "locked"),
        (sqlite3.SQLITE_CORRUPT, "corrupt"),
    ],
)
async def test_while_nothing_can_be_kept_nothing_is_acknowledged(tmp_path, monkeypatch, caplog, code, fault, when):
    """DU-15: it is said once, health tells it, nothing is answered from memory; then everything goes on."""
    monkeypatch.setattr(write_batch, "PAUSE", 0.01)
    machine = Machine(tmp_path)
    tried = asyncio.Event()
    agent = ScriptedAgent("Hi.", "And you.")
    async with machine.running(agent) as gateway:
        await machine.chat.says("hello")
        await machine.chat.hears("Hi.")
        await settled(gateway)
        with caplog.at_level(logging.ERROR), monkeypatch.context() as broken:
            broken.setattr(Writer, when, refusing(code, tried))
            saying = asyncio.create_task(machine.chat.says("still there?"))
            for _ in range(3):
                tried.clear()
                await tried.wait()
            assert (await gateway.health()).fault == fault
            assert not saying.done()
            assert len(agent.turns) == 1
        await saying
        await machine.chat.hears("And you.")
        assert (await gateway.health()).fault is None
    assert len([record for record in caplog.records if "Nothing is acknowledged" in record.message]) == 1


async def test_a_store_that_breaks_while_an_agent_answers(tmp_path, monkeypatch):
    """DU-15: the answer is not lost and not said twice; it goes on when it can be kept."""
    monkeypatch.setattr(write_batch, "PAUSE", 0.01)
    machine = Machine(tmp_path)
    tried, go = asyncio.Event(), asyncio.Event()

    agent = ScriptedAgent([go.wait, "Hi."])
    async with machine.running(agent) as gateway:
        await machine.chat.says("hello")
        await machine.chat.asked(agent, 1)
        with monkeypatch.context() as broken:
            broken.setattr(Writer, "_do", refusing(sqlite3.SQLITE_FULL, tried))
            go.set()
            await tried.wait()
        await machine.chat.hears("Hi.")
        await settled(gateway)
        assert (await gateway.store.count_rows()).turns == {"closed": 1}
    assert len(agent.turns) == 1


@pytest.mark.parametrize("while_it", ["ends", "writes"])
async def test_who_is_told_to_end_ends_also_while_nothing_can_be_kept(tmp_path, monkeypatch, while_it):
    """DU-15, DU-2: a full disk does not hold up a stop, also when a draft is about to be shown; the next process runs
    what could not be kept once more."""
    monkeypatch.setattr(write_batch, "PAUSE", 0.01)
    monkeypatch.setattr(app, "PUTTING_AWAY", 0.1)
    machine = Machine(tmp_path)
    tried, go = asyncio.Event(), asyncio.Event()
    agent = ScriptedAgent([go.wait, "Hi.", *([asyncio.Event().wait] if while_it == "writes" else [])])
    settings = app.with_channel(machine.settings, machine.channel.name, agent.name, ("ann",))
    gateway = app.Gateway(settings, agents={agent.name: agent}, channels=[machine.channel], store=machine.url)
    async with Tasks() as tasks, gateway:
        tasks.start("gateway", gateway.serve())
        await machine.chat.says("hello")
        await machine.chat.asked(agent, 1)
        with monkeypatch.context() as broken:
            broken.setattr(Writer, "_do", refusing(sqlite3.SQLITE_FULL, tried))
            go.set()
            await tried.wait()
            if while_it == "writes":
                await until(lambda: any(each._requests for each in gateway.engine.outbox._senders.values()))
            await gateway.drain(grace=0)
            async with asyncio.timeout(PATIENCE):
                await tasks.idle()
    async with machine.running(ScriptedAgent("Hi once more.")):
        await machine.chat.hears("Hi once more.")


async def test_what_could_not_be_kept_is_nobodys_to_decide(tmp_path, monkeypatch, caplog):
    """DU-15: a decision that was under way is dropped without a word; the message comes again and is answered once."""
    monkeypatch.setattr(write_batch, "PAUSE", 0.05)
    machine = Machine(tmp_path)
    commits, fails, reads = Writer._commit_to_disk, Writer._failed, SqliteStore._read
    failed = asyncio.Event()

    def full_at_first(self):
        monkeypatch.setattr(Writer, "_commit_to_disk", commits)
        refusing(sqlite3.SQLITE_FULL, asyncio.Event())(self)

    def fail(self, error):
        fails(self, error)
        failed.set()

    async def read_late(self, *question):
        await failed.wait()
        return await reads(self, *question)

    agent = ScriptedAgent("Hi.")
    with caplog.at_level(logging.ERROR):
        async with machine.running(agent):
            monkeypatch.setattr(Writer, "_commit_to_disk", full_at_first)
            monkeypatch.setattr(Writer, "_failed", fail)
            monkeypatch.setattr(SqliteStore, "_read", read_late)
            await machine.chat.says("hello")
            await machine.chat.hears("Hi.")
    assert [record.message for record in caplog.records if record.exc_info] == []
    assert len(agent.turns) == 1


async def test_what_has_ended_long_ago_is_swept(tmp_path):
    """DU-14: in small steps, and not before 30 days."""
    machine = Machine(tmp_path)
    async with machine.running(ScriptedAgent("Hi.")) as gateway:
        await machine.chat.says("hello")
        await machine.chat.hears("Hi.")
        await settled(gateway)
        await Upkeep(gateway.store, utc_now).sweep()
        assert (await gateway.store.count_rows()).turns == {"closed": 1}
        await Upkeep(gateway.store, lambda: utc_now() + timedelta(days=31)).sweep()
        assert (await gateway.store.count_rows()).turns == {}


async def test_a_session_changed_beside_the_gateway(tmp_path):
    """DU-11: a decision over an old version is taken again, with what is there now."""
    machine = Machine(tmp_path)
    agent = ScriptedAgent("One.", "Two.")
    async with machine.running(agent) as gateway:
        await machine.chat.says("hello")
        await machine.chat.hears("One.")
        await settled(gateway)
        (kept,) = await gateway.store.sessions()
        await gateway.store.write(PutSession(replace(kept.session, think="high"), kept.version))
        await machine.chat.says("more")
        await machine.chat.hears("Two.")
    assert [turn.think for turn in agent.turns] == [None, "high"]
