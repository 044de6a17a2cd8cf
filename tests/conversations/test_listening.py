"""A group that is only listened to (IN-33): the agent sees everything, and nobody sees anything of it."""

import asyncio

import pytest

from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, GatewaySettings, MessagesSettings, QueueSection, Settings
from rejoinder.inbound.settings import GroupSettings
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.turns.suspicion import MOST_ALONE
from tests.conversations.agents import Asking
from tests.conversations.restarting import Machine, until

LAB = {"chat": "lab", "kind": "group"}


def listening(*, queue: QueueSection | None = None, **settings) -> Settings:
    group = {"lab": GroupSettings(mode="listen")}
    common = CommonChannelSettings(dm="open", groups="open", group=group, status_reactions=True)
    messages = MessagesSettings(queue=queue or QueueSection())
    return Settings(channels={"fake": ConfiguredChannel("fake", common, None)}, messages=messages, **settings)


def seen(channel) -> list[str]:
    """What anybody in the lab could notice."""
    said = [message.text for message in channel.messages.values() if message.author == "bot"]
    return said + [mark for message in channel.messages.values() for mark in message.reactions]


async def never() -> None:
    await asyncio.Event().wait()


async def test_nobody_is_asked_for_a_permission():
    """TU-34: there is nobody to answer."""
    agent = Asking()
    async with conversation(agent, settings=listening()) as chat:
        await chat.channel.says("clean up", **LAB)
        await chat.rests()
        assert len(agent.turns) == 1
        assert not seen(chat.channel)


@pytest.mark.parametrize("drop", ["old", "new", "summarize"])
async def test_what_is_too_much_is_left_out_in_silence(drop):
    """TU-5: no mark and no word, as with everything here."""
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait], "Two.", "Three.")
    queue = QueueSection(mode="followup", debounce_ms=1, cap=1, drop=drop)
    async with conversation(agent, settings=listening(queue=queue)) as chat:
        for text in ("one", "two", "three"):
            await chat.channel.says(text, **LAB)
        while (await chat.gateway.store.count_rows()).events != {"routed": 3}:
            continue
        go.set()
        await chat.rests()
        assert len(agent.turns) == 2
        assert not seen(chat.channel)


async def test_a_restart_tells_nobody_that_it_was_away(tmp_path):
    """TU-10: many who waited are told to the agent in one turn, and that is all."""
    machine = Machine(tmp_path, listening(queue=QueueSection(mode="queue")))
    agent = ScriptedAgent([never])
    async with machine.running(agent, killed=True) as gateway:
        for number in range(25):
            await machine.channel.says(f"message {number}", **LAB)
        await until(gateway, lambda census: census.events == {"routed": 25})
    agent = ScriptedAgent(*["Yes."] * 25)
    async with machine.running(agent) as gateway:
        await until(gateway, lambda _: len(agent.turns) > 5)
    assert not seen(machine.channel)


@pytest.mark.usefixtures("stable_at_once")
@pytest.mark.parametrize("on_crash", ["rerun", "ask", "drop"])
async def test_a_turn_that_ends_the_process_is_quarantined_in_silence(tmp_path, on_crash):
    """DU-2: nobody waits for an answer that was never to come."""
    machine = Machine(tmp_path, listening(gateway=GatewaySettings(on_crash=on_crash)))
    for attempt in range(MOST_ALONE if on_crash == "rerun" else 1):
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True) as gateway:
            if attempt == 0:
                await machine.channel.says("poison", **LAB)
            while not agent.turns:
                await gateway.store.count_rows()
    async with machine.running(ScriptedAgent()) as gateway:
        await until(gateway, lambda census: not census.turns.get("open"))
    assert not seen(machine.channel)
