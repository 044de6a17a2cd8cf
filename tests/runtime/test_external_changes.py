"""What others have written to a shard is found, whatever is in the way."""

from typing import Any

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime import external_changes
from rejoinder.runtime.external_changes import AT_ONCE
from rejoinder.store.base import Accept, AskHome, QuarantineEvent, ReadmitEvent, RequestEventRerun, TellSession, Verb
from rejoinder.store.sql.values import seal
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.testing.patience import until
from rejoinder.testing.store_contract.given import NOW


async def test_a_change_that_the_store_could_not_show_is_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """DU-15, SC-12: where one gateway has the store to itself, nobody tells of it a second time."""
    async with conversation(ScriptedAgent()) as chat:
        (engine,) = chat.gateway.engines
        await until(lambda: engine.is_recovered)
        faults = [StoreUnavailable("no-files", "here")]
        monkeypatch.setattr(external_changes, "PAUSE", 0.0)

        async def routes_to_send():
            if faults:
                raise faults.pop()
            return ()

        monkeypatch.setattr(engine.store, "routes_to_send", routes_to_send)
        await chat.gateway.store.write(AskHome("bot:main", TellSession("It was not delivered.")))
        engine.changed()

        async def is_done() -> bool:
            return not await engine.store.home_requests()

        await until(is_done)
        assert not faults


@pytest.mark.parametrize("how", ["from outside", "in the chat"])
async def test_what_is_to_run_again_is_looked_for_again(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """DU-2, DU-15: it was asked for while the store could not be written."""
    async with conversation(ScriptedAgent("Here I am.")) as chat:
        (engine,) = chat.gateway.engines
        await until(lambda: engine.is_recovered)
        faults = [StoreUnavailable("full", "here")]
        monkeypatch.setattr(external_changes, "PAUSE", 0.0)
        as_usual = engine.store.write

        async def write(*verbs: Verb[Any]) -> Any:
            if faults and isinstance(verbs[0], ReadmitEvent):
                raise faults.pop()
            return await as_usual(*verbs)

        monkeypatch.setattr(engine.store, "write", write)
        said = Inbound("fake", "e1", "m1", Chat("ann", kind="direct"), Sender("ann"), "Are you there?")
        (event,) = await chat.gateway.store.write(Accept((said,), NOW))
        await chat.gateway.store.write(QuarantineEvent(event.id, "it crashed"))
        if how == "in the chat":
            assert await engine.readmission.want(None) == 1
        else:
            await chat.gateway.store.write(RequestEventRerun(event.id))
            engine.changed()
        await chat.hears("Here I am.")
        assert not faults


async def test_what_is_to_run_again_on_a_channel_that_is_gone_holds_up_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """DU-2, SC-25: it waits until the channel is configured again."""
    async with conversation(ScriptedAgent()) as chat:
        (engine,) = chat.gateway.engines
        await until(lambda: engine.is_recovered)
        store = chat.gateway.store
        said = Inbound("gone", "e1", "m1", Chat("ann", kind="direct"), Sender("ann"), "Are you there?")
        (event,) = await store.write(Accept((said,), NOW))
        await store.write(QuarantineEvent(event.id, "it crashed"))
        await store.write(RequestEventRerun(event.id), AskHome("bot:main", TellSession("It was not delivered.")))
        engine.changed()

        async def is_done() -> bool:
            return not await engine.store.home_requests()

        await until(is_done)
        assert (await store.count_rows()).events == {"new": 1}
    assert [each for each in caplog.records if each.levelname == "ERROR"] == []


@pytest.mark.parametrize("left", ["of a channel that is gone", "of another version"])
async def test_messages_that_cannot_be_decided_here_hide_no_others(left: str) -> None:
    """SC-12, SC-25: however many of them wait, what others accept later is found."""
    async with conversation(ScriptedAgent("Here I am.")) as chat:
        (engine,) = chat.gateway.engines
        await until(lambda: engine.is_recovered)
        store = chat.gateway.store
        ann = (Chat("ann", kind="direct"), Sender("ann"))
        await store.write(Accept(tuple(Inbound("gone", f"e{n}", f"m{n}", *ann) for n in range(AT_ONCE)), NOW))
        if left == "of another version":
            store._writer._db.execute("UPDATE inbox SET body = ?", (seal(b'{"of": "later"}'),))
        said = Inbound("fake", "e", "m", *ann, "Are you there?")
        await store.write(Accept((said,), NOW))
        engine.changed()
        await chat.hears("Here I am.")
        assert (await store.count_rows()).events["new"] == AT_ONCE
