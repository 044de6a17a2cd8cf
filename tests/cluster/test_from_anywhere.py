"""What people do reaches the process that owns their chat, wherever it arrives (SC-15)."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from rejoinder.errors import BadUse
from rejoinder.runtime.session.background import Background
from rejoinder.session import job_key
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import NoAgent, front_and_worker, worker_for
from tests.conversations.agents import Asking
from tests.conversations.test_subagents import Team
from tests.postgres import Server, a_database, database_of
from tests.web.running import running, settings

PLATFORMS = ("telegram", "discord", "slack")


class Long(ScriptedAgent):
    """Works until it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.stopped = asyncio.Event()

    async def run(self, turn):
        self.turns.append(turn)
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        yield


async def said(platform: FakePlatform, text: str, chat: str = "ann") -> None:
    """Somewhere in the chat, whatever else is said there."""
    await platform.truth.until(lambda: any(text in seen.text for seen in platform.truth.messages(chat)))


@pytest.mark.parametrize("channel", PLATFORMS)
async def test_a_run_is_stopped(postgres: Server, channel: str) -> None:
    """SC-15: /stop comes to the process that listens, the run is another's."""
    agent = Long()
    async with front_and_worker(postgres, channel, agent) as pair:
        await pair.platform.says("ann", "ann", "go on")
        await until(lambda: agent.turns)
        await pair.platform.says("ann", "ann", "/status")
        assert "running" in (await pair.platform.hears("ann")).text.lower()
        await pair.platform.says("ann", "ann", "/stop")
        await agent.stopped.wait()
        await pair.platform.hears("ann", "Agent was aborted.")


@pytest.mark.parametrize("channel", PLATFORMS)
async def test_a_button_answers(postgres: Server, channel: str) -> None:
    """SC-15, TU-34: pressed at the process that listens, asked by a run of another."""
    async with front_and_worker(postgres, channel, Asking()) as pair:
        platform = pair.platform
        await platform.says("ann", "ann", "clean up")
        asked = await platform.hears("ann")
        await platform.presses("ann", "ann", asked.id, "Allow once")
        await said(platform, "I was told allow-once.")


@pytest.mark.parametrize(("answer", "heard"), [("yes", "allow-once"), ("/approve deny", "None"), ("no", "None")])
async def test_words_answer(postgres: Server, answer: str, heard: str) -> None:
    """SC-15, TU-34: so do /approve, yes and no."""
    async with front_and_worker(postgres, "telegram", Asking()) as pair:
        platform = pair.platform
        await platform.says("ann", "ann", "clean up")
        await platform.hears("ann")
        await platform.says("ann", "ann", answer)
        await said(platform, f"I was told {heard}.")


async def test_the_queue_and_sub_agents(postgres: Server) -> None:
    """SC-15: so do /queue, /subagents and /kill."""
    agent = Team(lambda told: "(wait)Done." if "look it up" in told else "Hello.")
    async with front_and_worker(postgres, "telegram", agent) as pair:
        platform = pair.platform
        await platform.says("ann", "ann", "/queue interrupt")
        await said(platform, "interrupt")
        await platform.says("ann", "ann", "/subagents spawn helper look it up")
        await agent.asked(1)
        await said(platform, "is at work")
        await platform.says("ann", "ann", "/subagents")
        await said(platform, "at work for")
        await platform.says("ann", "ann", "/kill all")
        await until(lambda: agent.cancelled)


async def test_the_pages_of_another_process(postgres: Server) -> None:
    """SC-15, SC-14: on a page that a front serves: a button, the stop button, and words of a run elsewhere."""
    url, agent = a_database(postgres, "one_shard"), Asking()
    here, there = settings(agents=("scripted",), store=url), {"scripted": NoAgent()}
    async with (
        running(here, agents=there, role="front") as site,
        worker_for(here, {"scripted": agent}),
        site.page() as page,
    ):
        await page.send(type="say", client="1", room="scripted~you", text="clean up")
        asked = await page.asked()
        says = next(choice["says"] for choice in asked["choices"] if choice["label"] == "Allow once")
        await page.send(type="press", client="2", message=asked["id"], says=says)
        await page.hears("I was told allow-once.")
        await page.send(type="say", client="3", room="scripted~you", text="and again")
        again = await page.asked()
        await page.send(type="stop", client="4", room="scripted~you")
        assert await page.hears("May I delete it all?\n\nNo longer valid: the run has ended.") == again["id"]


async def test_an_operator_beside_them(postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-15: sessions, explain, send and dead on a machine that runs no gateway."""
    agent = ScriptedAgent("Hello.")
    async with front_and_worker(postgres, "discord", agent) as pair:
        platform = pair.platform
        await platform.says("ann", "ann", "hi")
        await platform.hears("ann", "Hello.")
        (tmp_path / "rejoinder.toml").write_text(pair.text)
        monkeypatch.chdir(tmp_path)

        async def told(*arguments: str) -> str:
            result = await asyncio.to_thread(CliRunner().invoke, app, arguments)
            assert result.exit_code == 0, result.output
            return result.stdout

        (session,) = json.loads(await told("sessions", "--json"))["sessions"]
        assert "answered" in await told("explain", "last")
        assert session["agent"] == "scripted"
        ((chat,),) = postgres.execute("SELECT chat FROM place", database_of(pair.url))
        await told("send", "--channel", "discord", "--chat", str(chat), "Good morning.")
        await platform.hears("ann", "Good morning.")
        platform.fault("403")
        await told("send", "--channel", "discord", "--chat", str(chat), "Good night.")
        await until(lambda: postgres.execute("SELECT 1 FROM part WHERE state = 'dead'", database_of(pair.url)))
        (part,) = json.loads(await told("dead", "--json"))["parts"]
        await told("dead", "--retry", str(part["id"]))
        await platform.hears("ann", "Good night.")


async def test_a_turn_of_the_program_is_begun_by_the_owner(postgres: Server) -> None:
    """SC-15: another process refuses it and says so; the owner runs it."""
    agent = ScriptedAgent("It is noon.")
    async with front_and_worker(postgres, "telegram", agent) as pair:
        turn = Background(id="1", agent="scripted", session=job_key("scripted", "noon"), text="What time is it?")
        with pytest.raises(BadUse, match="another process holds"):
            await pair.front.begin(turn)
        await pair.worker.begin(turn)
        await until(lambda: [part.text for part in pair.worker.kept] == ["It is noon."])
