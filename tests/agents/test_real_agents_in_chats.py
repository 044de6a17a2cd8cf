"""Real agents through the whole gateway, each through the same scenes; `make test-agents` runs them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from rejoinder.agents.acp import Settings, open_agent
from rejoinder.agents.acp.agent import AcpAgent
from rejoinder.events import PromptImage, PromptText, Turn
from rejoinder.secret import Secret
from rejoinder.testing import Chat, conversation
from rejoinder.testing.agent_contract import everything, text_of
from rejoinder.testing.model_server import Answer, ModelRequest, ModelServer, Say, Stall
from tests.conversations.restarting import Machine

from .real_agents import CLAUDE, CODEX, GEMINI, HERMES, OLDER_CLAUDE, OPENCODE, QWEN, VIBE, RealAgent, installed

pytestmark = [pytest.mark.xdist_group("real agents"), pytest.mark.slow_agent]
ALL = {
    "codex": CODEX,
    "opencode": OPENCODE,
    "claude": CLAUDE,
    "older-claude": OLDER_CLAUDE,
    "gemini": GEMINI,
    "qwen": QWEN,
    "hermes": HERMES,
    "vibe": VIBE,
}
RESULTS = ("'role': 'tool'", "tool_result", "functionResponse", "function_call_output")
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    b"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
)


class Scene:
    """One agent in a home of its own, and the model it asks."""

    def __init__(self, real: RealAgent, home: Path, server: ModelServer) -> None:
        self.real, self.home, self.server = real, home, server

    def agent(self) -> AcpAgent:
        env = {name: Secret(value) for name, value in self.real.configure(self.home, self.server.openai_url).items()}
        return open_agent("real", Settings(command=installed(self.real), cwd=str(self.home), env=env))

    def processes(self) -> list[int]:
        mark = f"HOME={self.home}".encode()
        found: list[int] = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found


def answering(real: RealAgent):
    def answer(request: ModelRequest) -> Answer:
        """By the last words of the prompt; some agents ask the model for a title, too."""
        text = request.text.strip()
        if "make it" in str(request.body) and any(mark in str(request.body) for mark in RESULTS):
            return Say("[[reply_to:m1]]\nIt was asked for.")
        if text.endswith("make it"):
            return Say("", tool=real.tool[0], arguments=real.tool[1])
        if text.endswith("stall"):
            return Stall("I was just")
        return Say("The answer comes in quite a few pieces.")

    return answer


@pytest.fixture(params=ALL)
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    real = ALL[request.param]
    await asyncio.to_thread(installed, real)
    async with ModelServer(answering(real)) as server, asyncio.timeout(150):
        yield Scene(real, tmp_path, server)


WHOLE = "The answer comes in quite a few pieces."


async def hears_whole(chat: Chat) -> None:
    assert (await chat.hears()).text.strip().endswith(WHOLE)


async def test_plain_and_streamed(scene: Scene):
    """TU-33: what the model said and nothing else, in pieces."""
    agent = scene.agent()
    events = await everything(agent, Turn("s", (PromptText("Hello"),)))
    await agent.close()
    assert text_of(events).strip().endswith(WHOLE)
    assert len([event for event in events if type(event).__name__ == "TextDelta"]) > 1


@pytest.mark.parametrize("word", ["yes", "no"])
async def test_a_tool_with_permission(scene: Scene, word: str):
    """TU-34, OD-6: asked in the chat; `yes` runs it once, `no` does not; the header after the tool call counts."""
    agent = scene.agent()
    doomed = scene.home / "made"  # hermes asks only about what does harm, so it removes what others make
    doomed.mkdir()
    async with conversation(agent) as chat:
        message = await chat.says("Please make it")
        question = await chat.hears()
        assert "May I use a tool" in question.text
        await chat.says(word)
        said = [await chat.hears(), await chat.hears()]
        await chat.rests()
        answer = next((shown for shown in said if "It was asked for." in shown.text), None)
        ran = not doomed.exists() if scene.real is HERMES else (scene.home / "made.txt").exists()
    await agent.close()
    assert ran == (word == "yes")
    if word == "yes":
        assert answer is not None
        assert answer.reply_to == message
        assert "reply_to:" not in answer.text


async def test_stop(scene: Scene):
    """IN-70, TU-35: it ends, and the next message has its own answer."""
    agent = scene.agent()
    async with conversation(agent) as chat:
        await chat.says("Please stall")
        await chat.sees("I was just")
        await chat.says("/stop")
        assert "Agent was aborted." in {(await chat.hears()).text, (await chat.hears()).text}
        for _ in range(2):
            await chat.says("Hello")
            await hears_whole(chat)
    await agent.close()


async def test_a_second_message_while_it_is_busy(scene: Scene):
    """TU-1: both are answered, one after the other."""
    agent = scene.agent()
    async with conversation(agent) as chat:
        await chat.says("/queue queue")
        await chat.hears()
        await chat.says("Hello")
        await chat.says("Hello again")
        await hears_whole(chat)
        await hears_whole(chat)
    await agent.close()


async def test_kill_9_of_the_agent(scene: Scene):
    """TU-20: the person hears that it failed, and the next message is answered, by the same session."""
    agent = scene.agent()
    async with conversation(agent) as chat:
        await chat.says("Hello")
        await hears_whole(chat)
        await chat.says("Please stall")
        await chat.sees("I was just")
        for process in scene.processes():
            with suppress(ProcessLookupError):  # it went with its parent
                os.kill(process, signal.SIGKILL)
        said = [(await chat.hears()).text, (await chat.hears()).text]
        assert any("I was just" in text for text in said)
        await chat.says("Hello")
        await hears_whole(chat)
    await agent.close()


async def test_kill_9_of_the_gateway(scene: Scene, tmp_path_factory: pytest.TempPathFactory):
    """DU-2, TU-35: the turn is run again by the next process, in the loaded session; no history is posted."""
    machine = Machine(tmp_path_factory.mktemp("store"))
    first = scene.agent()
    async with machine.running(first, killed=True):
        await machine.chat.says("Hello")
        await hears_whole(machine.chat)
        await machine.chat.says("Hello again, please stall")
        await machine.chat.sees("I was just")
    await first.close()
    scene.server.will()
    scene.server._answer = lambda asked: Say(WHOLE)  # the model goes on this time
    second = scene.agent()
    async with machine.running(second):
        await hears_whole(machine.chat)
    await second.close()
    shown = [each.text for each in machine.channel.messages.values() if each.author == "bot" and not each.deleted]
    assert len(shown) == 2, shown


async def test_an_image(scene: Scene, record_property: Callable[[str, object], None]):
    """TU-32: an agent whose model takes pictures gives them to it; another says in words that there was one."""
    agent = scene.agent()
    await everything(agent, Turn("s", (PromptText("Look at this"), PromptImage("image/png", PNG), PromptText("Well?"))))
    await agent.close()
    asked = scene.server.requests[-1]
    seen = any("iVBORw0KGgo" in str(each.body) for each in scene.server.requests)
    record_property("pictures", "yes" if seen else "told in words")
    assert seen or "image" in asked.text.lower() or "picture" in asked.text
