"""What the gateway itself owes people is a row before anything is called: who dies then says it later, once."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import pytest

from rejoinder.channels.base import Rejected, Unknown
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, GatewaySettings, MessagesSettings, QueueSection, Settings
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime.outbox.sender import ConversationSender as OneSender
from rejoinder.runtime.session.notices import (
    AWAY,
    BY_THE_OWNER,
    INTERRUPTED,
    QUARANTINED,
    RUN_AGAIN,
    TIMED_OUT,
    TOO_MANY,
    TOO_MANY_SHORTENED,
)
from rejoinder.runtime.session.unconfirmed_notice import ASK_AGAIN, MAY_HAVE_BEEN_LOST
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import Accept, CountEventAttempts
from rejoinder.store.sqlite.store import open_store
from rejoinder.store.sqlite.writer import Writer
from rejoinder.testing import Chat as People
from rejoinder.testing import FakeChannel, FakeMessenger, ScriptedAgent
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
def writes(monkeypatch) -> list[set[str]]:
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
async def test_a_turn_that_is_quarantined(tmp_path, monkeypatch, writes):
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
    assert any({"QuarantineTurn", "PlanParts"} <= each for each in writes)
    await says_once(machine, QUARANTINED.format(messages="“poison”.", way_out=RUN_AGAIN))


async def test_a_message_that_is_quarantined(tmp_path, monkeypatch, writes):
    """DU-2: one that ends the process before it is decided."""
    machine = Machine(tmp_path)
    store = open_store(machine.url)
    message = Inbound("fake", "e1", "m1", Chat("room"), Sender("ann"), "poison")
    (event,) = await store.write(Accept((message,), datetime.now(UTC)))
    for attempt in range(MOST_ALONE):
        await store.claim(0, f"process {attempt}")
        await store.write(CountEventAttempts((event.id,)))
        await store.close()
        store = open_store(machine.url)
    await store.close()
    with nothing_is_sent(monkeypatch):
        async with machine.running(ScriptedAgent(), killed=True) as gateway:
            await until(gateway, lambda census: census.events == {"quarantined": 1})
    assert {"QuarantineEvent", "PlanParts"} in writes
    await says_once(machine, QUARANTINED.format(messages="“poison”.", way_out=RUN_AGAIN))


async def test_a_turn_that_was_interrupted(tmp_path, monkeypatch, writes):
    """DU-2: `on_crash = "ask"`."""
    machine = Machine(tmp_path, Settings(gateway=GatewaySettings(on_crash="ask")))
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True):
        await machine.chat.says("hello")
        await machine.chat.asked(first, 1)
    with nothing_is_sent(monkeypatch):
        async with machine.running(ScriptedAgent(), killed=True) as gateway:
            await until(gateway, lambda census: census.turns == {"closed": 1})
    assert any({"CloseTurn", "PlanParts"} <= each for each in writes)
    await says_once(machine, INTERRUPTED)


async def test_a_backlog_that_is_gathered(tmp_path, monkeypatch):
    """TU-10: one notice for these messages, though the gateway is started twice before they have their turn."""
    monkeypatch.setattr("rejoinder.runtime.session.slots.STABLE_AFTER", 0.01)  # what died twice waits for that
    queue = QueueSection(mode="followup", debounce_ms=0, cap=100)
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


async def test_a_run_that_took_too_long(tmp_path, monkeypatch, writes):
    """TU-20: ended and told in one commit."""
    machine = Machine(tmp_path, Settings(gateway=GatewaySettings(idle_timeout_s=0.05)))
    with nothing_is_sent(monkeypatch):
        async with machine.running(ScriptedAgent([never]), killed=True) as gateway:
            await machine.chat.says("hello")
            await until(gateway, lambda census: census.turns == {"closed": 1})
    assert any({"EndRun", "PlanParts"} <= each for each in writes)
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
async def test_a_message_that_gets_no_turn(tmp_path, monkeypatch, writes, drop, reacts, sentence, mark):
    """TU-5: left out, and the sender can see it, in one commit: a mark, or words where there are none."""
    queue = QueueSection(mode="followup", debounce_ms=0, cap=1, drop=drop)
    machine = Machine(tmp_path, Settings(messages=MessagesSettings(queue=queue)))
    if not reacts:
        machine.channel = WordsOnly()
        machine.chat = People(machine.channel, Tasks())
    with nothing_is_sent(monkeypatch):
        first = ScriptedAgent([never])
        async with machine.running(first, killed=True) as gateway:
            ids = [await machine.chat.says(text) for text in ("one", "two", "three")]
            await until(gateway, lambda census: bool(census.inputs.keys() & {"dropped", "summarised"}))
    assert any({"PlanParts"} < each and each & {"DropInputs", "SummariseInputs"} for each in writes)
    if sentence is not None:
        await says_once(machine, sentence, ("1.", "2.", "3."))
        return
    async with machine.running(ScriptedAgent("1.", "2.", "3.")):
        await machine.channel.until(
            lambda: any(machine.channel.messages[message].reactions == [mark] for message in ids[1:])
        )


async def test_a_mark_that_is_refused_becomes_words(tmp_path):
    """TU-5, DE-5: a group that allows no reactions shows it in words, with the prefix of all answers."""
    queue = QueueSection(mode="followup", debounce_ms=0, cap=1, drop="new")
    machine = Machine(tmp_path, Settings(messages=MessagesSettings(queue=queue, response_prefix="[bot]")))
    go = asyncio.Event()
    machine.channel.fails(Rejected("REACTION_INVALID"))
    async with machine.running(ScriptedAgent([go.wait, "1."], "2.")):
        for text in ("one", "two", "three"):
            await machine.chat.says(text)
        await machine.channel.until(lambda: f"[bot] {TOO_MANY}" in said(machine))
        go.set()
        await machine.channel.until(lambda: "[bot] 2." in said(machine))


async def test_what_is_given_up_is_told_the_owner_also_after_a_restart(tmp_path, monkeypatch, writes):
    """DE-32: buried and told in one commit, to an owner who wrote to an earlier process."""
    common = CommonChannelSettings(dm="open", owners=("ann",), streaming="off")  # no draft is refused in its place
    machine = Machine(tmp_path, Settings(channels={"fake": ConfiguredChannel("fake", common, None)}))
    async with machine.running(ScriptedAgent("Hello, Ann.")) as gateway:
        await machine.chat.says("hello", sender="ann", chat="ann")
        await machine.chat.hears("Hello, Ann.")
        await settled(gateway)
    async with machine.running(ScriptedAgent("Hello, Bob.")):
        machine.channel.fails(Rejected("Forbidden: bot was blocked by the user"))
        await machine.chat.says("hello", sender="bob", chat="bob")
        told = await machine.chat.hears()
    sentence = "The gateway gave up on a message to fake bob: Forbidden: bot was blocked by the user."
    assert told.text.splitlines()[0] == sentence
    assert {"BuryPart", "PlanParts"} in writes


async def test_a_notice_of_unknown_fate_is_still_owed_after_a_restart(tmp_path):
    """DU-3: it goes with the next call that succeeds there, also of another process, once."""
    machine = Machine(tmp_path)
    machine.channel = channel = FakeMessenger()
    machine.chat = People(channel, Tasks())
    async with machine.running(ScriptedAgent("Lost."), killed=True) as gateway:
        for _ in range(2):
            channel.fails(Unknown("the connection broke"))
        await machine.chat.says("hello")
        await until(gateway, lambda census: census.parts == {"held": 1, "withdrawn": 1})
    for answer in ("Next.", "And next."):
        async with machine.running(ScriptedAgent(answer)) as gateway:
            await machine.chat.says("and?")
            await machine.channel.until(lambda answer=answer: answer in said(machine))
            await until(gateway, lambda census: not census.parts.keys() - {"sent", "withdrawn", "held"})
        assert said(machine).count(MAY_HAVE_BEEN_LOST) == 1


@pytest.mark.parametrize(
    ("sender", "kind", "told"),
    [
        ("ann", "direct", MAY_HAVE_BEEN_LOST),
        ("bob", "direct", ASK_AGAIN),
        ("bob", "group", ASK_AGAIN),
        ("ann", "group", MAY_HAVE_BEEN_LOST),
    ],
)
async def test_nobody_is_told_to_use_what_they_may_not_use(tmp_path, sender, kind, told):
    """DU-3, IN-12: guests of an open channel and people in groups cannot use `/resend`; the owner is told as ever. The
    notice carries the prefix (DE-5)."""
    open_to_all = {
        "fake": ConfiguredChannel("fake", CommonChannelSettings(dm="open", groups="open", require_mention=False), None)
    }
    prefix = MessagesSettings(response_prefix="[{identity.name}]")
    machine = Machine(tmp_path, Settings(channels=open_to_all, messages=prefix))
    machine.channel = channel = FakeMessenger()
    machine.chat = People(channel, Tasks())
    async with machine.running(ScriptedAgent("Hello.", "Lost.")):
        await machine.chat.says("hi")
        await machine.chat.hears("[scripted] Hello.")
        channel.fails(Unknown("the connection broke"))
        await channel.says("hello", sender=sender, chat="there", kind=kind)
        await channel.until(lambda: f"[scripted] {told}" in said(machine))
        if (sender, kind) != ("ann", "direct"):  # there the owner reads it anyway
            begins = "It is not known whether a message to fake there arrived"
            await channel.until(lambda: any(text.startswith(begins) for text in said(machine)))


@pytest.mark.parametrize(("sender", "way_out"), [("ann", RUN_AGAIN), ("bob", BY_THE_OWNER)])
async def test_a_guest_is_told_that_the_owner_can_have_it_run_again(tmp_path, sender, way_out):
    """DU-2, IN-12."""
    open_to_all = {"fake": ConfiguredChannel("fake", CommonChannelSettings(dm="open"), None)}
    machine = Machine(tmp_path, Settings(channels=open_to_all))
    agent = ScriptedAgent([never])
    async with machine.running(agent, killed=True):
        await machine.chat.says("poison", sender=sender, chat=sender)
        await machine.chat.asked(agent, 1)
    with closing(sqlite3.connect(machine.url.removeprefix("sqlite:"))) as db, db:
        db.execute(f"UPDATE turn SET alone = {MOST_ALONE}")
    async with machine.running(ScriptedAgent()):
        await machine.chat.hears(QUARANTINED.format(messages="“poison”.", way_out=way_out))
