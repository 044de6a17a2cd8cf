"""What another version of the gateway has kept, and this one cannot read: one message pays, the others go on."""

import sqlite3
from contextlib import closing

import msgspec
import pytest

from rejoinder.runtime.place import turn_routing
from rejoinder.runtime.session import journal, payloads
from rejoinder.runtime.session.notices import UNREADABLE
from rejoinder.store.sql.values import seal
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import until as waits_for
from tests.conversations.restarting import Machine, settled, until
from tests.conversations.test_restarts import never, queueing
from tests.conversations.test_subagents import Team, by_task, told

STRANGE = msgspec.msgpack.encode({"agent": 5})


def kept_strangely(monkeypatch, name: str, text: str):
    """As another version would keep what has this text in it."""
    as_usual = getattr(payloads, name)

    def pack(value, *rest):
        return STRANGE if text in str(value) else as_usual(value, *rest)

    monkeypatch.setattr(turn_routing if name == "pack" else journal, name, pack)


async def test_a_turn_that_cannot_be_read_is_quarantined(tmp_path, monkeypatch, caplog):
    """DU-13, DU-14: with a sentence for the person; the turns of others go on, and the next message is answered."""
    machine = Machine(tmp_path)
    with monkeypatch.context() as patched:
        kept_strangely(patched, "pack", "odd")
        agent = ScriptedAgent(["I was sa", never], [never])
        async with machine.running(agent, killed=True):
            await machine.chat.says("odd")
            await machine.chat.asked(agent, 1)
            await machine.chat.says("hello", sender="bob", chat="bob")
            await machine.chat.asked(agent, 2)
    async with machine.running(ScriptedAgent("Hi, Bob.", "Fine.")) as gateway:
        assert {(await machine.chat.hears()).text for _ in range(2)} == {UNREADABLE, "Hi, Bob."}
        await machine.chat.says("and now?")
        await machine.chat.hears("Fine.")
        assert (await gateway.store.count_rows()).turns["quarantined"] == 1
    assert "cannot be read" in caplog.text


async def test_what_a_turn_was_to_tell_and_cannot_be_read(tmp_path, monkeypatch):
    """DU-13: as with the message itself."""
    machine = Machine(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(
            "rejoinder.runtime.session.journal.pack_context", lambda told: msgspec.msgpack.encode({"begins": "odd"})
        )
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True):
            await machine.chat.says("hello")
            await machine.chat.asked(agent, 1)
    async with machine.running(ScriptedAgent("Fine.")):
        await machine.chat.hears(UNREADABLE)
        await machine.chat.says("and now?")
        await machine.chat.hears("Fine.")


@pytest.mark.parametrize("odd", ["first", "second", "third"])
async def test_what_waited_and_cannot_be_read_is_quarantined(tmp_path, monkeypatch, odd):
    """DU-13, TU-10: of what waits in one line, the others keep their places."""
    machine = Machine(tmp_path, queueing("followup", debounce_ms=1))
    with monkeypatch.context() as patched:
        kept_strangely(patched, "pack", odd)
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True) as gateway:
            await machine.chat.says("zeroth")
            await machine.chat.asked(agent, 1)
            for text in ("first", "second", "third"):
                await machine.chat.says(text)
            while (await gateway.store.count_rows()).inputs.get("waiting") != 3:
                continue
    agent = ScriptedAgent(*["Yes."] * 3)
    async with machine.running(agent):
        said = [(await machine.chat.hears()).text for _ in range(4)]
    assert sorted(said) == sorted([UNREADABLE, *["Yes."] * 3])
    told = ["\n".join(part.text for part in turn.parts) for turn in agent.turns]
    left = [text for text in ("zeroth", "first", "second", "third") if text != odd]
    assert [text for turn in told for text in left if f"\n{text}" in turn] == left


# --- rows that cannot be read at all ------------------------------------------------------------------

STRANGE_TO = {
    "inbox": b'{"channel": 7}',
    "session": b'{"key": 7}',
    "turn": msgspec.msgpack.encode({"begins": "odd"}),
    "turn_input": STRANGE,
    "subagent": b'{"session": 7}',
}
WAYS = ["of another version", "damaged"]


def spoil(machine: Machine, table: str, where: str, way: str) -> bytes:
    """One row becomes one that cannot be read: its body from now on."""
    body = seal(STRANGE_TO[table]) if way == "of another version" else b"\0\0\0\0" + STRANGE_TO[table]
    with closing(sqlite3.connect(machine.url.removeprefix("sqlite:"))) as db, db:
        assert db.execute(f"UPDATE {table} SET body = ? WHERE {where}", (body,)).rowcount == 1
    return body


def bodies(machine: Machine, table: str) -> set[bytes]:
    with closing(sqlite3.connect(machine.url.removeprefix("sqlite:"))) as db:
        return {body for (body,) in db.execute(f"SELECT body FROM {table}")}


@pytest.mark.parametrize("way", WAYS)
async def test_an_accepted_event_that_cannot_be_read(tmp_path, monkeypatch, caplog, way):
    """DU-13, DU-14: it is quarantined, stays on disk, and is listed; the start goes on with the others."""
    machine = Machine(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("rejoinder.runtime.place.decider.Decider.decide", lambda *_: None)  # it dies before it decides
        async with machine.running(ScriptedAgent(), killed=True):
            await machine.chat.says("odd")
            await machine.chat.says("hello", sender="bob", chat="bob")
    odd = spoil(machine, "inbox", "id = 1", way)
    async with machine.running(ScriptedAgent("Hi, Bob.", "Fine.")) as gateway:
        await machine.chat.hears("Hi, Bob.")
        await machine.chat.says("and now?")
        await machine.chat.hears("Fine.")
        (quarantined,) = await gateway.store.quarantined()
        assert (quarantined.kind, quarantined.where) == ("message", "fake")
        assert "cannot be read" in quarantined.why
    assert odd in bodies(machine, "inbox")
    assert "quarantined" in caplog.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("table", "where"), [("inbox", "id = 1"), ("turn", "id = 1"), ("turn_input", "event = 1")])
async def test_an_open_turn_of_which_something_cannot_be_read(tmp_path, table, where, way):
    """DU-13: the person is told where the turn is answered; the next message and other people's turns go on."""
    machine = Machine(tmp_path)
    agent = ScriptedAgent([never], [never])
    async with machine.running(agent, killed=True):
        await machine.chat.says("odd")
        await machine.chat.asked(agent, 1)
        await machine.chat.says("hello", sender="bob", chat="bob")
        await machine.chat.asked(agent, 2)
    odd = spoil(machine, table, where, way)
    async with machine.running(ScriptedAgent("Hi, Bob.", "Fine.")) as gateway:
        assert {(await machine.chat.hears()).text for _ in range(2)} == {UNREADABLE, "Hi, Bob."}
        await machine.chat.says("and now?")
        await machine.chat.hears("Fine.")
        assert [quarantined.kind for quarantined in await gateway.store.quarantined()] == ["turn"]
    assert odd in bodies(machine, table)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("table", "where"), [("inbox", "id = 2"), ("turn_input", "event = 2")])
async def test_a_row_that_waits_and_cannot_be_read(tmp_path, table, where, way):
    """DU-13, TU-10: the turn before it and the message after it are answered."""
    machine = Machine(tmp_path, queueing("followup", debounce_ms=1))
    agent = ScriptedAgent([never])
    async with machine.running(agent, killed=True) as gateway:
        await machine.chat.says("zeroth")
        await machine.chat.asked(agent, 1)
        for text in ("odd", "second"):
            await machine.chat.says(text)
        await until(gateway, lambda census: census.inputs.get("waiting") == 2)
    odd = spoil(machine, table, where, way)
    async with machine.running(ScriptedAgent("Zero.", "Two.")) as gateway:
        said: list[str] = []
        while "Two." not in said:
            said.append((await machine.chat.hears()).text)
        assert [text for text in said if text != UNREADABLE] == ["Zero.", "Two."]
        assert (await gateway.store.count_rows()).inputs["dropped"] == 1
    assert odd in bodies(machine, table)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("has_turn", [True, False], ids=["with a turn", "at rest"])
async def test_a_session_that_cannot_be_read(tmp_path, caplog, way, has_turn):
    """DU-13: it is quarantined and starts over, whether a turn of it was open or somebody writes later."""
    machine = Machine(tmp_path)
    agent = ScriptedAgent("One.", [never])
    async with machine.running(agent, killed=True):
        await machine.chat.says("one")
        await machine.chat.hears("One.")
        if has_turn:
            await machine.chat.says("two")
            await machine.chat.asked(agent, 2)
    odd = spoil(machine, "session", "true", way)
    async with machine.running(ScriptedAgent("Two.")) as gateway:
        if not has_turn:
            await machine.chat.says("two")
        await machine.chat.hears("Two.")
        await settled(gateway)
        assert [quarantined.kind for quarantined in await gateway.store.quarantined()] == ["session"]
        assert len(await gateway.store.sessions()) == await gateway.store.count_sessions() == 1
    assert odd in bodies(machine, "session")
    assert "starts as a new session" in caplog.text


@pytest.mark.parametrize("way", WAYS)
async def test_a_sub_agent_that_cannot_be_read(tmp_path, way):
    """DU-14, TU-36: it does not go on, as nobody knows what it may do; its conversation does, and is told."""
    machine = Machine(tmp_path)
    first, second = Team(by_task), Team(lambda text: "(ask)" if "wait" in text else "Thanks.")
    async with machine.running(first, killed=True):
        await machine.chat.says("/subagents spawn helper wait")
        await machine.chat.hears()
        await first.asked(1)
    odd = spoil(machine, "subagent", "true", way)
    async with machine.running(second) as gateway:
        await machine.chat.says("and now?")
        await machine.chat.hears("Thanks.")
        (turn,) = second.turns
        assert "Your sub-agent helper-1 could not finish: its stored data cannot be read." in told(turn)
        assert [kept.kind for kept in await gateway.store.quarantined()] == ["turn"]
        assert (odd in bodies(machine, "subagent"), gateway.kept) == (True, ())
        await gateway.engine.readmission.want(None)
        await second.asked(2)
        await waits_for(lambda: second.asked_for == [None], "what it may do, which is nothing")
        await machine.chat.says("/subagents spawn helper read")
        assert "is at work" in (await machine.chat.hears()).text
