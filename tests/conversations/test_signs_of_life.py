"""A connection that has gone deaf is told, and so is what could not be stored in time (CH-5, CH-7)."""

import asyncio
from time import monotonic

import pytest

from rejoinder.errors import NotStored, StoreUnavailable
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime import write_batch
from rejoinder.runtime.inlet import ChannelInlet
from rejoinder.testing import FakeMessenger, ScriptedAgent, conversation
from rejoinder.testing.patience import PATIENCE


class Living(FakeMessenger):
    stale_after = 60.0

    def __init__(self) -> None:
        super().__init__()
        self.last_sign: float | None = None


async def test_the_age_of_the_last_sign_is_told():
    """CH-7: how long ago the platform was heard, and a sentence once that is too long."""
    channel = Living()
    async with conversation(ScriptedAgent(), channel) as chat:
        await channel.until(lambda: channel.listens)
        assert (chat.gateway.listening.silent_for("fake"), chat.gateway.listening.problem("fake")) == (None, "")
        channel.last_sign = monotonic() - 10
        assert 10 <= chat.gateway.listening.silent_for("fake") < 60
        assert chat.gateway.listening.problem("fake") == ""
        channel.last_sign = monotonic() - 100
        assert chat.gateway.listening.problem("fake").startswith("nothing has been heard from its platform for 10")


def hello(event: str) -> Inbound:
    return Inbound("fake", event, event, Chat("room"), Sender("ann"), "hello")


async def test_a_channel_learns_what_was_not_stored_in_time():
    """CH-5: within the platform's limit; delivered again, it is the same message."""
    channel, free = FakeMessenger(), asyncio.Event()
    async with conversation(ScriptedAgent("Hi."), channel) as chat:
        await channel.until(lambda: channel.listens)
        intake, store, tasks = chat.gateway.intake, chat.gateway.store, chat.gateway.tasks
        accept = intake.accept

        class Slow:
            async def accept(self, *messages, **how):
                await free.wait()
                await accept(*messages, **how)

        inlet = ChannelInlet("fake", "default", Slow(), store, tasks)
        with pytest.raises(NotStored):
            await inlet(hello("e1"), within=0.01)
        free.set()
        await inlet(hello("e1"), within=30)
        await chat.hears("Hi.")


@pytest.mark.parametrize(("read", "asks"), [("cursor", ChannelInlet.cursor), ("cursors", ChannelInlet.places)])
async def test_a_channel_that_begins_waits_for_the_store(monkeypatch, read, asks):
    """DU-15, SC-22: a moment in which nothing can be read ends no listener that has just taken over."""
    monkeypatch.setattr(write_batch, "PAUSE", 0)
    channel, faults = FakeMessenger(), [StoreUnavailable("away", "of this test")]
    async with asyncio.timeout(PATIENCE), conversation(ScriptedAgent(), channel) as chat:
        await channel.until(lambda: channel.listens)
        here, reads = chat.gateway, getattr(chat.gateway.store, read)

        async def failing(*asked):
            if faults:
                raise faults.pop()
            return await reads(*asked)

        monkeypatch.setattr(here.store, read, failing)
        assert not await asks(ChannelInlet("fake", "default", here.intake, here.store, here.tasks))
        assert not faults


async def test_a_store_that_is_away_is_not_waited_for():
    """CH-5, DU-15: nothing was written, and nothing is left behind."""
    channel = FakeMessenger()
    async with conversation(ScriptedAgent(), channel) as chat:
        await channel.until(lambda: channel.listens)

        class Away:
            async def accept(self, *messages, **how):
                raise StoreUnavailable("full", "of this test")

        inlet = ChannelInlet("fake", "default", Away(), chat.gateway.store, chat.gateway.tasks)
        with pytest.raises(NotStored):
            await inlet(hello("e1"), within=0.05)
        await chat.rests()
