"""What others have written to a shard is found, whatever is in the way."""

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime import external_changes
from rejoinder.store.base import AskHome, TellSession
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.testing.patience import until


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
