"""What people see of an ACP agent's ways, through the whole gateway."""

import sys
from pathlib import Path

from rejoinder.agents.acp import Settings as AcpSettings
from rejoinder.agents.acp import open_agent
from rejoinder.agents.base import SessionOpened, TextDelta, ToolEnded, ToolRenamed, ToolStarted
from rejoinder.testing import ScriptedAgent, conversation

FAKE = str(Path(__file__).parents[1] / "agents" / "fake_acp_agent.py")


def fake(*options: str, **settings):
    return open_agent("coder", AcpSettings(command=(sys.executable, FAKE, *options), **settings))


async def test_what_an_agent_has_is_listed_and_what_it_has_not_is_refused():
    """TU-35, IN-52, IN-59: `/models` before the first turn, `/model bogus` and a `/think` it cannot obey at once."""
    async with conversation(fake("--no-effort-on", "large")) as chat:
        await chat.says("/models")
        assert "It also offers: small, large" in (await chat.hears()).text
        await chat.says("/model bogus")
        assert (await chat.hears()).text.startswith("bogus is not a model you can choose here")
        await chat.says("/think high")
        await chat.hears("Thinking: high.")
        await chat.says("/model large")
        await chat.hears("Model: large.")
        await chat.says("settings")
        await chat.hears('{"model": "large", "effort": "low"}')
        await chat.says("/think low")
        await chat.hears("The agent coder has no thinking levels.")
        await chat.says("/think default")
        assert (await chat.hears()).text.startswith("Thinking: default, which is ")


async def test_its_modes_are_listed_with_its_models():
    """TU-35: `/models` tells in which modes it can work, and where one is set; without modes there is no such line."""
    async with conversation(fake("--modes", "ask,plan,code")) as chat:
        await chat.says("/models")
        assert "Its modes: ask, plan, code (`options.mode` in [agents.coder] sets one)" in (await chat.hears()).text
    async with conversation(fake()) as chat:
        await chat.says("/models")
        assert "modes" not in (await chat.hears()).text


async def test_a_level_is_refused_by_an_agent_that_has_none():
    """TU-35, IN-59: `/think high`, alone and before a text, is answered with why not, and nothing is stored."""
    async with conversation(fake("--no-effort")) as chat:
        await chat.says("/think high")
        await chat.hears("The agent coder has no thinking levels.")
        await chat.says("/status")
        assert "think high" not in (await chat.hears()).text
        await chat.says("/think high settings")
        await chat.hears("The agent coder has no thinking levels.")


async def test_its_own_commands_are_listed_and_passed_through():
    """TU-35: what it announced is in `/commands`, and reaches it as it was typed."""
    async with conversation(fake("--announce", "review,init")) as chat:
        await chat.says("hello")
        await chat.hears("hello")
        await chat.says("/commands")
        assert "**coder's own**\n/init\n/review" in (await chat.hears()).text
        await chat.says("/review this")
        await chat.hears("/review this")


async def test_what_it_cannot_do_is_said():
    """TU-11: by `/queue steer` and in `/status`, once that is known; until then it may be able to."""
    async with conversation(fake()) as chat:
        await chat.says("hello")
        await chat.hears("hello")
        cannot = "coder cannot take a message into a running turn: the message waits for a turn of its own."
        await chat.says("/queue steer")
        await chat.hears(f"Queue: steer. {cannot}")
        await chat.says("/status")
        assert f"Steering: {cannot}" in (await chat.hears()).text
    async with conversation(fake("--queues")) as chat:
        await chat.says("hello")
        await chat.hears("hello")
        await chat.says("/queue steer")
        await chat.hears("Queue: steer.")


async def test_a_lost_session_is_said_once():
    """TU-35: the person hears that the agent could not go on where it was."""
    agent = ScriptedAgent([SessionOpened("new", lost=True), "Hello."], "Again.", name="coder")
    async with conversation(agent) as chat:
        await chat.says("hi")
        await chat.hears(
            "_coder could not load its earlier session; it continues from what the gateway stored of it._\n\nHello."
        )
        await chat.says("hi")
        await chat.hears("Again.")


async def test_nothing_in_a_tools_output_breaks_out():
    """TU-35: a fence within is shown within ours, a title that comes later is shown behind the first, and the answer
    after them is the answer."""
    output = "```\nnot the end\n```\n[[reply_to:m1]]"
    agent = ScriptedAgent(
        [
            ToolStarted("t1", "Terminal", "execute"),
            ToolRenamed("t1", "ls -la"),
            ToolEnded("t1", True, output),
            TextDelta("That is all."),
        ]
    )
    async with conversation(agent) as chat:
        await chat.says("/verbose full")
        await chat.hears("Verbose: full.")
        await chat.says("look")
        shown = await chat.hears()
    assert shown.text == (
        f"This is a new session.\n\n_\U0001f527 Terminal_ ls -la\n\n````\n{output}\n````\n\nThat is all."
    )
