"""Several agents of ours in one room: who takes a message, and when they stop talking to each other."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from rejoinder.app import Gateway
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, Settings
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing import FakeChannel, ScriptedAgent
from rejoinder.testing.chat import Chat
from tests.conversations.agents import said
from tests.conversations.settings import queueing

LAB = {"chat": "lab", "kind": "group"}


@asynccontextmanager
async def room(*agents, channel=None, store="sqlite::memory:", **settings):
    channel = channel or FakeChannel()
    here = {"agents": tuple(agent.name for agent in agents), "owners": ("ann",), "response_prefix": "", **settings}
    common = CommonChannelSettings(groups="open", **here)
    made = Settings(channels={"fake": ConfiguredChannel("fake", common, {})}, messages=queueing("collect").messages)
    gateway = Gateway(made, agents={agent.name: agent for agent in agents}, channels=[channel], store=store)
    async with gateway, Tasks() as tasks:
        tasks.start("serve", gateway.serve())
        chat = Chat(channel, tasks, gateway)
        yield chat
        await chat.ends()


def a_coder(*replies):
    return ScriptedAgent(*replies, name="coder")


def a_writer(*replies):
    return ScriptedAgent(*replies, name="writer")


async def test_one_mention_wakes_one():
    """IN-25: the one who is named, in a session of its own."""
    coder, writer = a_coder("Code."), a_writer("Prose.")
    async with room(coder, writer) as chat:
        await chat.channel.says("@writer a poem", mention="writer", **LAB)
        await chat.hears("Prose.")
        await chat.channel.says("@coder a function", mention="coder", **LAB)
        await chat.hears("Code.")
    assert [said(turn) for turn in writer.turns] == [["@writer a poem"]]
    assert [said(turn) for turn in coder.turns] == [["@coder a function"]]
    assert writer.turns[0].session != coder.turns[0].session


@pytest.mark.parametrize(("wake", "woken"), [("lead", ["coder"]), ("all", ["coder", "writer"]), ("mentions", [])])
async def test_who_takes_a_message_that_names_nobody(wake, woken):
    """IN-25: as `wake` says."""
    agents = a_coder("Code."), a_writer("Prose.")
    async with room(*agents, wake=wake, require_mention=False) as chat:
        await chat.channel.says("hello", **LAB)
        for _ in woken:
            await chat.hears()
    assert [agent.name for agent in agents if agent.turns] == woken


async def test_a_directive_is_for_the_agent_that_is_named():
    """IN-25, IN-54: it is kept in that agent's session, and no other's."""
    coder, writer = a_coder("Code."), a_writer("Prose.")
    async with room(coder, writer) as chat:
        await chat.channel.says("@writer /think high", mention="writer", **LAB)
        await chat.hears("Thinking: high.")
        await chat.channel.says("@writer a poem", mention="writer", **LAB)
        await chat.hears("Prose.")
        await chat.channel.says("@coder a function", mention="coder", **LAB)
        await chat.hears("Code.")
    assert [turn.think for turn in writer.turns] == ["high"]
    assert [turn.think for turn in coder.turns] == [None]


async def test_a_directive_in_a_reply_is_for_the_agent_that_is_answered():
    """IN-25, IN-54: also where the platform does not know our agents apart; a name counts before it."""
    coder, writer = a_coder("Code."), a_writer("Prose.", "More.")
    async with room(coder, writer) as chat:
        await chat.channel.says("@writer a poem", mention="writer", **LAB)
        prose = await chat.hears("Prose.")
        await chat.channel.says("/think high", reply_to=prose.id, **LAB)
        await chat.hears("Thinking: high.")
        await chat.channel.says("@coder /think low", mention="coder", reply_to=prose.id, **LAB)
        await chat.hears("Thinking: low.")
        await chat.channel.says("@writer more", mention="writer", **LAB)
        await chat.hears("More.")
        await chat.channel.says("@coder a function", mention="coder", **LAB)
        await chat.hears("Code.")
    assert [turn.think for turn in writer.turns] == [None, "high"]
    assert [turn.think for turn in coder.turns] == ["low"]


async def test_each_has_a_lane_of_its_own():
    """TU-1: one agent at work does not hold up the other."""
    go = asyncio.Event()
    coder, writer = a_coder(["Compiling", go.wait, "."]), a_writer("Prose.")
    async with room(coder, writer) as chat:
        await chat.channel.says("@coder build", mention="coder", **LAB)
        await chat.sees("Compiling")
        await chat.channel.says("@writer a poem", mention="writer", **LAB)
        await chat.hears("Prose.")
        go.set()
        await chat.hears("Compiling.")


async def test_agents_that_talk_to_each_other_fall_silent_with_one_notice():
    """IN-21, IN-23: they wake each other only by name, and only so often in a row; a person starts over."""
    coder, writer = a_coder(*["@writer your turn"] * 9), a_writer("@coder no, yours", "@coder no", "Hello, Ann.")
    async with room(coder, writer, bot_turns=4) as chat:
        await chat.channel.says("@coder begin", **LAB)
        for said in ("@writer your turn", "@coder no, yours", "@writer your turn", "@coder no"):
            await chat.hears(said)
        await chat.hears("4 bot turns in a row: I am silent until a human writes.")
        await chat.channel.says("@writer hello", **LAB)
        await chat.hears("Hello, Ann.")
    assert (len(coder.turns), len(writer.turns)) == (2, 3)


async def test_what_hits_the_limit_is_history_for_the_others():
    """IN-23, IN-32: nobody is woken by it, and who was named reads it with the next turn."""
    coder, writer = a_coder("@writer your turn", "I did."), a_writer("@coder did you see it?")
    async with room(coder, writer, bot_turns=2) as chat:
        await chat.channel.says("@coder begin", **LAB)
        await chat.hears("@writer your turn")
        await chat.hears("@coder did you see it?")
        await chat.hears("2 bot turns in a row: I am silent until a human writes.")
        await chat.channel.says("@coder well?", **LAB)
        await chat.hears("I did.")
    assert '"text":"@coder did you see it?","author":"writer"' in "".join(p.text for p in coder.turns[1].parts)


async def test_an_agent_wakes_another_by_name_where_the_platform_tells_nobody():
    """IN-21, IN-25: the answer comes to who is named in it, with the author, and under its own id."""
    coder, writer = a_coder("Done. @Writer, describe it."), a_writer("[[reply_to:m2]]\nIt sorts.")
    async with room(coder, writer) as chat:
        await chat.channel.says("@coder sort this", **LAB)
        answer = await chat.hears("Done. @Writer, describe it.")
        assert (await chat.hears("It sorts.")).reply_to == answer.id
    assert [said(turn) for turn in writer.turns] == [["Done. @Writer, describe it."]]
    assert '"sender_id":"coder"' in "".join(part.text for part in writer.turns[0].parts)


async def test_an_answer_that_names_nobody_is_history_for_the_others():
    """IN-25, IN-32: they see it with their next turn, and nobody is woken."""
    coder, writer = a_coder("It is sorted."), a_writer("It sorts.")
    async with room(coder, writer) as chat:
        await chat.channel.says("@coder sort this", **LAB)
        await chat.hears("It is sorted.")
        await chat.channel.says("@writer describe it", **LAB)
        await chat.hears("It sorts.")
    assert '"text":"It is sorted.","author":"coder","handle":"m2"' in "".join(p.text for p in writer.turns[0].parts)
    assert len(coder.turns) == 1


async def test_what_agents_said_is_history_over_a_restart(tmp_path):
    """IN-25, IN-32: once, with its handle; what was handed to an agent was a message of its turn, and is no history."""
    channel, store = FakeChannel(), f"sqlite:{tmp_path / 'rejoinder.db'}"
    coder, writer = a_coder("It is sorted.", "Done. @Writer, describe it.", "It is quick."), a_writer("It sorts.")
    async with room(coder, writer, channel=channel, store=store) as chat:
        await channel.says("@coder sort this", **LAB)
        await chat.hears("It is sorted.")
        await channel.says("@coder again", **LAB)
        await chat.hears("Done. @Writer, describe it.")
        await chat.hears("It sorts.")
        await channel.says("@coder how quick?", **LAB)
        await chat.hears("It is quick.")
    heard = "".join(part.text for part in writer.turns[0].parts)
    assert heard.count("It is sorted.") == heard.count("Done. @Writer") == 1
    coder, writer, reader = a_coder("Yes."), a_writer("And it is quick."), ScriptedAgent("I see.", name="reader")
    async with room(coder, writer, reader, channel=channel, store=store) as chat:
        for _ in range(4):
            await chat.hears()  # of the process before
        await channel.says("@writer go on", **LAB)
        await chat.hears("And it is quick.")
        await channel.says("@reader what was said?", **LAB)
        await chat.hears("I see.")
    heard = "".join(part.text for part in writer.turns[0].parts)
    assert '"text":"It is quick.","author":"coder"' in heard
    assert "It is sorted." not in heard
    assert "Done." not in heard
    everything = "".join(part.text for part in reader.turns[0].parts)
    said_by_agents = ("It is sorted.", "Done. @Writer, describe it.", "It is quick.", "It sorts.", "And it is quick.")
    assert [everything.count(f'"text":"{words}"') for words in said_by_agents] == [1, 1, 1, 1, 1]


async def test_what_hit_the_limit_is_history_over_a_restart(tmp_path):
    """IN-23, IN-32: though it names the agent, no turn of that agent was told of it."""
    channel, store = FakeChannel(), f"sqlite:{tmp_path / 'rejoinder.db'}"
    coder, writer = a_coder("@writer your turn"), a_writer("@coder did you see it?")
    async with room(coder, writer, channel=channel, store=store, bot_turns=2) as chat:
        await channel.says("@coder begin", **LAB)
        for _ in range(3):
            await chat.hears()
    coder, writer = a_coder("I did."), a_writer()
    async with room(coder, writer, channel=channel, store=store, bot_turns=2) as chat:
        for _ in range(3):
            await chat.hears()  # of the process before
        await channel.says("@coder well?", **LAB)
        await chat.hears("I did.")
    heard = "".join(part.text for part in coder.turns[0].parts)
    assert heard.count('"text":"@coder did you see it?","author":"writer"') == 1


async def test_a_bot_that_names_nobody_wakes_nobody():
    """IN-21: in a room of our own agents only a literal mention wakes one."""
    coder, writer = a_coder(), a_writer("Here.")
    async with room(coder, writer, wake="all", require_mention=False) as chat:
        await chat.channel.says("done", sender="coder", bot=True, **LAB)
        await chat.channel.says("@writer and you?", sender="coder", bot=True, mention="writer", **LAB)
        await chat.hears("Here.")
    assert not coder.turns


async def test_no_response_is_for_people():
    """OD-44: a bot that is given no words is told nothing; a person is."""
    coder = a_coder("[[reply_to:current]]", "[[reply_to:current]]")
    async with room(coder, bot_messages="mentions") as chat:
        await chat.channel.says("@bot begin", sender="other", bot=True, mention=True, **LAB)
        await chat.rests()
        assert len(coder.turns) == 1
        await chat.channel.says("@bot begin", mention=True, **LAB)
        await chat.hears("_(no response)_")


async def test_silence_among_agents_is_no_news():
    """OD-40: in a room of several the operator is told of a silence where a person meant that agent, and no other."""
    coder, writer = a_coder("NO_REPLY", "Done. @writer, describe it.", "NO_REPLY"), a_writer("NO_REPLY", "NO_REPLY")
    async with room(coder, writer, wake="all", require_mention=False) as chat:
        await chat.channel.says("hello", **LAB)
        await chat.rests()
        await chat.channel.says("@coder sort this", **LAB)
        await chat.hears("Done. @writer, describe it.")
        await chat.rests()
        await chat.channel.says("@coder thank you", **LAB)
        await chat.reads_note("coder chose to stay silent")
    assert chat.channel.notes == ["coder chose to stay silent"]
