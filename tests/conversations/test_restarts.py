"""Conversations with a restart in the middle: nothing is lost, nothing is answered twice."""

import asyncio
import os
import signal
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from rejoinder import app
from rejoinder.agents.base import Failed
from rejoinder.app import Gateway, with_channel
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, GatewaySettings, MessagesSettings, QueueSection, Settings
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.programs.signals import serve_until_told
from rejoinder.runtime import foreign_calls
from rejoinder.runtime.outbox.sender import ConversationSender as OneSender
from rejoinder.runtime.place.decider import Decider
from rejoinder.runtime.session.background import Background
from rejoinder.runtime.session.backlogs import Backlogs
from rejoinder.runtime.session.journal import LaneJournal
from rejoinder.runtime.session.notices import INTERRUPTED, QUARANTINED, RUN_AGAIN
from rejoinder.runtime.session.quarantine import PLANNED_BEFORE
from rejoinder.runtime.session.questions import RESTARTED, WITHDRAWN
from rejoinder.runtime.session.turn_runner import AgentTurnRunner
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import (
    Accept,
    CountEventAttempts,
    EndRun,
    PartIntent,
    PlanParts,
    QuarantineEvent,
    RequestEventRerun,
    RequestTurnRerun,
    ResumeTurn,
)
from rejoinder.store.sqlite.operator import open_for_operator
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing import Chat as People
from rejoinder.testing import FakeChannel, FakeDeduplicator, FakeMessenger, ScriptedAgent
from rejoinder.testing.fake_channel import Shown
from rejoinder.testing.patience import PATIENCE
from rejoinder.turns.suspicion import MOST_ALONE, UNTIL_STABLE, VERDICTS, RerunPolicy
from tests.conversations.agents import Asking
from tests.conversations.restarting import Machine, settled, until

ROOM = Route("fake", "room")


async def never() -> None:
    await asyncio.Event().wait()


def text_of(turn) -> str:
    return "\n".join(part.text for part in turn.parts)


def open_to_all(**common) -> Settings:
    return Settings(
        channels={"fake": ConfiguredChannel("fake", CommonChannelSettings(dm="open", groups="open", **common), None)}
    )


def queueing(mode: str, **options) -> Settings:
    return Settings(messages=MessagesSettings(queue=QueueSection(mode=mode, **options)))


# --- what was stopped -----------------------------------------------------------------------------


async def test_a_turn_that_is_stopped_before_it_goes_on_does_not_come_back(tmp_path, monkeypatch):
    """TU-2, IN-70: interrupted before its run was claimed again, it has its end; no later restart runs it."""
    queued, queue, resume = asyncio.Event(), Backlogs.queue, LaneJournal._resume

    async def tell(self, backlog):
        await queue(self, backlog)
        queued.set()

    async def claim_late(self, run, resumed):
        await queued.wait()
        return await resume(self, run, resumed)

    monkeypatch.setattr(Backlogs, "queue", tell)
    monkeypatch.setattr(LaneJournal, "_resume", claim_late)
    machine = Machine(tmp_path, queueing("queue"))
    async with machine.running(ScriptedAgent([never]), killed=True) as gateway:
        await machine.chat.says("one")
        await machine.chat.says("two")
        await until(gateway, lambda census: census.inputs == {"taken": 1, "waiting": 1})
    machine.settings = queueing("interrupt")
    agent = ScriptedAgent("To the second.")
    async with machine.running(agent) as gateway:
        await machine.chat.hears("To the second.")
        await settled(gateway)
        assert (await gateway.store.count_rows()).turns == {"closed": 2}
    assert len(agent.turns) == 1


# --- what was decided and answered ----------------------------------------------------------------


async def test_the_answer_to_a_command_is_decided_with_it(tmp_path, monkeypatch):
    """DU-1: the event has its end in the commit that plans its answer; who dies then says it later."""
    machine = Machine(tmp_path)
    with monkeypatch.context() as dying:
        dying.setattr(OneSender, "wake", lambda *_, **__: None)
        async with machine.running(ScriptedAgent(), killed=True) as gateway:
            await machine.chat.says("/whoami")
            await until(gateway, lambda census: census.events == {"settled": 1})
            assert (await gateway.store.count_rows()).parts == {"planned": 1}
    async with machine.running(ScriptedAgent()):
        assert "ann" in (await machine.chat.hears()).text


async def test_the_exchange_is_remembered_as_soon_as_it_is_answered(tmp_path, monkeypatch):
    """DU-5: who dies between the answer and the end of its turn has both sides of it in the transcript, once."""
    machine = Machine(tmp_path)
    with monkeypatch.context() as dying:
        dying.setattr(AgentTurnRunner, "_end", lambda *_: never())
        async with machine.running(ScriptedAgent("Hi."), killed=True):
            await machine.chat.says("hello")
            await machine.chat.hears("Hi.")
    async with machine.running(ScriptedAgent("Again.")) as gateway:
        await machine.chat.says("hello again")
        await machine.chat.hears("Again.")
        await settled(gateway)
        (kept,) = await gateway.store.sessions()
        entries = await gateway.store.transcript(kept.session.key, kept.session.started)
    assert [entry.role for entry in entries] == ["user", "agent", "user", "agent"]
    assert [entry.parts[0].text for entry in entries if entry.role == "agent"] == ["Hi.", "Again."]


# --- turns ----------------------------------------------------------------------------------------


async def test_a_run_in_the_middle_is_run_again(tmp_path):
    """DU-2: the agent is asked again, and told that it was interrupted."""
    machine = Machine(tmp_path)
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True):
        asked = await machine.chat.says("hello there")
        await machine.chat.asked(first, 1)
    second = ScriptedAgent("Hi.")
    async with machine.running(second) as gateway:
        await machine.chat.hears("Hi.")
        await settled(gateway)
        (event,) = await gateway.store.events_of(asked)
        (put,) = await gateway.store.inputs_of(event.id)
        found = await gateway.store.turn(put.turn)
        assert (found.turn.state, found.turn.outcome, found.turn.attempts) == ("closed", "answered", 2)
    assert "hello there" in text_of(second.turns[0])
    assert "A restart interrupted your answer" in text_of(second.turns[0])
    assert "A restart" not in text_of(first.turns[0])


@pytest.mark.parametrize(("on_crash", "said"), [("ask", "send it again"), ("drop", None)])
async def test_an_interrupted_turn_as_configured(tmp_path, on_crash, said):
    """DU-2: `on_crash` says whether the agent is asked again, the person is, or nobody."""
    machine = Machine(tmp_path, Settings(gateway=GatewaySettings(on_crash=on_crash)))
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True):
        await machine.chat.says("hello")
        await machine.chat.asked(first, 1)
    second = ScriptedAgent("Fine.")
    async with machine.running(second) as gateway:
        if said is not None:
            assert said in (await machine.chat.hears()).text
        assert (await gateway.store.count_rows()).turns == {"closed": 1}
        await machine.chat.says("again")
        await machine.chat.hears("Fine.")
    assert len(second.turns) == 1


BROKE = Failed("crashed", "It broke.", "x")


@pytest.mark.usefixtures("stable_at_once")
@pytest.mark.parametrize("kind", [FakeMessenger, FakeDeduplicator, FakeChannel], ids=["blind", "keys", "live"])
@pytest.mark.parametrize(
    ("script", "on_crash", "stands"),
    [
        (["Whole."], "rerun", ["Whole."]),
        (["NO_REPLY"], "rerun", []),
        ([""], "rerun", ["_(no response)_"]),
        (['<actions><react emoji="eyes"/></actions>'], "rerun", []),
        ([[BROKE]], "rerun", ["It broke."]),
        ([[never], [never]], "rerun", [QUARANTINED.format(messages="“hello”.", way_out=RUN_AGAIN)]),
        ([], "ask", [INTERRUPTED]),
        ([], "drop", []),
    ],
)
async def test_no_half_sentence_is_left(tmp_path, kind, script, on_crash, stands):
    """DU-2, DE-20: killed before people's eyes; whatever the next attempt comes to takes the place of what was seen,
    and no message goes on growing for ever."""
    machine = Machine(tmp_path, Settings(gateway=GatewaySettings(on_crash=on_crash)))
    machine.channel = kind()
    machine.chat = People(machine.channel, Tasks())

    def there():
        return [shown for shown in machine.channel.messages.values() if shown.author == "bot" and not shown.deleted]

    async with machine.running(ScriptedAgent(["Half of", never]), killed=True):
        await machine.chat.says("hello")
        await machine.channel.until(lambda: any("Half of" in shown.text for shown in there()))
    for dying in script[: MOST_ALONE - 1] if script == [[never], [never]] else ():
        agent = ScriptedAgent(dying)
        async with machine.running(agent, killed=True):
            await machine.chat.asked(agent, 1)
    async with machine.running(ScriptedAgent(*script)) as gateway:
        await until(gateway, lambda census: not census.runs and not {*census.turns} & {"open", "answered"})
        await until(gateway, lambda census: not {*census.parts} & {"planned", "sending", "retry", "unknown"})
    assert [shown.text for shown in there()] == stands
    assert all(shown.complete for shown in there())


async def test_what_waited_is_answered_after_what_ran(tmp_path):
    """TU-10: waiting turns are rows; the order is that of arrival."""
    machine = Machine(tmp_path, queueing("followup", debounce_ms=0))
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True) as gateway:
        for text in ("one", "two", "three"):
            await machine.chat.says(text)
        await machine.chat.asked(first, 1)
        await until(gateway, lambda census: census.inputs == {"taken": 1, "waiting": 2})
    second = ScriptedAgent("1.", "2.", "3.")
    async with machine.running(second):
        for answer in ("1.", "2.", "3."):
            await machine.chat.hears(answer)
    assert [word for turn in second.turns for word in ("one", "two", "three") if word in text_of(turn)] == [
        "one",
        "two",
        "three",
    ]


async def test_a_long_backlog_is_gathered_with_one_notice(tmp_path):
    """TU-10: beyond the latest 20 of a chat one turn, which begins with the notice, below the answer of the turn that
    was interrupted; the rest as it would have been."""
    machine = Machine(tmp_path, queueing("followup", debounce_ms=0, cap=100))
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True) as gateway:
        for number in range(26):
            await machine.chat.says(f"number {number}.")
        await until(gateway, lambda census: census.inputs.get("waiting") == 25)
    second = ScriptedAgent(*(f"answer {n}" for n in range(22)))
    async with machine.running(second):
        await machine.chat.hears("answer 0")
        await machine.chat.hears("I was away: your 5 messages from before are answered together.")
        for number in range(1, 22):
            await machine.chat.hears(f"answer {number}")
    running, gathered, *singly = second.turns
    assert "number 0." in text_of(running)
    assert all(f"number {n}." in text_of(gathered) for n in range(1, 6))
    assert [f"number {n}." in text_of(turn) for n, turn in enumerate(singly, 6)] == [True] * 20


async def test_what_was_steered_is_in_the_turn_that_is_run_again(tmp_path):
    """DU-2: the dead run took it in, so it belongs to its turn; it gets none of its own."""

    class Steered(ScriptedAgent):
        async def steer(self, turn):
            self.turns.append(turn)
            return True

    machine = Machine(tmp_path, queueing("steer"))
    first = Steered([never])
    async with machine.running(first, killed=True) as gateway:
        await machine.chat.says("one")
        await machine.chat.asked(first, 1)
        await machine.chat.says("two")
        await until(gateway, lambda census: census.inputs == {"taken": 1, "steered": 1})
    second = ScriptedAgent("Both.")
    async with machine.running(second):
        await machine.chat.hears("Both.")
    assert "one" in text_of(second.turns[0])
    assert "two" in text_of(second.turns[0])


async def test_an_answered_turn_is_only_delivered(tmp_path):
    """DU-2: once the whole answer is planned the agent is not asked again."""
    machine = Machine(tmp_path)
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True) as gateway:
        await machine.chat.says("hello")
        await machine.chat.asked(first, 1)
        (run,) = gateway.engine.lanes.running
        plan = PlanParts((PartIntent("k", ROOM, b"{}"),), datetime.now(UTC), run.claim, final=True)
        await gateway.store.write(plan)
    second = ScriptedAgent("Next.")
    async with machine.running(second) as gateway:
        census = await gateway.store.count_rows()
        assert census.turns == {"closed": 1}
        assert census.parts
        await machine.chat.says("more")
        await machine.chat.hears("Next.")
    assert len(second.turns) == 1


@pytest.mark.usefixtures("stable_at_once")
async def test_what_ends_the_process_is_quarantined(tmp_path):
    """DU-2: three times alone, then one notice to the person, which names the message, and one to the operator; the
    next message is answered."""
    machine = Machine(tmp_path)
    await be_quarantined(machine)
    last = ScriptedAgent("Fine.")
    async with machine.running(last):
        assert (await machine.chat.hears()).text == QUARANTINED.format(messages="“poison”.", way_out=RUN_AGAIN)
        await machine.chat.says("hello")
        await machine.chat.hears("Fine.")
    assert len(last.turns) == 1
    assert [note for note in machine.channel.notes if "quarantined" in note]


async def dies_alone_twice(machine: Machine) -> None:
    for attempt in range(MOST_ALONE - 1):
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True):
            if attempt == 0:
                await machine.chat.says("long work")
            await machine.chat.asked(agent, 1)


async def test_what_died_alone_twice_waits_while_the_process_is_killed_again_and_again(tmp_path, monkeypatch):
    """DU-2: a storm of kills is no proof against a long turn. It waits, and `/status` and `/why` say so; its own
    session waits behind it, everybody else is served; and a process that lives answers it, in order."""
    machine = Machine(tmp_path)
    await dies_alone_twice(machine)
    for attempt in range(MOST_ALONE):
        others = ScriptedAgent("Hello, Bob.")
        async with machine.running(others, killed=True) as gateway:
            await machine.chat.says("hello", sender="bob", chat="bob")
            await machine.chat.hears("Hello, Bob.")
            if attempt == 0:
                await machine.chat.says("and after it")
                await until(gateway, lambda census: census.inputs.get("waiting") == 1)
                await machine.chat.says("/status")
                status = (await machine.chat.hears()).text
                assert f"Held back: {UNTIL_STABLE}" in status
                assert "1 waiting" in status
                assert "0 running" in status
                replied = next(id for id, shown in machine.channel.messages.items() if shown.text == "long work")
                await machine.chat.says("/why", reply_to=replied)
                assert (await machine.chat.hears()).text.endswith(f"lane: waits, {UNTIL_STABLE}")
        assert len(others.turns) == 1
    monkeypatch.setattr("rejoinder.runtime.session.slots.STABLE_AFTER", 0.01)
    last = ScriptedAgent("Done at last.", "After it.")
    async with machine.running(last) as gateway:
        await machine.chat.hears("Done at last.")
        await machine.chat.hears("After it.")
        assert await gateway.store.quarantined() == ()
    assert ["long work" in text_of(turn) for turn in last.turns] == [True, False]


async def test_what_is_held_back_can_be_stopped(tmp_path):
    """DU-2, TU-20: it is a turn like others; the next message of its session is answered at once."""
    machine = Machine(tmp_path)
    await dies_alone_twice(machine)
    last = ScriptedAgent("Fine.")
    async with machine.running(last):
        await machine.chat.says("/stop")
        await machine.chat.hears()
        await machine.chat.says("hello")
        await machine.chat.hears("Fine.")
    assert "long work" not in text_of(last.turns[0])


@pytest.mark.usefixtures("stable_at_once")
async def test_others_are_not_quarantined_for_it(tmp_path):
    """DU-2: after two crashes suspects run one at a time, and what was under way with others when the process died is
    never quarantined for it."""
    machine = Machine(tmp_path)
    asked: list[str] = []
    for attempt in range(2 + 2 * MOST_ALONE - 1):  # each of the two is tried alone, those with less against them first
        agent = ScriptedAgent([never], [never])
        async with machine.running(agent, killed=True):
            for chat in ("a", "b") if attempt == 0 else ():
                await machine.chat.says(f"hello from {chat}", sender=chat, chat=chat)
            await machine.chat.asked(agent, 2 if attempt < 2 else 1)
        assert len(agent.turns) == (2 if attempt < 2 else 1)
        asked += [text_of(turn)[-1] for turn in agent.turns][:1] if attempt >= 2 else []
    assert asked == ["a", "b", "a", "b", "a"]
    last = ScriptedAgent("Hi.")
    async with machine.running(last):
        assert "“hello from a”" in (await machine.chat.hears()).text
        await machine.chat.hears("Hi.")
    assert "hello from b" in text_of(last.turns[0])


async def test_what_was_under_way_in_many_crashes_runs_before_anything_else(tmp_path, monkeypatch):
    """DU-2, TU-21: so that it is found alone where people never cease to write; but one that lives for a while is no
    reason to keep them waiting."""
    machine = Machine(tmp_path, open_to_all())
    (many,) = [least.crashes for least, when in VERDICTS if when is RerunPolicy.FIRST]
    for attempt in range(many):
        agent = ScriptedAgent([never], [never])
        async with machine.running(agent, killed=True):
            if attempt == 0:
                await machine.chat.says("hello", sender="a", chat="a")
            await machine.chat.asked(agent, 1)
            await machine.chat.says("hello", sender=f"b{attempt}", chat=f"b{attempt}")
            await machine.chat.asked(agent, 2)
        store = open_store(machine.url)
        await store.claim(0, "somebody between them")
        for left in (await store.recover(datetime.now(UTC))).turns:
            if left.turn.route.chat != "a":
                claim = await store.write(ResumeTurn(left.turn.id))
                await store.write(EndRun(claim, "stopped", datetime.now(UTC)))
        await store.leave("somebody between them")
        await store.close()
    agent = ScriptedAgent([never], "Hi.")
    async with machine.running(agent, killed=True) as gateway:
        await machine.chat.asked(agent, 1)
        await machine.chat.says("hello", sender="b", chat="b")
        await until(gateway, lambda census: census.inputs.get("waiting", 0) == 1)
        assert len(agent.turns) == 1
    monkeypatch.setattr("rejoinder.runtime.session.slots.HEAD_START", 0.05)
    agent = ScriptedAgent([never], "Hi.")
    async with machine.running(agent, killed=True):
        await machine.chat.hears("Hi.")


async def be_quarantined(machine: Machine) -> None:
    """Its only message kills the gateway until its turn is quarantined."""
    for attempt in range(MOST_ALONE):
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True):
            if attempt == 0:
                await machine.chat.says("poison")
            await machine.chat.asked(agent, 1)


@pytest.mark.usefixtures("stable_at_once")
@pytest.mark.parametrize("by", ["chat", "operator"])
async def test_what_is_quarantined_is_run_again_when_somebody_wants_it(tmp_path, by):
    """DU-2, DE-33: by `/resend` where it was asked, and by `rejoinder dead --retry` or the console from outside."""
    machine = Machine(tmp_path)
    await be_quarantined(machine)
    last = ScriptedAgent("Not so bad.")
    async with machine.running(last) as gateway:
        assert "quarantined" in (await machine.chat.hears()).text
        if by == "chat":
            await machine.chat.says("/resend")
            heard = {(await machine.chat.hears()).text, (await machine.chat.hears()).text}
            assert heard == {"Run again: 1.", "Not so bad."}
            await machine.chat.says("/resend")
            await machine.chat.hears("Nothing here is waiting to be sent again.")
        else:
            (quarantined,) = await gateway.store.quarantined()
            operator = open_for_operator(machine.url)
            await operator.write(RequestTurnRerun(quarantined.number))
            await operator.close()
            await machine.chat.hears("Not so bad.")
        await settled(gateway)
        assert (await gateway.store.count_rows()).turns == {"closed": 2}
    assert "poison" in text_of(last.turns[0])


@pytest.mark.usefixtures("stable_at_once")
async def test_what_is_out_of_quarantine_is_run_though_the_store_fails_then(tmp_path, monkeypatch):
    """DU-2, DU-15: its messages wait by then, and nobody but who took it out knows of them."""
    machine = Machine(tmp_path)
    await be_quarantined(machine)
    async with machine.running(ScriptedAgent("Not so bad.")) as gateway:
        assert "quarantined" in (await machine.chat.hears()).text
        store = gateway.engine.store
        faults, as_usual = [StoreUnavailable("no-files", "here")], store.waiting_inputs

        async def waiting_inputs(session):
            if faults:
                raise faults.pop()
            return await as_usual(session)

        monkeypatch.setattr("rejoinder.runtime.external_changes.PAUSE", 0.0)
        monkeypatch.setattr(store, "waiting_inputs", waiting_inputs)
        await machine.chat.says("/resend")
        heard = {(await machine.chat.hears()).text, (await machine.chat.hears()).text}
        assert heard == {"Run again: 1.", "Not so bad."}
        assert not faults


async def test_what_is_wanted_while_no_gateway_runs_is_run_by_the_next(tmp_path):
    """DU-2: a message that was never decided, too."""
    machine = Machine(tmp_path)
    store = open_store(machine.url)
    message = Inbound("fake", "e1", "m1", Chat("room"), Sender("ann"), "hello")
    (event,) = await store.write(Accept((message,), datetime.now(UTC)))
    await store.write(QuarantineEvent(event.id, "odd"))
    await store.write(RequestEventRerun(event.id))
    await store.close()
    async with machine.running(ScriptedAgent("Hi.")) as gateway:
        await machine.chat.hears("Hi.")
        assert await gateway.store.quarantined() == ()


async def test_a_drain_gives_the_turn_back(tmp_path):
    """SIGTERM: what runs when time is up is run again by the next process, and no attempt is counted."""
    machine = Machine(tmp_path)
    for _ in range(MOST_ALONE + 1):
        agent = ScriptedAgent([never])
        async with machine.running(agent, killed=True) as gateway:
            if not machine.channel.messages:
                await machine.chat.says("hello")
            await machine.chat.asked(agent, 1)
            await gateway.drain(grace=0.01)
            assert not machine.channel.listens
    last = ScriptedAgent("Hi.")
    async with machine.running(last):
        await machine.chat.hears("Hi.")


async def test_a_drain_lets_runs_end(tmp_path):
    machine = Machine(tmp_path)
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait, "Hi."], "Never.")
    async with machine.running(agent) as gateway:
        await machine.chat.says("hello")
        await machine.chat.asked(agent, 1)
        draining = asyncio.create_task(gateway.drain(grace=5))
        await asyncio.sleep(0)
        go.set()
        await draining
        await machine.chat.hears("Hi.")


async def test_a_stop_with_many_who_wait_begins_nothing_new(tmp_path, caplog):
    """DU-2, TU-21: what waits for room when a gateway goes down is given back, also when room becomes free; nothing
    stays claimed, nothing is told as a failure, and the next gateway answers everybody."""
    people, go = [f"p{number}" for number in range(20)], asyncio.Event()
    machine = Machine(tmp_path, replace(open_to_all(), gateway=GatewaySettings(max_runs=2)))
    agent = ScriptedAgent([go.wait, "Hi."], [never], *["Too late."] * 18)
    async with machine.running(agent, killed=True) as gateway:
        for person in people:
            await machine.chat.says("hello", sender=person, chat=person)
        await until(gateway, lambda _: len(gateway.engine.lanes.running) == len(people))
        await machine.chat.asked(agent, 2)
        draining = asyncio.ensure_future(gateway.drain(grace=0.5))
        await until(gateway, lambda _: len(gateway.engine.lanes.running) == 2)
        go.set()
        await machine.chat.hears("Hi.")
        await draining
        assert (await gateway.store.count_rows()).runs == 0
    assert len(agent.turns) == 2
    assert [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []
    last = ScriptedAgent(*["Later."] * 19)
    async with machine.running(last):
        for _ in range(19):
            await machine.chat.hears("Later.")


async def test_who_is_stopped_while_waiting_for_room_is_not_begun(tmp_path):
    """TU-21: room that becomes free in that very moment is for the next; the session is free for what comes."""
    machine = Machine(tmp_path, replace(open_to_all(), gateway=GatewaySettings(max_runs=1)))
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait, "First."], "Second.")
    async with machine.running(agent) as gateway:
        lanes = gateway.engine.lanes
        for person in ("ann", "bob"):
            await machine.chat.says("hello", sender=person, chat=person)
        await until(gateway, lambda _: len(lanes.running) == 2)
        await machine.chat.asked(agent, 1)
        at_work, waits = sorted(lanes.running, key=lambda run: run.task is None)
        stopping = asyncio.ensure_future(lanes.stop(lanes.at(waits.conversation.route)))
        for _ in "all", "one":  # all lanes are told, then each: it has heard of it, and its end is not written yet
            await asyncio.sleep(0)
        assert (waits.state.is_over, waits.ended.is_set()) == (True, False)
        lanes._slots.release(at_work.session)
        await stopping
        go.set()
        await machine.chat.hears("First.")
        chat = waits.conversation.route.chat
        await machine.chat.says("again", sender=chat, chat=chat)
        await machine.chat.hears("Second.")
    assert len(agent.turns) == 2


async def test_sigterm_ends_in_good_order(tmp_path):
    """What runs may end; nothing new is taken; the process returns by itself."""
    machine = Machine(tmp_path)
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait, "Hi."])
    settings = with_channel(Settings(), "fake", agent.name, ("ann",))
    async with Gateway(settings, agents={agent.name: agent}, channels=[machine.channel], store=machine.url) as gateway:
        serving = asyncio.create_task(serve_until_told(gateway))
        await machine.chat.says("hello")
        await machine.chat.asked(agent, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        await machine.channel.until(lambda: not machine.channel.listens)
        go.set()
        await serving
        await machine.chat.hears("Hi.")
        assert (await gateway.store.count_rows()).turns == {"closed": 1}


async def test_who_takes_no_notice_keeps_no_gateway_from_ending(tmp_path, monkeypatch):
    """TU-20: an agent that catches every exception, also that by which it is told to end: its turn is given back, the
    store is closed, and the next gateway answers."""
    monkeypatch.setattr(app, "AFTER_SHUTDOWN", 0.01)
    machine, over = Machine(tmp_path), asyncio.Event()

    async def is_deaf() -> None:
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()

    agent = ScriptedAgent([is_deaf, "Never."])
    settings = with_channel(Settings(), "fake", agent.name, ("ann",))
    async with asyncio.timeout(PATIENCE):
        gateway = Gateway(settings, agents={agent.name: agent}, channels=[machine.channel], store=machine.url)
        gateway.tasks._patience = 0.01
        async with gateway:
            serving = asyncio.create_task(serve_until_told(gateway))
            await machine.chat.says("hello")
            await machine.chat.asked(agent, 1)
            for _ in "first", "second":
                os.kill(os.getpid(), signal.SIGTERM)
            await serving
    over.set()
    last = ScriptedAgent("Hi.")
    async with machine.running(last):
        await machine.chat.hears("Hi.")


async def test_a_channel_that_takes_no_notice_keeps_no_gateway_from_ending(monkeypatch, caplog):
    """TU-20, CH-7: it is left behind, which is said once."""
    monkeypatch.setattr(app, "AFTER_SHUTDOWN", 0.01)
    over = asyncio.Event()

    class DeafChannel(FakeChannel):
        async def listen(self, deliver):
            listening = asyncio.ensure_future(super().listen(deliver))
            while not over.is_set():
                with suppress(asyncio.CancelledError):
                    await over.wait()
            listening.cancel()

    channel, agents = DeafChannel(), {"scripted": ScriptedAgent()}
    settings = with_channel(Settings(), channel.name, "scripted", ())
    async with asyncio.timeout(PATIENCE):
        gateway = Gateway(settings, agents=agents, channels=[channel], store=app.MEMORY)
        gateway.tasks._patience = 0.01
        try:
            async with gateway:
                serving = asyncio.create_task(serve_until_told(gateway))
                await channel.until(lambda: channel.listens)
                os.kill(os.getpid(), signal.SIGTERM)
                assert await serving is signal.SIGTERM
        finally:
            over.set()
        await gateway.tasks.idle()
    said = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert said == ["channel:fake: does not end although it is cancelled, and is left behind"]


async def test_a_gateway_told_to_end_while_it_recovers_does(monkeypatch, caplog):
    """TU-20: before it serves, too; what it does not wait for is named."""
    monkeypatch.setattr(app, "AFTER_SHUTDOWN", 0.01)
    async with asyncio.timeout(PATIENCE), Gateway(Settings(), agents={}, channels=(), store=app.MEMORY) as gateway:
        gateway.tasks.start("for ever", never())
        await gateway.drain(0)
        await gateway.serve()
    assert "Still running although the gateway ends, so it was cancelled: for ever" in caplog.text


@pytest.mark.parametrize("end", ["hangs", "fails", "exits"])
async def test_what_does_not_close_keeps_nothing_else_open(tmp_path, monkeypatch, end):
    """TU-20, DU-13: a channel and an agent of another package; the store behind them is free for the next gateway."""
    monkeypatch.setattr(foreign_calls, "CLOSING", 0.01)
    closed: list[str] = []

    async def close(name: str) -> None:
        closed.append(name)
        match end:
            case "hangs":
                await never()
            case "fails":
                raise ZeroDivisionError("by nought")
            case _:
                raise SystemExit(1)

    class BadChannel(FakeChannel):
        async def close(self) -> None:
            await close("channel")

    class BadAgent(ScriptedAgent):
        async def close(self) -> None:
            await close("agent")

    machine = Machine(tmp_path, channel=BadChannel())
    for _ in range(2):
        async with asyncio.timeout(PATIENCE), machine.running(BadAgent("Hi.")):
            await machine.chat.says("hello")
            await machine.chat.hears("Hi.")
    assert closed == ["channel", "agent"] * 2


# --- what came in -----------------------------------------------------------------------------------


async def test_what_was_accepted_and_not_decided_is_decided(tmp_path):
    """DU-1: acknowledged means answered, once; the same event again is the same message."""
    machine = Machine(tmp_path)
    inbound = Inbound("fake", "e1", "m-1", Chat("room"), Sender("ann", "ann"), "hello")
    store = open_store(machine.url)
    await store.write(Accept((inbound,), datetime.now(UTC)))
    await store.close()
    agent = ScriptedAgent("Hi.", "Twice.")
    async with machine.running(agent) as gateway:
        await machine.chat.hears("Hi.")
        await gateway.dispatch(inbound)
        await settled(gateway)
    assert len(agent.turns) == 1


@pytest.mark.parametrize("tries", range(MOST_ALONE))
async def test_a_channel_that_is_gone_keeps_nobody_from_starting(tmp_path, tries):
    """DU-13: what it brought and nobody decided waits; the others are served, and it is decided when it is back."""
    machine = Machine(tmp_path)
    store = open_store(machine.url)
    gone = Inbound("old", "e1", "m-1", Chat("room"), Sender("ann", "ann"), "hello")
    (event,) = await store.write(Accept((gone,), datetime.now(UTC)))
    for _ in range(tries):
        await store.write(CountEventAttempts((event.id,)))
    await store.close()
    async with machine.running(ScriptedAgent("Hi.")) as gateway:
        await machine.chat.says("hello")
        await machine.chat.hears("Hi.")
        assert (await gateway.store.events_of("m-1"))[0].state == "new"


def name_of(asked) -> str:
    """Under which a question may be answered."""
    return asked.text.rpartition("/approve ")[2].split()[0]


async def heard_two(machine) -> set[str]:
    return {(await machine.chat.hears()).text, (await machine.chat.hears()).text}


async def ask_and_die(machine, agent, answer="") -> tuple[Shown, str]:
    """An agent asks, is perhaps answered, and its process is killed; returns the question and its name."""
    async with machine.running(agent, killed=True) as gateway:
        await machine.chat.says("clean up")
        asked = await machine.chat.hears()
        name = name_of(asked)
        if answer:
            await machine.chat.says(f"/approve {name} {answer}")
            await machine.chat.hears(f"Request {name}: {answer}.")
            await machine.channel.until(lambda: "Allowed once." in asked.text)
        await until(gateway, lambda census: set(census.parts) == {"sent"})
    return asked, name


def questions_in(machine) -> int:
    return sum("May I" in shown.text for shown in machine.channel.messages.values())


async def test_who_asks_the_same_again_after_a_restart_is_answered_under_the_old_name(tmp_path):
    """CH-10: the question stands there once, under one id; what is answered after the restart reaches the new run."""
    machine = Machine(tmp_path)
    asked, name = await ask_and_die(machine, Asking())
    before = asked.text
    async with machine.running(Asking()) as gateway:
        await machine.channel.until(lambda: gateway.engine.turn_runner.questions._waiting)
        assert asked.text == before
        await machine.chat.says(f"/approve {name}")
        assert await heard_two(machine) == {f"Request {name}: allow-once.", "I was told allow-once."}
        await machine.channel.until(lambda: asked.text == "May I delete it all?\n\nAllowed once.")
    assert questions_in(machine) == 1


async def test_an_answer_given_before_the_crash_counts_for_the_turn_that_runs_again(tmp_path):
    """CH-10: an answer that was stored is not asked for again, whether the agent has heard it or not."""
    machine, deaf = Machine(tmp_path), Asking()
    deaf.answers.get = never
    await ask_and_die(machine, deaf, "allow-once")
    async with machine.running(Asking()):
        await machine.chat.hears("I was told allow-once.")
    assert questions_in(machine) == 1


async def test_an_answer_between_the_crash_and_the_question_counts(tmp_path):
    """CH-10: the run that asks again finds what was answered before it asked."""
    machine, go = Machine(tmp_path), asyncio.Event()
    asked, name = await ask_and_die(machine, Asking())

    class Slow(Asking):
        async def run(self, turn):
            await go.wait()
            async for event in super().run(turn):
                yield event

    async with machine.running(Slow()):
        await machine.chat.says(f"/approve {name} deny")
        await machine.chat.hears(f"Request {name}: deny.")
        await machine.channel.until(lambda: asked.text == "May I delete it all?\n\nDenied.")
        go.set()
        await machine.chat.hears("I was told None.")
    assert questions_in(machine) == 1


async def test_an_answer_counts_only_for_the_same_arguments(tmp_path):
    """CH-10, TU-34: about another tool or other arguments it is another question."""
    machine, deaf = Machine(tmp_path), Asking(about="/tmp")
    deaf.answers.get = never
    await ask_and_die(machine, deaf, "allow-once")
    agent = Asking(about="/home")
    async with machine.running(agent):
        new = name_of(await machine.chat.hears())
        assert agent.answers.empty()
        await machine.chat.says(f"/approve {new} deny")
        assert await heard_two(machine) == {f"Request {new}: deny.", "I was told None."}


async def test_what_is_not_asked_again_is_closed(tmp_path):
    """CH-10, TU-34: an old question allows nothing, loses its buttons, and whoever answers it is told so."""
    machine = Machine(tmp_path, Settings(gateway=GatewaySettings(on_crash="drop")))
    asked, old = await ask_and_die(machine, Asking())
    agent = Asking()
    async with machine.running(agent):
        await machine.channel.until(lambda: asked.text == f"May I delete it all?\n\n{RESTARTED}")
        await machine.chat.says(f"/approve {old}")
        await machine.chat.hears(f"There is no request {old} for you here; it may have been answered or have expired.")
    assert not agent.turns


async def test_a_run_that_asks_something_else_ends_its_old_question(tmp_path):
    """CH-10: its buttons go with the end of the run."""
    machine = Machine(tmp_path)
    asked, _ = await ask_and_die(machine, Asking(about="/tmp"))
    async with machine.running(ScriptedAgent("Done.", name="scripted")):
        await machine.chat.hears("Done.")
        await machine.channel.until(lambda: asked.text == f"May I delete it all?\n\n{WITHDRAWN}")


async def test_a_question_is_over_with_its_turn_that_is_stopped_before_it_goes_on(tmp_path):
    """CH-10, TU-34, IN-70: it loses its buttons, and a later "yes" is a message like any other."""
    machine = Machine(tmp_path)
    asked, _ = await ask_and_die(machine, Asking())
    async with machine.running(Asking(), killed=True) as gateway:
        await machine.channel.until(lambda: gateway.engine.turn_runner.questions._waiting)
    async with machine.running(ScriptedAgent("Yes what?", name="scripted")) as gateway:
        await until(gateway, lambda _: bool(gateway.engine.lanes.running))
        await machine.chat.says("/stop")
        await machine.chat.hears("Agent was aborted.")
        await machine.chat.says("yes")
        await machine.chat.hears("Yes what?")
        await machine.channel.until(lambda: asked.text == f"May I delete it all?\n\n{WITHDRAWN}")


async def test_a_turn_in_the_background_that_never_began_begins(tmp_path):
    """TU-28: it is one commit: once it is there it comes to its end, whatever became of who wrote it."""
    machine = Machine(tmp_path)
    async with machine.running(ScriptedAgent()) as gateway:
        gateway.engine.lanes.arrive = lambda *_: None  # killed in the very moment after the commit
        turn = Background(id="b1", agent="scripted", session="s", text="water the plants", target=ROOM)
        await gateway.begin(turn)
    agent = ScriptedAgent("Done.")
    async with machine.running(agent):
        pass
    assert "water the plants" in text_of(agent.turns[0])
    assert [message.text for message in machine.channel.messages.values()] == ["Done."]


async def test_a_message_that_cannot_be_decided_is_quarantined(tmp_path, monkeypatch):
    """DU-2: tried once with others and three times alone; those behind it are decided."""
    machine = Machine(tmp_path)
    store = open_store(machine.url)
    messages = [Inbound("fake", f"e{n}", f"{n}", Chat(f"c{n}"), Sender(f"p{n}"), f"text {n}") for n in (1, 2)]
    await store.write(Accept(tuple(messages), datetime.now(UTC)))
    await store.close()
    reached = asyncio.Event()

    async def hangs(self, event, conversation):
        reached.set()
        await never()

    async def boot():
        async with machine.running(ScriptedAgent(), killed=True):
            pass

    with monkeypatch.context() as patched:
        patched.setattr(Decider, "_decide", hangs)
        for _ in range(1 + MOST_ALONE):
            reached.clear()
            booting = asyncio.create_task(boot())
            await reached.wait()
            booting.cancel()
            await asyncio.wait({booting})
    agent = ScriptedAgent("Two.")
    async with machine.running(agent):
        assert "“text 1”" in (await machine.chat.hears()).text
        await machine.chat.hears("Two.")


@pytest.mark.parametrize("count", [1, 2])
async def test_a_stop_in_good_order_is_nobodys_fault(tmp_path, monkeypatch, count):
    """DU-2: however often a gateway is left before it comes to decide, the message is answered in the end."""
    machine = Machine(tmp_path)
    store = open_store(machine.url)
    messages = [Inbound("fake", f"e{n}", f"m-{n}", Chat("room"), Sender("ann"), "hello") for n in range(count)]
    await store.write(Accept(tuple(messages), datetime.now(UTC)))
    await store.close()
    reached = asyncio.Event()

    async def hangs(self, event, conversation):
        reached.set()
        await never()

    settings = with_channel(Settings(), "fake", "scripted", ("ann",))
    with monkeypatch.context() as patched:
        patched.setattr(Decider, "_decide", hangs)
        for _ in range(MOST_ALONE + 1):
            reached.clear()
            agent, channel = ScriptedAgent(), FakeChannel()
            async with Gateway(settings, agents={"scripted": agent}, channels=[channel], store=machine.url) as gateway:
                gateway.tasks.start("serve", gateway.serve())
                await asyncio.wait_for(reached.wait(), PATIENCE)
    async with machine.running(ScriptedAgent(*["Hi."] * count)):
        for _ in range(count):
            await machine.chat.hears("Hi.")


async def test_the_cursor_is_kept_with_what_it_stands_for(tmp_path):
    """DU-1: how far a channel was read is in the same transaction, and told again after a restart."""
    machine = Machine(tmp_path)
    found = []
    listen = machine.channel.listen

    async def polling(deliver):
        found.append(await deliver.cursor())
        await deliver(cursor="17")
        await listen(deliver)

    machine.channel.listen = polling
    for _ in range(2):
        async with machine.running(ScriptedAgent(), killed=True):
            pass
    assert found == [None, "17"]


async def test_a_second_gateway_is_refused(tmp_path):
    """DU-13: with a sentence that says who is there."""
    machine = Machine(tmp_path)
    async with machine.running(ScriptedAgent()):
        with pytest.raises(StoreUnavailable, match="a gateway is running on it: process"):
            open_store(machine.url)


# --- what is remembered -----------------------------------------------------------------------------


async def test_what_people_chose_and_who_was_let_in_survives(tmp_path):
    """DU-5: sessions, pairing and the allow-list."""
    machine = Machine(
        tmp_path, Settings(channels={"fake": ConfiguredChannel("fake", CommonChannelSettings(dm="pairing"), None)})
    )
    async with machine.running(ScriptedAgent(), killed=True):
        await machine.chat.says("/think high")
        await machine.chat.hears("Thinking: high.")
        await machine.chat.says("hello", sender="eve", chat="eve")
        code = (await machine.chat.hears()).text.split("code: ")[1][:8]
    async with machine.running(ScriptedAgent(), killed=True):
        await machine.chat.says(f"/approve {code}")
        await machine.chat.hears("eve is let in.")
        await machine.chat.says("/allowlist add bob")
        assert "bob is on" in (await machine.chat.hears()).text
    agent = ScriptedAgent("Hi, Eve.", "Hi, Bob.")
    async with machine.running(agent, killed=True):
        await machine.chat.says("/think")
        assert "high" in (await machine.chat.hears()).text
        await machine.chat.says("hello", sender="eve", chat="eve")
        await machine.chat.hears("Hi, Eve.")
        await machine.chat.says("hello", sender="bob", chat="bob")
        await machine.chat.hears("Hi, Bob.")
        await machine.chat.says("/allowlist remove eve")
        assert "no longer" in (await machine.chat.hears()).text
    async with machine.running(ScriptedAgent()):
        await machine.chat.says("hello", sender="eve", chat="eve")
        assert "pairing code" in (await machine.chat.hears()).text


async def test_handles_and_what_was_overheard_go_on(tmp_path):
    """OD-22, IN-32: a handle is never given twice, and what was said meanwhile is told with the next turn."""
    machine = Machine(tmp_path, open_to_all(require_mention=True))
    async with machine.running(ScriptedAgent(), killed=True) as gateway:
        first = await machine.channel.says("the key is under the mat", kind="group", sender="bob")
        await machine.channel.says("/status", kind="group", sender="ann", mention=True)
        await machine.chat.hears()
        await until(gateway, lambda census: census.events == {"settled": 2})
    agent = ScriptedAgent("[[reply_to:m1]]\nUnder the mat.", "Yes.")
    async with machine.running(agent, killed=True) as gateway:
        await machine.channel.says("where is it?", kind="group", sender="ann", mention=True)
        assert (await machine.chat.hears("Under the mat.")).reply_to == first
        await settled(gateway)
        await machine.channel.says("sure?", kind="group", sender="ann", mention=True)
        await machine.chat.hears("Yes.")
    assert "the key is under the mat" in text_of(agent.turns[0])
    assert "/status" not in text_of(agent.turns[0])
    assert "the key is under the mat" not in text_of(agent.turns[1])


@pytest.mark.parametrize("kills", [1, 2])
async def test_what_was_overheard_around_a_waiting_message_is_told_once(tmp_path, kills):
    """IN-32: what was said before it is the waiting message's, what was said after it the next one's."""
    settings = replace(open_to_all(require_mention=True), messages=MessagesSettings(queue=QueueSection("followup")))
    machine = Machine(tmp_path, settings)
    busy = ScriptedAgent([never])
    async with machine.running(busy, killed=True) as gateway:
        await machine.channel.says("one?", kind="group", sender="ann", mention=True)
        await machine.chat.asked(busy, 1)
        await machine.channel.says("the key is under the mat", kind="group", sender="bob")
        await machine.channel.says("two?", kind="group", sender="ann", mention=True)
        await machine.channel.says("the mat is red", kind="group", sender="bob")
        await until(gateway, lambda census: census.events == {"routed": 2, "settled": 2})
    turns = []
    if kills == 2:  # the waiting message has begun its turn, and what was said after it still waits
        begun = ScriptedAgent("One.", [never])
        async with machine.running(begun, killed=True):
            await machine.chat.hears("One.")
            await machine.chat.asked(begun, 2)
        turns += begun.turns[:1]
    answers = ScriptedAgent(*("One.", "Two.", "Three.")[kills - 1 :])
    async with machine.running(answers, killed=True) as gateway:
        for text in ("One.", "Two.")[kills - 1 :]:
            await machine.chat.hears(text)
        await settled(gateway)
        await machine.channel.says("three?", kind="group", sender="ann", mention=True)
        await machine.chat.hears("Three.")
    told = [text_of(turn) for turn in (*turns, *answers.turns)]
    assert ["under the mat" in each for each in told] == [False, True, False]
    assert ["the mat is red" in each for each in told] == [False, False, True]


async def test_what_a_turn_was_to_tell_is_told_again(tmp_path):
    """DU-2: the session forgets it when the turn begins, the turn does not."""
    machine = Machine(tmp_path)
    first = ScriptedAgent([never])
    async with machine.running(first, killed=True):
        await machine.chat.says("/reasoning on")
        await machine.chat.hears()
        await machine.chat.says("hello")
        await machine.chat.asked(first, 1)
    second = ScriptedAgent("Hi.", "Again.")
    async with machine.running(second):
        await machine.chat.hears("Hi.")
        await machine.chat.says("more")
        await machine.chat.hears("Again.")
    assert "Reasoning" in text_of(first.turns[0])
    assert "Reasoning" in text_of(second.turns[0])
    assert "Reasoning" not in text_of(second.turns[1])


async def test_a_turn_that_is_closed_after_a_restart_is_not_said_to_be_delivered(tmp_path):
    """DU-4, DU-13: killed while its only part was being sent, and nobody knows whether that arrived."""
    sending = asyncio.Event()

    class Slow(FakeChannel):
        async def send(self, part):
            sending.set()
            await never()
            raise AssertionError("unreachable")

        begin = send

    machine = Machine(tmp_path)
    machine.channel = Slow()
    machine.chat = People(machine.channel, Tasks())
    async with machine.running(ScriptedAgent("Hi."), killed=True) as gateway:
        await machine.chat.says("hello")
        await sending.wait()
        await until(gateway, lambda census: census.turns == {"answered": 1})
    async with machine.running(ScriptedAgent()) as gateway:
        await until(gateway, lambda census: census.parts.get("held") == 1)
        found = await gateway.store.turn(1)
    assert [part.state for part in found.parts] == ["held"]
    assert (found.turn.outcome, found.turn.detail) == ("answered", PLANNED_BEFORE)
    assert "delivered" not in PLANNED_BEFORE
