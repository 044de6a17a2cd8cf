"""The response prefix through the whole gateway (DE-5): on every final reply, whoever makes it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import pytest

from rejoinder.agents.base import Failed, ModelSelected
from rejoinder.config.schema import AgentDefaults, GatewaySettings, MessagesSettings, QueueSection, Settings
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.inbound.settings import CommandsSettings, ElevatedSettings
from rejoinder.runtime.session.notices import AWAY, INTERRUPTED, QUARANTINED, RUN_AGAIN, UNREADABLE
from rejoinder.store.base import Accept
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.chat import conversation
from rejoinder.turns.suspicion import MOST_ALONE
from tests.conversations.restarting import Machine, until
from tests.conversations.test_restarts import never

NAME = "[{identity.name}]"


def prefixed(prefix: str, **more) -> Settings:
    return Settings(messages=MessagesSettings(response_prefix=prefix), **more)


async def test_what_the_gateway_replies_is_prefixed():
    """DE-5: answers, commands, acknowledgements, status and errors alike."""
    agent = ScriptedAgent("Hello.", "Deep.", [Failed("billing", "Nobody paid.", "402")], "")
    async with conversation(agent, settings=prefixed(NAME)) as chat:
        await chat.says("hello")
        await chat.hears("[scripted] Hello.")
        await chat.says("/think high")
        await chat.hears("[scripted] Thinking: high.")
        await chat.says("/status")
        assert (await chat.hears()).text.startswith("[scripted] rejoinder ")
        await chat.says("/think low be deep")
        assert (await chat.hears()).text.startswith("[scripted] For this turn: thinking low.")
        await chat.hears("[scripted] Deep.")
        await chat.says("and now?")
        await chat.hears("[scripted] Nobody paid.")
        await chat.says("nothing?")
        await chat.hears("[scripted] _(no response)_")
        await chat.says("/stop")
        await chat.hears("[scripted] Nothing is running.")


async def test_a_shell_command_is_answered_with_it():
    """DE-5, IN-61: its output comes later, as a reply anyway."""
    commands = CommandsSettings(bash=True, elevated=ElevatedSettings(enabled=True, allow_from=("fake:ann",)))
    async with conversation(ScriptedAgent(), settings=prefixed(NAME, commands=commands)) as chat:
        await chat.says("/elevated on")
        await chat.hears()
        await chat.says("/bash echo hello")
        assert (await chat.hears()).text.strip() == "[scripted]\n\n```\nhello\n```"


@pytest.mark.parametrize("said", ["/compact", "crash"])
async def test_what_stands_in_for_an_answer_is_prefixed(said: str):
    """DE-5: what became of a run that gave no answer."""

    async def crashes():
        raise RuntimeError("broken")

    agent = ScriptedAgent("Hello.", [crashes])
    async with conversation(agent, settings=prefixed(NAME)) as chat:
        await chat.says("hello")
        await chat.hears("[scripted] Hello.")
        await chat.says(said)
        assert (await chat.hears()).text.startswith("[scripted] ")


async def test_the_thinking_level_is_what_status_says():
    """DE-5: by default, of the session and of the turn; a known variable without a value leaves no brackets."""
    agent = ScriptedAgent("One.", "Two.", "Three.", [ModelSelected("acme/large-2"), "Four."])
    defaults = AgentDefaults(thinking_default="low")
    async with conversation(agent, settings=prefixed("[{model}] {thinkingLevel}:", agent_defaults=defaults)) as chat:
        await chat.says("one")
        await chat.hears("low: One.")
        await chat.says("/think off")
        await chat.hears("off: Thinking: off.")
        await chat.says("two")
        await chat.hears("off: Two.")
        await chat.says("/t high three")
        assert (await chat.hears()).text.startswith("high: For this turn: thinking high.")
        await chat.hears("high: Three.")
        await chat.says("four")
        await chat.hears("[large-2] off: Four.")


@contextmanager
def store_of(machine: Machine) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(machine.url.removeprefix("sqlite:"))) as db, db:
        yield db


@pytest.mark.parametrize(
    ("how", "change", "told"),
    [
        ("rerun", f"UPDATE turn SET alone = {MOST_ALONE}", QUARANTINED.format(messages="“hello”.", way_out=RUN_AGAIN)),
        ("ask", "", INTERRUPTED),
        ("rerun", "UPDATE turn_input SET body = x'00000000'", UNREADABLE),
    ],
)
async def test_what_a_restart_says_of_a_turn_is_prefixed(tmp_path, how: str, change: str, told: str):
    """DE-5, DU-2: a turn that is quarantined, was interrupted, or cannot be read."""
    machine = Machine(tmp_path, prefixed(NAME, gateway=GatewaySettings(on_crash=how)))
    agent = ScriptedAgent([never])
    async with machine.running(agent, killed=True):
        await machine.chat.says("hello")
        await machine.chat.asked(agent, 1)
    with store_of(machine) as db:
        db.execute(change)
    async with machine.running(ScriptedAgent()):
        await machine.chat.hears(f"[scripted] {told}")


async def test_what_a_restart_says_of_an_undecided_message_is_prefixed(tmp_path):
    """DE-5, DU-2: in the name of the agent it was for; a template is filled from the message."""
    machine = Machine(tmp_path, prefixed("{{Sender}}, {identity.name}:"))
    store = open_store(machine.url)
    message = Inbound("fake", "e1", "m1", Chat("room"), Sender("ann", "Ann"), "poison")
    await store.write(Accept((message,), datetime.now(UTC)))
    await store.close()
    with store_of(machine) as db:
        db.execute(f"UPDATE inbox SET attempts = 5, alone = {MOST_ALONE}")
    async with machine.running(ScriptedAgent()):
        await machine.chat.hears(f"Ann, scripted: {QUARANTINED.format(messages='“poison”.', way_out=RUN_AGAIN)}")


async def test_what_is_said_of_a_gathered_backlog_is_prefixed(tmp_path):
    """DE-5, TU-10."""
    queue = QueueSection(mode="followup", debounce_ms=0, cap=100)
    machine = Machine(tmp_path, Settings(messages=MessagesSettings(response_prefix=NAME, queue=queue)))
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True) as gateway:
        for number in range(23):
            await machine.chat.says(f"number {number}.")
        await until(gateway, lambda census: census.inputs.get("waiting") == 22)
    async with machine.running(ScriptedAgent("First.", [never]), killed=True):
        await machine.chat.hears("[scripted] First.")
        await machine.chat.hears(f"[scripted] {AWAY.format(count=2)}")
