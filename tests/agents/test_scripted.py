"""The scripted agent says what was written down, in that order, at that pace."""

from rejoinder import plugins
from rejoinder.agents.base import Done, Failed, TextDelta, ToolStarted
from rejoinder.agents.scripted import ScriptedAgent, Settings
from rejoinder.events import PromptText, Turn

TURN = Turn("s", (PromptText("hi"),))


async def run(agent):
    return [event async for event in agent.run(TURN)]


async def test_replies_come_in_order_and_end_in_a_sentence():
    agent = ScriptedAgent("One.", "Two.", name="bot")
    assert await run(agent) == [TextDelta("One."), Done()]
    assert await run(agent) == [TextDelta("Two."), Done()]
    assert await run(agent) == [Failed("other", "bot has come to the end of its script.")]
    assert agent.turns == [TURN] * 3


async def test_a_reply_of_steps():
    happened = []

    async def pause(seconds):
        happened.append(seconds)

    async def gate():
        happened.append("gate")

    tool = ToolStarted("1", "search")
    agent = ScriptedAgent(["a", 0.5, tool, gate, "b", 2, Done("limit"), "never"], pause=pause)
    assert await run(agent) == [TextDelta("a"), tool, TextDelta("b"), Done("limit")]
    assert happened == [0.5, "gate", 2]


async def test_from_settings(tmp_path):
    (tmp_path / "answers.json").write_text('["Hello."]')
    agent = plugins.find("agent", "scripted").open_agent("demo", Settings(script=str(tmp_path / "answers.json")))
    assert agent.name == "demo"
    assert await run(agent) == [TextDelta("Hello."), Done()]
