"""Runs beside the conversation: started by people and by agents, told of, talked to, and ended."""

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import Done, Question, TextDelta, ToolStarted
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, DirectivesSettings, MessagesSettings, QueueSection, Settings
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Route
from rejoinder.inbound.settings import CommandsSettings, ElevatedSettings
from rejoinder.runtime.session.subagents import SubagentParent
from rejoinder.store.base import AskHome, CreateOwnEvent, PutSubagent, StopWork
from rejoinder.testing import conversation
from rejoinder.testing.patience import until
from rejoinder.turns.subagents import MOST_UNASKED, SpawnRequest
from tests.conversations.restarting import Machine

ROOT = "helper:fake:default:direct:ann"
GRANTED = Settings(directives=DirectivesSettings(allow=("spawn",)))


def told(turn) -> str:
    return "\n".join(part.text for part in turn.parts)


class Team:
    """One agent for all: what it says depends on what it is told. `wait`: where it stops until it is let go."""

    name = "helper"

    def __init__(self, says: Callable[[str], str]) -> None:
        self.says = says
        self.turns = []
        self.go = asyncio.Event()
        self.cancelled = []
        self.steered = []
        self.answers = asyncio.Queue()
        self.asked_for = []  # what it was told about each question

    async def run(self, turn):
        self.turns.append(turn)
        said, waits, after = self.says(told(turn)).partition("(wait)")
        if waits:
            yield ToolStarted("t", "reading")
            yield TextDelta(f"{said}I read. ")
            said = after
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.cancelled.append(turn.session)
                raise
        if "(ask)" in said:
            yield Question("q", "May I?")
            said = f"I was told {await self.answers.get()}."
        yield TextDelta(said)
        yield Done()

    async def steer(self, turn) -> bool:
        self.steered.append(turn)
        return True

    async def answer(self, question, option) -> None:
        self.asked_for.append(option)
        self.answers.put_nowait(option)

    async def asked(self, count: int) -> None:
        await until(lambda: len(self.turns) >= count, f"turn {count}")


def by_task(text: str) -> str:
    """A reader reads, a waiter waits; who hears that one has finished says so."""
    if "has finished" in text or "could not finish" in text:
        return "Thanks."
    if "wait" in text:
        return "(wait)Done."
    return "It says 42." if "read" in text else "Hello."


async def test_a_person_starts_one_and_hears_of_its_end():
    """TU-36: its words are not posted; the chat gets one line, and the agent a turn with the result, untrusted."""
    agent = Team(by_task)
    async with conversation(agent) as chat:
        await chat.says("/subagents spawn helper read the log")
        await chat.hears("Sub-agent helper-1 is at work. /subagents log helper-1 shows what it does.")
        heard = {(await chat.hears()).text, (await chat.hears()).text}
        assert heard == {"_Sub-agent helper-1 has finished._", "Thanks."}
        await chat.says("/subagents")
        assert (await chat.hears()).text.startswith("helper-1 (helper): finished 0 s ago, read the log")
        await chat.says("/subagents info helper-1")
        assert "Result: It says 42." in (await chat.hears()).text
        await chat.says("/subagents log HELPER-1")
        assert "< It says 42." in (await chat.hears()).text
    below, above = agent.turns
    assert "subagent" in below.session
    assert "You are a sub-agent" in below.system
    assert above.session != below.session
    assert "untrusted_context" in told(above)
    assert "It says 42." in told(above)


async def test_a_late_stop_from_another_home_ends_none_that_began_after_it():
    """SC-15, TU-36: its owner was away, or died before it could note that the work was stopped."""
    agent = Team(by_task)
    async with conversation(agent) as chat:
        await chat.says("/subagents spawn helper wait")
        await chat.hears("Sub-agent helper-1 is at work. /subagents log helper-1 shows what it does.")
        await agent.asked(1)
        (engine,) = chat.gateway.engines
        (kept,) = await engine.store.open_subagents()

        async def is_done() -> bool:
            return not await engine.store.home_requests()

        for asked, ended in ((1, []), (1_000_000, [kept.session])):
            await chat.gateway.store.write(AskHome(kept.root, StopWork(kept.route, asked)))
            engine.changed()
            await until(is_done)
            assert agent.cancelled == ended


async def test_what_it_writes_is_not_acted_on():
    """TU-36: a directive of a sub-agent is taken out, and nothing else happens."""
    agent = Team(lambda text: "[[reply_to:m1]]\n<react emoji='eyes' />\nRead it." if text.endswith("read") else "Ok.")
    async with conversation(agent) as chat:
        message = await chat.says("/subagents spawn helper read")
        for _ in range(3):
            await chat.hears()
        await chat.rests()
        assert not chat.channel.messages[message].reactions
    assert "Read it." in told(agent.turns[-1])
    assert "reply_to" not in told(agent.turns[-1]).partition("untrusted_context")[2]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("/subagents spawn coder x", "The agent coder may not be started here; there are: helper."),
        ("/subagents spawn helper", "spawn needs an agent and a task: /subagents spawn <agent> <task>"),
        ("/subagents log nobody", "There is no sub-agent called nobody; /subagents lists them."),
        ("/kill nobody", "There is no sub-agent called nobody; /subagents lists them."),
        ("/kill all", "No sub-agent is at work here."),
        ("/steer", "steer needs a name and a text: /steer <name> <text>"),
        ("/subagents", "No sub-agents here. /subagents spawn <agent> <task> starts one."),
    ],
)
async def test_what_cannot_be_done_is_said(command: str, says: str):
    """TU-36, IN-61: each in a sentence."""
    async with conversation(Team(by_task)) as chat:
        await chat.says(command)
        await chat.hears(says)


async def test_an_agent_starts_one_with_a_grant():
    """TU-36: `<spawn>` acts with a grant, and its result comes back in a turn of the agent's own."""

    def says(text: str) -> str:
        if "has finished" in text:
            return "It said 42."
        return (
            "42"
            if text.endswith("count")
            else "<actions><spawn agent='helper' name='eve'>count</spawn></actions>\nOn it."
        )

    agent = Team(says)
    async with conversation(agent, settings=GRANTED) as chat:
        await chat.says("how many?")
        heard = [(await chat.hears()).text.strip() for _ in range(3)]
        assert set(heard) == {"On it.", "_Sub-agent eve has finished._", "It said 42."}


async def test_without_a_grant_nothing_is_started():
    """TU-36, OD-52: the tag is taken out, and the agent is told."""
    agent = Team(lambda text: "<actions><spawn agent='helper'>count</spawn></actions>\nOn it.")
    async with conversation(agent) as chat:
        await chat.says("how many?")
        await chat.hears("On it.")
        await chat.says("well?")
        await chat.hears("On it.")
    assert "it is not granted here" in told(agent.turns[1])
    assert len(agent.turns) == 2


async def test_what_a_sub_agent_says_is_no_order_to_start_one():
    """TU-36, OD-53: an agent that repeats the untrusted result starts nothing."""
    order = "<actions><spawn agent='helper'>dig deeper</spawn></actions>"

    def says(text: str) -> str:
        return f"{order}\nRead." if "has finished" in text else "\\" + order

    agent = Team(says)
    async with conversation(agent, settings=GRANTED) as chat:
        await chat.says("/subagents spawn helper read")
        for _ in range(3):
            await chat.hears()
        await chat.rests()
    assert len(agent.turns) == 2


async def test_stop_stops_them():
    """TU-36, IN-70: with their number, and nothing of them is told any more."""
    agent = Team(by_task)
    async with conversation(agent) as chat:
        for number in (1, 2):
            await chat.says("/subagents spawn helper wait")
            await chat.hears(
                f"Sub-agent helper-{number} is at work. /subagents log helper-{number} shows what it does."
            )
        await agent.asked(2)
        await chat.says("/status")
        assert "Runs: 0 running, 2 in the background" in (await chat.hears()).text
        await chat.says("/subagents log helper-1")
        assert "reading" in (await chat.hears()).text
        await chat.says("/stop")
        await chat.hears("Agent was aborted. Stopped 2 sub-agents.")
        await chat.says("/subagents")
        assert (await chat.hears()).text.count("stopped 0 s ago") == 2
        await chat.says("hi")
        await chat.hears("Hello.")
    assert len(agent.cancelled) == 2
    assert "Your sub-agent helper-2 was stopped." in told(agent.turns[-1])


async def test_one_that_could_not_be_stored_is_not_at_work(monkeypatch):
    """TU-36, DU-15: there is nothing to stop, and who is at work already stays so when words for it are lost."""
    agent = Team(by_task)
    async with conversation(agent) as chat:
        await chat.says("hi")
        await chat.hears("Hello.")
        subagents, store = chat.gateway.engine.subagents, chat.gateway.engine.store
        here = Route(chat.channel.name, "room")
        by = SubagentParent(ROOT, "helper", here, ("ann",), lifts=True, key="k1")
        as_usual = store.write

        async def write(*verbs):
            raise StoreUnavailable("full", "here")

        monkeypatch.setattr(store, "write", write)
        with pytest.raises(StoreUnavailable):
            await subagents.start(SpawnRequest("helper", "wait"), by)
        assert subagents.at(here) == []
        monkeypatch.setattr(store, "write", as_usual)
        started = await subagents.start(SpawnRequest("helper", "wait"), by)
        assert not isinstance(started, str)
        await agent.asked(2)
        monkeypatch.setattr(store, "write", write)
        with pytest.raises(StoreUnavailable):
            await subagents.send(started, "and look twice", replace(by, key="k2"), steer=True)
        assert subagents.at(here) == [started]
        monkeypatch.setattr(store, "write", as_usual)
        agent.go.set()
        heard = {(await chat.hears()).text, (await chat.hears()).text}
        assert heard == {f"_Sub-agent {started.name} has finished._", "Thanks."}


@pytest.mark.parametrize("is_left", [False, True], ids=["its parent waits", "its parent has ended"])
async def test_one_that_is_stopped_while_it_is_stored_does_not_begin(monkeypatch, is_left):
    """TU-36, IN-70: nobody would be told of it, and it is over already."""
    agent = Team(by_task)
    async with storing_one(agent, monkeypatch) as (chat, starting, go):
        await chat.says("/stop")
        await chat.hears("Agent was aborted. Stopped 1 sub-agent.")
        if is_left:
            starting.cancel()
        go.set()
        await asyncio.wait({starting})
        await chat.rests()
        assert len(agent.turns) == len(agent.cancelled) + 1
        assert not chat.gateway.engine.lanes.running
        (kept,) = await chat.gateway.store.subagents(ROOT)
        assert kept.state == "killed"
        assert await chat.gateway.store.waiting_inputs(kept.session) == ()


async def test_one_whose_parent_ends_while_it_is_stored_begins(monkeypatch):
    """TU-36: as it would have a moment later; nothing waits for the next start."""
    agent = Team(by_task)
    async with storing_one(agent, monkeypatch) as (chat, starting, go):
        starting.cancel()
        go.set()
        await agent.asked(2)
        agent.go.set()
        heard = {(await chat.hears()).text, (await chat.hears()).text}
        (kept,) = await chat.gateway.store.subagents(ROOT)
        assert heard == {f"_Sub-agent {kept.name} has finished._", "Thanks."}
    assert starting.cancelled()


@asynccontextmanager
async def storing_one(agent, monkeypatch):
    """A sub-agent whose start is stored, but this is not known yet; the task that starts it, and what lets it go on."""
    async with conversation(agent) as chat:
        await chat.says("hi")
        await chat.hears("Hello.")
        engine, here = chat.gateway.engine, Route(chat.channel.name, "room")
        by = SubagentParent(ROOT, "helper", here, ("ann",), lifts=True, key="k1")
        stored, go, as_usual = asyncio.Event(), asyncio.Event(), engine.store.write

        async def write(*verbs):
            results = await as_usual(*verbs)
            if any(isinstance(verb, CreateOwnEvent) for verb in verbs):
                stored.set()
                await go.wait()
            return results

        with monkeypatch.context() as patched:
            patched.setattr(engine.store, "write", write)
            starting = asyncio.create_task(engine.subagents.start(SpawnRequest("helper", "wait"), by))
            await stored.wait()
            yield chat, starting, go


async def test_kill_and_steer():
    """TU-36: one is told something into its run, and ended; the others go on."""
    agent = Team(by_task)
    async with conversation(agent) as chat:
        for number in (1, 2):
            await chat.says("/subagents spawn helper wait")
            await chat.hears(
                f"Sub-agent helper-{number} is at work. /subagents log helper-{number} shows what it does."
            )
        await agent.asked(2)
        await chat.says("/steer helper-2 and look twice")
        await chat.hears("Told helper-2.")
        await until(lambda: agent.steered, "what it is told")
        assert "and look twice" in told(agent.steered[0])
        await chat.says("/kill helper-1")
        await chat.hears("Stopped helper-1.")
        await chat.says("/kill helper-1")
        await chat.hears("helper-1 is not at work.")
        agent.go.set()
        heard = {(await chat.hears()).text, (await chat.hears()).text}
        assert heard == {"_Sub-agent helper-2 has finished._", "Thanks."}
        await chat.says("/subagents send helper-2 read it again")
        await chat.hears("Told helper-2.")
        heard = {(await chat.hears()).text, (await chat.hears()).text}
        assert heard == {"_Sub-agent helper-2 has finished._", "Thanks."}


async def test_its_questions_are_asked_in_the_chat_by_its_name():
    """TU-36, TU-34: and answered by who asked for it."""
    agent = Team(lambda text: "(ask)" if text.endswith("tidy") else "Thanks.")
    async with conversation(agent) as chat:
        await chat.says("/subagents spawn helper tidy")
        await chat.hears()
        question = (await chat.hears()).text
        assert question.startswith("helper-1 asks: May I?")
        await chat.says("no", sender="bob")
        await chat.hears("Thanks.")  # bob's word is a message like any other
        await chat.says("yes")
        heard = {(await chat.hears()).text for _ in range(3)}
        assert "_Sub-agent helper-1 has finished._" in heard
    assert any("I was told allow-once." in told(turn) for turn in agent.turns)


async def test_it_may_do_no_more_than_its_conversation():
    """TU-36, IN-59: what the session denies is denied to it, too, from that moment on."""
    agent = Team(lambda text: "(ask)" if text.endswith("tidy") else "Thanks.")
    async with conversation(agent) as chat:
        await chat.says("/exec security=deny")
        await chat.hears("Exec: security=deny.")
        await chat.says("/subagents spawn helper tidy")
        heard = {(await chat.hears()).text for _ in range(3)}
        assert "Thanks." in heard
    assert any("I was told None." in told(turn) for turn in agent.turns)


async def test_a_nested_one_reports_to_who_started_it():
    """TU-36: a sub-agent starts another; it has ended when it has heard of that one's end. Deeper ones are denied."""

    def says(text: str) -> str:
        if "dig" in text and "has finished" not in text:
            return "<actions><spawn agent='helper' name='deepest'>deepest</spawn></actions>Dug."
        if text.endswith("plan"):
            return "<actions><spawn agent='helper' name='digger'>dig</spawn></actions>Planned."
        return f"All in: {'digger' in text}"

    agent = Team(says)
    async with conversation(agent, settings=GRANTED) as chat:
        await chat.says("/subagents spawn helper plan")
        heard = [(await chat.hears()).text for _ in range(4)]
        await chat.rests()
        await chat.says("/subagents")
        listed = (await chat.hears()).text
    assert "_Sub-agent digger has finished._" in heard
    assert "_Sub-agent helper-1 has finished._" in heard
    assert heard.index("_Sub-agent digger has finished._") < heard.index("_Sub-agent helper-1 has finished._")
    assert "  digger (helper): finished" in listed
    assert "deepest" not in listed
    assert len(agent.turns) == 4  # plan, dig, plan once more, the conversation


async def test_a_loop_ends_at_the_cap_with_one_notice():
    """TU-36: each end starts a turn that starts another, until the cap; the chat hears that once."""
    agent = Team(lambda text: "<actions><spawn agent='helper'>again</spawn></actions>")
    async with conversation(agent, settings=GRANTED) as chat:
        await chat.says("go")
        ends = 0
        while "since somebody last wrote" not in (line := (await chat.hears()).text):
            assert line.endswith("has finished._")
            ends += 1
        await chat.rests()
        left = [shown.text for shown in chat._unheard()]
        for _ in left:
            await chat.hears()
    assert all(line.endswith("has finished._") for line in left)
    assert ends + len(left) == MOST_UNASKED


@pytest.mark.parametrize("mode", ["collect", "followup", "steer", "interrupt", "steer-backlog", "queue"])
async def test_an_end_disturbs_no_turn_under_way(mode: str):
    """TU-36: while the conversation is busy, the end is told with its next turn, whatever the queue mode."""

    def says(text: str) -> str:
        if "has finished" in text:
            return "So it is 42."
        return "(wait)Hello." if "hold on" in text else "42"

    agent = Team(says)
    settings = Settings(messages=MessagesSettings(queue=QueueSection(mode=mode, debounce_ms=0)))
    async with conversation(agent, settings=settings) as chat:
        await chat.says("hold on")
        await agent.asked(1)
        await chat.says("/subagents spawn helper read")
        heard = await heard_until(chat, "_Sub-agent helper-1 has finished._")
        assert "Hello." not in "".join(heard)
        assert not agent.cancelled
        agent.go.set()
        await heard_until(chat, "So it is 42.")
    assert not agent.steered
    assert [("has finished" in told(turn)) for turn in agent.turns] == [False, False, True]


async def test_stop_and_kill_end_those_below_too():
    """TU-36, IN-70: a sub-agent and the one it started are ended together."""

    def says(text: str) -> str:
        if text.endswith("plan"):
            return "<actions><spawn agent='helper' name='digger'>wait</spawn></actions>Planned."
        return by_task(text)

    for command, answer in (("/kill helper-1", "Stopped helper-1."), ("/stop", "Agent was aborted. Stopped 2")):
        agent = Team(says)
        async with conversation(agent, settings=GRANTED) as chat:
            await chat.says("/subagents spawn helper plan")
            await chat.hears()
            await agent.asked(2)
            await chat.says(command)
            assert (await chat.hears()).text.startswith(answer)
            await chat.says("/subagents")
            assert (await chat.hears()).text.count("stopped 0 s ago") == 2
        assert len(agent.turns) == 2


async def test_eight_at_once():
    """TU-36: the ninth is refused with the reason, until one has ended."""
    agent = Team(by_task)
    async with conversation(agent) as chat:
        for _ in range(8):
            await chat.says("/subagents spawn helper wait")
            assert "is at work" in (await chat.hears()).text
        await chat.says("/subagents spawn helper wait")
        await chat.hears("8 sub-agents are already at work here, which is the limit.")
        await chat.says("/kill all")
        await chat.hears("Stopped: 8.")
        await chat.says("/subagents spawn helper read")
        assert "is at work" in (await chat.hears()).text
        for _ in range(2):
            await chat.hears()


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
async def test_they_survive_a_restart(tmp_path, killed: bool):
    """TU-36, TU-10: its turn is run again, and its end is told by the next process."""
    machine = Machine(tmp_path)
    first, second = Team(by_task), Team(by_task)
    second.go.set()
    async with machine.running(first, killed=True):
        await machine.chat.says("/subagents spawn helper wait")
        await machine.chat.hears()
        await first.asked(1)
    async with machine.running(second, killed=killed):
        heard = {(await machine.chat.hears()).text, (await machine.chat.hears()).text}
        assert heard == {"_Sub-agent helper-1 has finished._", "Thanks."}
    assert second.turns[0].session == first.turns[0].session
    assert len(second.turns) == 2


@pytest.mark.parametrize("is_written", [False, True], ids=["before it is written", "after it is written"])
async def test_one_that_is_stopped_stays_so_after_a_restart(tmp_path, monkeypatch, is_written):
    """TU-36, IN-70, SC-4: the process dies while the stop is written; none of the sub-agent's work is done again."""
    machine, killing = Machine(tmp_path), asyncio.Event()
    first, second = Team(by_task), Team(by_task)
    async with machine.running(first, killed=True) as gateway:
        await machine.chat.says("/subagents spawn helper wait")
        await machine.chat.hears()
        await first.asked(1)
        as_usual = gateway.engine.store.write

        async def write(*verbs):
            is_last = any(isinstance(verb, PutSubagent) and verb.subagent.state == "killed" for verb in verbs)
            done = await as_usual(*verbs) if is_written or not is_last else ()
            if is_last:
                killing.set()
                await asyncio.Event().wait()
            return done

        monkeypatch.setattr(gateway.engine.store, "write", write)
        await machine.chat.says("/stop")
        await killing.wait()
    async with machine.running(second) as gateway:
        await machine.chat.says("hi")
        while (await machine.chat.hears()).text != "Hello.":
            continue
        (kept,) = await gateway.store.subagents(ROOT)
        assert not kept.is_running
    assert [turn.session for turn in second.turns if "subagent" in turn.session] == []


async def test_a_turn_that_is_run_again_starts_nobody_twice(tmp_path):
    """TU-36: the same wish of the same turn is the same sub-agent."""

    def says(text: str) -> str:
        if "has finished" in text:
            return "Thanks."
        return "42" if text.endswith("count") else "<actions><spawn agent='helper'>count</spawn></actions>(wait)On it."

    machine = Machine(tmp_path, GRANTED)
    first, second = Team(says), Team(says)
    second.go.set()
    async with machine.running(first, killed=True) as gateway:
        await machine.chat.says("how many?")
        await first.asked(1)
        await first.asked(2)
    async with machine.running(second) as gateway:
        heard = {(await machine.chat.hears()).text.strip() for _ in range(3)}
        assert "_Sub-agent helper-1 has finished._" in heard
        (root,) = {turn.session for turn in second.turns if "subagent" not in turn.session}
        assert [kept.name for kept in await gateway.store.subagents(root)] == ["helper-1"]


# --- whose authority it has ---------------------------------------------------------------------------------


def a_lifted_group() -> Settings:
    """Ann and Bob may use commands, both may own the gateway, and only Ann may be elevated."""
    common = CommonChannelSettings(dm="open", groups="open", require_mention=False, allow=("bob",))
    elevated = CommandsSettings(elevated=ElevatedSettings(enabled=True, allow_from=("fake:ann",)))
    channels = {"fake": ConfiguredChannel("fake", common, None)}
    return Settings(channels=channels, commands=elevated, directives=DirectivesSettings(allow=("spawn",)))


def tidies(text: str) -> str:
    """Whoever tidies asks first; who hears that it was done tidies up as well."""
    if "has finished" in text or "tidy" in text:
        return "(ask)"
    return "<actions><spawn agent='helper'>tidy</spawn></actions>On it." if "send somebody" in text else "Hello."


async def says(chat, text: str, sender: str) -> None:
    await chat.channel.says(text, kind="group", sender=sender)


async def heard_until(chat, wanted: str) -> list[str]:
    lines = [(await chat.hears()).text]
    while wanted not in lines[-1]:
        lines.append((await chat.hears()).text)
    return lines


@pytest.mark.parametrize("lifted", ["/elevated full", "/exec security=full"])
async def test_what_an_owner_starts_has_the_owners_rights(lifted: str):
    """TU-36, IN-59: neither it nor the turn that its end starts has to ask."""
    agent = Team(tidies)
    async with conversation(agent, settings=a_lifted_group()) as chat:
        await says(chat, lifted, "ann")
        await chat.hears()
        await says(chat, "/subagents spawn helper tidy", "ann")
        for _ in range(3):
            await chat.hears()
    assert agent.asked_for == ["allow-once", "allow-once"]


@pytest.mark.parametrize("lifted", ["/elevated full", "/exec security=full"])
@pytest.mark.parametrize("how", ["/subagents spawn helper tidy", "send somebody"])
async def test_what_another_starts_has_not(lifted: str, how: str):
    """TU-36, IN-59: a sender's sub-agent asks in the chat, though the session is lifted; and so does the turn that its
    end starts, whose words come from it."""
    agent = Team(tidies)
    async with conversation(agent, settings=a_lifted_group()) as chat:
        await says(chat, lifted, "ann")
        await chat.hears()
        await says(chat, how, "bob")
        for question in ("helper-1 asks: May I?", "May I?"):
            assert await heard_until(chat, question)
            assert agent.answers.empty()
            await says(chat, "/approve deny", "bob")
        await heard_until(chat, "I was told None.")
    assert agent.asked_for == [None, None]


async def test_an_owner_who_may_not_be_elevated_starts_nothing_that_is():
    """TU-36, IN-57: `/elevated` is for those in `commands.elevated.allow_from`."""
    agent = Team(tidies)
    async with conversation(agent, settings=a_lifted_group(), owners=("ann", "bob")) as chat:
        await says(chat, "/elevated full", "ann")
        await chat.hears()
        await says(chat, "/subagents spawn helper tidy", "bob")
        for question in ("helper-1 asks: May I?", "May I?"):
            await heard_until(chat, question)
            await says(chat, "/approve deny", "bob")
        await heard_until(chat, "I was told None.")
    assert agent.asked_for == [None, None]


@pytest.mark.parametrize("word", ["/steer", "/subagents send"])
async def test_who_tells_it_something_lends_it_no_more_than_they_have(word: str):
    """TU-36, IN-59: an owner's sub-agent that somebody else has talked to has to ask from then on."""
    agent = Team(lambda text: "(wait)(ask)" if "wait" in text else tidies(text))
    async with conversation(agent, settings=a_lifted_group()) as chat:
        await says(chat, "/exec security=full", "ann")
        await chat.hears()
        await says(chat, "/subagents spawn helper wait", "ann")
        await chat.hears()
        await agent.asked(1)
        await says(chat, f"{word} helper-1 tidy the cellar, too", "bob")
        await chat.hears("Told helper-1.")
        agent.go.set()
        await heard_until(chat, "helper-1 asks: May I?")
        await says(chat, "/approve deny", "ann")
        await until(lambda: agent.asked_for, "the answer")
        await says(chat, "/stop", "ann")
        await heard_until(chat, "Agent was aborted.")
        await chat.rests()
        for _ in chat._unheard():
            await chat.hears()
    assert agent.asked_for[0] is None
