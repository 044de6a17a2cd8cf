"""What the gateway itself owes people is a row before anything is called: who dies then says it later, once."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from rejoinder.channels.base import Rejected
from rejoinder.config.channels import ChannelSettings
from rejoinder.config.schema import Channel, GatewaySettings, MessagesSettings, QueueSettings, Settings
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.sending.notices import AWAY, INTERRUPTED, QUARANTINED, TIMED_OUT, TOO_MANY, TOO_MANY_SHORTENED
from rejoinder.runtime.sending.sender import Sender as OneSender
from rejoinder.store.base import Accept, TryEvents
from rejoinder.store.sqlite import open_store
from rejoinder.store.sqlite.writer import Writer
from rejoinder.testing import Chat as People
from rejoinder.testing import FakeChannel, ScriptedAgent
from rejoinder.turns.suspicion import MOST_ALONE
from tests.conversations.restarting import Machine, settled, until


async def never() -> None:
    await asyncio.Event().wait()


class WordsOnly:
    """A platform that shows messages and nothing else."""

    def __init__(self):
        self._all = FakeChannel()
        self.name, self.limits = self._all.name, self._all.limits

    async def listen(self, deliver):
        await self._all.listen(deliver)

    async def send(self, part):
        return await self._all.send(part)

    @property
    def messages(self):
        return self._all.messages

    @property
    def listens(self):
        return self._all.listens

    async def says(self, text, **how):
        return await self._all.says(text, **how)

    async def until(self, holds):
        await self._all.until(holds)


@pytest.fixture
def units(monkeypatch) -> list[set[str]]:
    """What was written together, by the names of the verbs."""
    log: list[set[str]] = []
    write = Writer.write

    async def remembered(self, verbs, *known):
        log.append({type(verb).__name__ for verb in verbs})
        return await write(self, verbs, *known)

    monkeypatch.setattr(Writer, "write", remembered)
    return log


@contextmanager
def nothing_is_sent(monkeypatch) -> Iterator[None]:
    """The process dies before it comes to sending."""
    with monkeypatch.context() as dying:
        dying.setattr(OneSender, "wake", lambda *_, **__: None)
        yield


def said(machine: Machine) -> list[str]:
    return [shown.text for shown in machine.channel.messages.values() if shown.author == "bot" and not shown.deleted]


async def says_once(machine: Machine, sentence: str, also: tuple[str, ...] = ()) -> None:
    """Twice started again: it is said by the first, and not once more by the second."""
    for _ in range(2):
        async with machine.running(ScriptedAgent(*also)) as gateway:
            await machine.channel.until(lambda: sentence in said(machine))
            await until(gateway, lambda census: not census.parts.keys() - {"sent", "withdrawn"})
    assert said(machine).count(sentence) == 1


@pytest.mark.usefixtures("stable_at_once")
async def test_a_turn_that_is_quarantined(tmp_path, monkeypatch, units):
    """DU-2: quarantined and told in one commit."""
    machine = Machine(tmp_path)
    for attempt in range(MOST_ALONE):
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True):
            if attempt == 0:
                await machine.chat.says("poison")
            await machine.chat.asked(agent, 1)
    with nothing_is_sent(monkeypatch):
        async with machine.running(ScriptedAgent(), killed=True) as gateway:
            await until(gateway, lambda census: census.turns == {"quarantined": 1})
    assert any({"QuarantineTurn", "PlanParts"} <= unit for unit in units)
    await says_once(machine, QUARANTINED.format(messages="“poison”."))


async def test_a_message_that_is_quarantined(tmp_path, monkeypatch, units):
    """DU-2: one that ends the process before it is decided."""
    machine = Machine(tmp_path)
    store = open_store(machine.url)
    message = Inbound("fake", "e1", "m1", Chat("room"), Sender("ann"), "poison")
    (event,) = await store.write(Accept((message,), datetime.now(UTC)))
    for _ in range(MOST_ALONE):
        await store.write(TryEvents((event.id,)))
        await store.close()
        store = open_store(machine.url)
    await store.close()
    with nothing_is_sent(monkeypatch):
        async with machine.running(ScriptedAgent(), killed=True) as gateway:
            await until(gateway, lambda census: census.events == {"quarantined": 1})
    assert {"QuarantineEvent", "PlanParts"} in units
    await says_once(machine, QUARANTINED.format(messages="“poison”."))


async def test_a_turn_that_was_interrupted(tmp_path, monkeypatch, units):
    """DU-2: `on_crash = "ask"`."""
    machine = Machine(tmp_path, Settings(gateway=GatewaySettings(on_crash="ask")))
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True):
        await machine.chat.says("hello")
        await machine.chat.asked(first, 1)
    with nothing_is_sent(monkeypatch):
        async with machine.running(ScriptedAgent(), killed=True) as gateway:
            await until(gateway, lambda census: census.turns == {"closed": 1})
    assert any({"EndRun", "PlanParts"} <= unit for unit in units)
    await says_once(machine, INTERRUPTED)


async def test_a_backlog_that_is_gathered(tmp_path, monkeypatch):
    """TU-10: one notice for these messages, though the gateway is started twice before they have their turn."""
    queue = QueueSettings(mode="followup", debounce_ms=0, cap=100)
    machine = Machine(tmp_path, Settings(messages=MessagesSettings(queue=queue)))
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True) as gateway:
        for number in range(23):
            await machine.chat.says(f"number {number}.")
        await until(gateway, lambda census: census.inputs.get("waiting") == 22)
    with nothing_is_sent(monkeypatch):
        stuck = ScriptedAgent([never])
        async with machine.running(stuck, killed=True):
            await machine.chat.asked(stuck, 1)
    last = ScriptedAgent(*(f"answer {number}" for number in range(22)))
    async with machine.running(last):
        await machine.channel.until(lambda: "answer 21" in said(machine))
    assert said(machine).count(AWAY.format(count=2)) == 1


async def test_a_run_that_took_too_long(tmp_path, monkeypatch, units):
    """TU-20: ended and told in one commit."""
    machine = Machine(tmp_path, Settings(gateway=GatewaySettings(idle_timeout_s=0.05)))
    with nothing_is_sent(monkeypatch):
        async with machine.running(ScriptedAgent([never]), killed=True) as gateway:
            await machine.chat.says("hello")
            await until(gateway, lambda census: census.turns == {"closed": 1})
    assert any({"EndRun", "PlanParts"} <= unit for unit in units)
    await says_once(machine, TIMED_OUT)


@pytest.mark.parametrize(
    ("drop", "reacts", "sentence", "mark"),
    [
        ("new", False, TOO_MANY, None),
        ("summarize", False, TOO_MANY_SHORTENED, None),
        ("new", True, None, "🙈"),
        ("summarize", True, None, "✍️"),
    ],
)
async def test_a_message_that_gets_no_turn(tmp_path, monkeypatch, units, drop, reacts, sentence, mark):
    """TU-5: left out, and the sender can see it, in one commit: a mark, or words where there are none."""
    queue = QueueSettings(mode="followup", debounce_ms=0, cap=1, drop=drop)
    machine = Machine(tmp_path, Settings(messages=MessagesSettings(queue=queue)))
    if not reacts:
        machine.channel = WordsOnly()
        machine.chat = People(machine.channel, Runs())
    with nothing_is_sent(monkeypatch):
        first = ScriptedAgent([never])
        async with machine.running(first, killed=True) as gateway:
            ids = [await machine.chat.says(text) for text in ("one", "two", "three")]
            await until(gateway, lambda census: bool(census.inputs.keys() & {"dropped", "summarised"}))
    assert any({"PlanParts"} < unit and unit & {"DropInputs", "SummariseInputs"} for unit in units)
    if sentence is not None:
        await says_once(machine, sentence, ("1.", "2.", "3."))
        return
    async with machine.running(ScriptedAgent("1.", "2.", "3.")):
        await machine.channel.until(
            lambda: any(machine.channel.messages[message].reactions == [mark] for message in ids[1:])
        )


async def test_a_mark_that_is_refused_becomes_words(tmp_path):
    """TU-5, DE-5: a group that allows no reactions shows it in words, with the prefix of all answers."""
    queue = QueueSettings(mode="followup", debounce_ms=0, cap=1, drop="new")
    machine = Machine(tmp_path, Settings(messages=MessagesSettings(queue=queue, response_prefix="[bot]")))
    go = asyncio.Event()
    machine.channel.fails(Rejected("REACTION_INVALID"))
    async with machine.running(ScriptedAgent([go.wait, "1."], "2.")):
        for text in ("one", "two", "three"):
            await machine.chat.says(text)
        await machine.channel.until(lambda: f"[bot] {TOO_MANY}" in said(machine))
        go.set()
        await machine.channel.until(lambda: "[bot] 2." in said(machine))


async def test_what_is_given_up_is_told_the_owner_also_after_a_restart(tmp_path, monkeypatch, units):
    """DE-32: buried and told in one commit, to an owner who wrote to an earlier process."""
    common = ChannelSettings(dm="open", owners=("ann",))
    machine = Machine(tmp_path, Settings(channels={"fake": Channel("fake", common, None)}))
    async with machine.running(ScriptedAgent("Hello, Ann.")) as gateway:
        await machine.chat.says("hello", sender="ann", chat="ann")
        await machine.chat.hears("Hello, Ann.")
        await settled(gateway)
    async with machine.running(ScriptedAgent("Hello, Bob.")):
        machine.channel.fails(Rejected("Forbidden: bot was blocked by the user"))
        await machine.chat.says("hello", sender="bob", chat="bob")
        told = await machine.chat.hears()
    assert told.text.startswith("A message to fake bob was given up: Forbidden")
    assert {"BuryPart", "PlanParts"} in units
