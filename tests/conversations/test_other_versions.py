"""What another version of the gateway has kept, and this one cannot read: one message pays, the others go on."""

import msgspec
import pytest

from rejoinder.runtime import waiting
from rejoinder.runtime.notices import UNREADABLE
from rejoinder.testing import ScriptedAgent
from tests.conversations.restarting import Machine
from tests.conversations.test_restarts import never, queueing

STRANGE = msgspec.msgpack.encode({"agent": 5})


def kept_strangely(monkeypatch, name: str, text: str):
    """As another version would keep what has this text in it."""
    as_usual = getattr(waiting, name)

    def pack(value, *rest):
        return STRANGE if text in str(value) else as_usual(value, *rest)

    monkeypatch.setattr(f"rejoinder.runtime.{'engine' if name == 'pack' else 'books'}.{name}", pack)


async def test_a_turn_that_cannot_be_read_is_put_aside(tmp_path, monkeypatch, caplog):
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
        assert (await gateway.store.census()).turns["quarantined"] == 1
    assert "cannot be read" in caplog.text


async def test_what_a_turn_was_to_tell_and_cannot_be_read(tmp_path, monkeypatch):
    """DU-13: as with the message itself."""
    machine = Machine(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("rejoinder.runtime.books.pack_told", lambda told: msgspec.msgpack.encode({"begins": "odd"}))
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True):
            await machine.chat.says("hello")
            await machine.chat.asked(agent, 1)
    async with machine.running(ScriptedAgent("Fine.")):
        await machine.chat.hears(UNREADABLE)
        await machine.chat.says("and now?")
        await machine.chat.hears("Fine.")


@pytest.mark.parametrize("odd", ["first", "second", "third"])
async def test_what_waited_and_cannot_be_read_is_put_aside(tmp_path, monkeypatch, odd):
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
            while (await gateway.store.census()).inputs.get("waiting") != 3:
                continue
    agent = ScriptedAgent(*["Yes."] * 3)
    async with machine.running(agent):
        said = [(await machine.chat.hears()).text for _ in range(4)]
    assert sorted(said) == sorted([UNREADABLE, *["Yes."] * 3])
    told = ["\n".join(part.text for part in turn.parts) for turn in agent.turns]
    left = [text for text in ("zeroth", "first", "second", "third") if text != odd]
    assert [text for turn in told for text in left if f"\n{text}" in turn] == left
