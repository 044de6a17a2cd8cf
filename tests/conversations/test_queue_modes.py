"""What becomes of a message that comes while the agent is at work: each mode as a chat (TU-3)."""

import asyncio

import pytest

from rejoinder.agents import python
from rejoinder.agents.python.function import PythonAgent
from rejoinder.runtime.session.journal import LaneJournal
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.testing.patience import PATIENCE
from tests.conversations.agents import Steerable, said, told
from tests.conversations.restarting import until
from tests.conversations.settings import queueing

LONG = 3_600_000  # milliseconds in which no test ends


async def test_collect_gathers_what_comes_meanwhile_into_one_turn():
    """TU-3, TU-7: one turn, each message with its own sender block, in order."""
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "Two and three.")
    async with conversation(agent, settings=queueing("collect")) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await chat.says("three", sender="ann")
        go.set()
        await chat.hears("One.")
        await chat.hears("Two and three.")
    assert [said(turn) for turn in agent.turns] == [["one"], ["two", "three"]]
    assert told(agent.turns[1]).count("rejoinder.sender.v1") == 2


async def test_any_message_of_a_gathered_turn_can_be_replied_to():
    """TU-7: any of its ids is a valid reply target."""
    go = asyncio.Event()
    async with conversation(
        ScriptedAgent([go.wait, "."], "[[reply_to:m2]]\nTo the second."), settings=queueing("collect")
    ) as chat:
        await chat.says("one")
        second = await chat.says("two")
        await chat.says("three")
        go.set()
        await chat.hears(".")
        assert (await chat.hears("To the second.")).reply_to == second


async def test_the_first_message_of_an_idle_lane_waits_for_nothing():
    """TU-1: no added delay, whatever the debounce."""
    async with conversation(ScriptedAgent("At once."), settings=queueing("collect", LONG)) as chat:
        await chat.says("now")
        await chat.hears("At once.")


async def test_followup_gives_each_message_a_turn_of_its_own():
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait, "One."], "Two.", "Three.")
    async with conversation(agent, settings=queueing("followup")) as chat:
        for text in ("one", "two", "three"):
            await chat.says(text)
        go.set()
        for text in ("One.", "Two.", "Three."):
            await chat.hears(text)
    assert [said(turn) for turn in agent.turns] == [["one"], ["two"], ["three"]]


async def test_queue_is_plain_first_in_first_out_and_waits_for_no_quiet():
    agent = ScriptedAgent("One.", "Two.", "Three.")
    async with conversation(agent, settings=queueing("queue", LONG)) as chat:
        for text in ("one", "two", "three"):
            await chat.says(text)
        for text in ("One.", "Two.", "Three."):
            await chat.hears(text)


async def test_interrupt_ends_the_run_and_starts_with_the_newest():
    """TU-3: what was said so far stays, nothing more of it comes, and the prompt says what happened."""
    never = asyncio.Event()
    agent = ScriptedAgent(["Once upon", never.wait, " a time."], "Two.")
    async with conversation(agent, settings=queueing("interrupt")) as chat:
        await chat.says("one")
        await chat.sees("Once upon")
        await chat.says("two")
        await chat.hears("Once upon")
        await chat.hears("Two.")
    assert said(agent.turns[1]) == ["two"]
    assert "The previous run was aborted by a person" in told(agent.turns[1])


async def test_what_waited_when_somebody_interrupted_is_told_and_marked():
    """TU-3: discarded with a reason told in the prompt; TU-5: its sender can see it."""
    never = asyncio.Event()
    agent = ScriptedAgent(["One", never.wait], "Three.")
    async with conversation(agent, settings=queueing("collect", LONG)) as chat:
        await chat.says("one")
        await chat.sees("One")
        waited = await chat.says("two")
        await chat.says("/queue interrupt three")
        await chat.hears("For this turn: queue interrupt.")
        await chat.hears("One")
        await chat.hears("Three.")
        await chat.sees_reaction("🙈", on=waited)
    assert said(agent.turns[1]) == ["three"]
    assert '"lines":["two"]' in told(agent.turns[1])


async def test_steer_goes_into_the_running_turn():
    """TU-3: no turn of its own; the agent gets the message with its sender block."""
    go = asyncio.Event()
    agent = Steerable(["One", go.wait, " with two."])
    async with conversation(agent, settings=queueing("steer")) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await agent.was_offered.wait()
        go.set()
        await chat.hears("One with two.")
    assert len(agent.turns) == 1
    assert said(agent.offered[0]) == ["two"]
    assert '"handle":"m3"' in told(agent.offered[0])


@pytest.mark.parametrize("mode", ["steer", "steer-backlog"])
async def test_what_has_directives_gets_a_turn_in_which_they_hold(mode):
    """TU-3, IN-55: they are for its turn, and the one that runs has begun without them."""
    go = asyncio.Event()
    agent = Steerable(["One", go.wait, "."], "Two.")
    async with conversation(agent, settings=queueing(mode, debounce_ms=1)) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("/think high two")
        await chat.hears("For this turn: thinking high.")
        go.set()
        await chat.hears("One.")
        await chat.hears("Two.")
    assert agent.offered == []
    assert [turn.think for turn in agent.turns] == [None, "high"]


async def longer_than_no_time() -> None:
    """Who has no patience at all has lost it by then: what is due is done once in each turn of the loop."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_an_agent_takes_its_time_to_come_to_its_next_step(monkeypatch):
    """TU-3: at its next step, however long the one before it takes."""
    monkeypatch.setattr("rejoinder.runtime.session.run_driver.STEER_PATIENCE", 0)

    class Slow(Steerable):
        async def steer(self, turn) -> bool:
            await super().steer(turn)
            await longer_than_no_time()
            return True

    go = asyncio.Event()
    agent = Slow(["One", go.wait, " with two."])
    async with conversation(agent, settings=queueing("steer")) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        async with asyncio.timeout(PATIENCE):
            await until(chat.gateway, lambda census: census.inputs.get("steered") == 1)
        go.set()
        await chat.hears("One with two.")
    assert len(agent.turns) == 1


async def test_a_run_that_is_over_is_not_waited_for_long(monkeypatch):
    """TU-3, TU-9: an agent that never says whether it took a message in did not; the lane goes on."""
    monkeypatch.setattr("rejoinder.runtime.session.run_driver.STEER_PATIENCE", 0.01)

    class Mute(Steerable):
        async def steer(self, turn) -> bool:
            await super().steer(turn)
            await asyncio.Event().wait()
            return True

    go = asyncio.Event()
    agent = Mute(["One", go.wait, "."], "Two.")
    async with conversation(agent, settings=queueing("steer", debounce_ms=1)) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await agent.was_offered.wait()
        go.set()
        await chat.hears("One.")
        await chat.hears("Two.")


async def test_what_was_taken_in_is_never_run_as_well_though_the_disk_is_slow(monkeypatch):
    """TU-2, TU-3: the agent has it; that this is still being written down changes nothing."""
    monkeypatch.setattr("rejoinder.runtime.session.run_driver.STEER_PATIENCE", 0)
    steered, over = LaneJournal.record_steered, asyncio.Event()

    async def steered_late(self, run, asked):
        await run.ended.wait()
        await longer_than_no_time()
        await steered(self, run, asked)

    monkeypatch.setattr(LaneJournal, "record_steered", steered_late)
    agent = Steerable(["One", over.wait, " with two."])
    async with conversation(agent, settings=queueing("steer", debounce_ms=1)) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await agent.was_offered.wait()
        over.set()
        await chat.hears("One with two.")
        await chat.rests()
    assert len(agent.turns) == 1


async def test_a_function_is_steered():
    """TU-3, TU-32: a shipped kind of agent takes in what is said meanwhile, at its next step."""

    async def shop(turn, further):
        yield "Buying " + " ".join(said(turn))
        for _ in range(1000):  # steps
            if meanwhile := further.take():
                yield " and " + " ".join(said(meanwhile[0])) + "."
                return
            await asyncio.sleep(0.001)

    agent = PythonAgent("shopper", python.Settings(call="-:-"), shop)
    async with conversation(agent, settings=queueing("steer")) as chat:
        await chat.says("apples")
        await chat.sees("Buying apples")
        await chat.says("bread")
        await chat.hears("Buying apples and bread.")


async def test_what_a_function_did_not_take_runs_after_it():
    """TU-3: never lost, never both."""

    async def shop(turn, further):
        yield "Buying " + " ".join(said(turn))
        if said(turn) == ["apples"]:
            await go.wait()

    go = asyncio.Event()
    agent = PythonAgent("shopper", python.Settings(call="-:-"), shop)
    async with conversation(agent, settings=queueing("steer")) as chat:
        await chat.says("apples")
        await chat.sees("Buying apples")
        await chat.says("bread")
        go.set()
        await chat.hears("Buying apples")
        await chat.hears("Buying bread")


@pytest.mark.parametrize("mode", ["steer", "steer-backlog"])
async def test_what_an_agent_cannot_take_in_runs_after_it(mode):
    """TU-3: an agent that cannot steer: followup."""
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "Two.")
    async with conversation(agent, settings=queueing(mode)) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        go.set()
        await chat.hears("One.")
        await chat.hears("Two.")


async def test_steer_backlog_keeps_what_the_run_refused_and_never_does_both():
    """TU-3: kept as a backlog and run as followup, once."""
    go = asyncio.Event()
    agent = Steerable(["One", go.wait, "."], "Two.", willing=False)
    async with conversation(agent, settings=queueing("steer-backlog")) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await agent.was_offered.wait()
        go.set()
        await chat.hears("One.")
        await chat.hears("Two.")
    assert len(agent.offered) == 1
    assert [said(turn) for turn in agent.turns] == [["one"], ["two"]]


async def test_the_mode_can_be_changed_while_messages_wait():
    """TU-4: changing the mode never loses what waits."""
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "Two.", "Three.")
    async with conversation(agent, settings=queueing("collect", LONG)) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await chat.says("/queue queue")
        await chat.hears("Queue: queue.")
        await chat.says("three")
        go.set()
        await chat.hears("One.")
        await chat.hears("Two.")
        await chat.hears("Three.")


@pytest.mark.parametrize(
    ("drop", "mark", "marked", "words"),
    [("old", "🙈", 1, ["three"]), ("new", "🙈", 2, ["two"]), ("summarize", "✍️", 1, ["three"])],
)
async def test_beyond_the_cap_somebody_pays_and_can_see_it(drop, mark, marked, words):
    """TU-5: by the drop policy; the summary is a heading and never takes a message's place."""
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "The rest.")
    async with conversation(agent, settings=queueing("collect", cap=1, drop=drop)) as chat:
        ids = [await chat.says("one")]
        await chat.sees("One")
        ids += [await chat.says("two"), await chat.says("three")]
        await chat.sees_reaction(mark, on=ids[marked])
        go.set()
        await chat.hears("One.")
        await chat.hears("The rest.")
    assert said(agent.turns[1]) == words
    assert ('"lines":["two"]' in told(agent.turns[1])) == (drop == "summarize")


async def test_by_sender_each_person_gets_a_turn_of_their_own():
    """TU-6: `grouping = "sender"`: own buffers and own turns, on the shared session."""
    go = asyncio.Event()
    agent = ScriptedAgent(["One", go.wait, "."], "Yes.", "Yes.")
    async with conversation(agent, settings=queueing("collect", grouping="sender")) as chat:
        for text, sender in (("one", "ann"), ("two", "ann"), ("three", "bob"), ("four", "ann")):
            await chat.channel.says(text, sender=sender, chat="lab", kind="group", mention=True)
        await chat.sees("One")
        go.set()
        for heard in ("One.", "Yes.", "Yes."):
            await chat.hears(heard)
    # whoever is quiet first is next
    assert sorted(said(turn) for turn in agent.turns) == [["one"], ["three"], ["two", "four"]]
    assert len({turn.session for turn in agent.turns}) == 1


@pytest.mark.parametrize(
    ("limits", "turns"),
    [
        ({"max_batch": 2}, [["one"], ["two", "three"], ["four"]]),
        ({"max_batch_tokens": 1}, [["one"], ["two"], ["three"], ["four"]]),
    ],
)
async def test_a_gathered_turn_is_only_so_long(limits, turns):
    """TU-6: `max_batch` messages and `max_batch_tokens`; one that is longer goes alone."""
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait, "Done."], *["Done."] * (len(turns) - 1))
    async with conversation(agent, settings=queueing("collect", **limits)) as chat:
        for text in ("one", "two", "three", "four"):
            await chat.says(text)
        go.set()
        for _ in turns:
            await chat.hears("Done.")
    assert [said(turn) for turn in agent.turns] == turns


async def test_two_chats_do_not_wait_for_each_other():
    """TU-8: a lane is a session's; people in other chats are answered meanwhile."""
    go = asyncio.Event()
    agent = ScriptedAgent(["Ann: ", go.wait, "done."], "Bob: done.")
    async with conversation(agent, settings=queueing("collect")) as chat:
        await chat.says("one")
        await chat.sees("Ann:")
        await chat.says("two", sender="bob", chat="other")
        await chat.hears("Bob: done.")
        go.set()
        await chat.hears("Ann: done.")
