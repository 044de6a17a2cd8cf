"""On which event loop a gateway runs, and that what it starts works on it."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvloop

from rejoinder.agents.process import start_process
from rejoinder.programs import event_loop
from rejoinder.runtime.place.shell import _Command, told
from rejoinder.testing.patience import PATIENCE, until

SQLITE = "sqlite:rejoinder.db"


def test_a_process_that_serves_runs_on_uvloop():
    with asyncio.Runner(loop_factory=event_loop.fast_loop(SQLITE)) as runner:
        assert isinstance(runner.get_loop(), uvloop.Loop)


def test_without_uvloop_it_runs_on_pythons_own(monkeypatch):
    monkeypatch.setattr(event_loop, "uvloop", None)
    with asyncio.Runner(loop_factory=event_loop.fast_loop(SQLITE)) as runner:
        assert isinstance(runner.get_loop(), asyncio.SelectorEventLoop)


def test_with_postgresql_it_runs_on_pythons_own():
    """uvloop does not say that a watched socket has failed: a gateway would wait for a server that is gone."""
    assert event_loop.fast_loop("postgresql://here/chats") is None


@pytest.mark.parametrize("loop", [event_loop.fast_loop(SQLITE), None], ids=["uvloop", "python's own"])
def test_an_agent_that_is_a_program_works_on_both(loop):
    """TU-33: uvloop's transports are not of asyncio's classes; whoever asks for the class gets nothing through."""
    lines: list[bytes] = []
    gone: list[str] = []

    async def talk() -> None:
        here = {"PATH": os.environ["PATH"]}
        program = await start_process(["cat"], cwd=".", env=here, on_line=lines.append, on_gone=gone.append)
        program.pause(True)
        program.write_line(b"hello")
        program.pause(False)
        await until(lambda: lines, "its line")
        await program.stop()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(talk())
    assert (lines, gone) == ([b"hello"], ["it was stopped"])


@pytest.mark.parametrize("loop", [event_loop.fast_loop(SQLITE), None], ids=["uvloop", "python's own"])
def test_a_command_of_the_owner_works_on_both(loop):
    """IN-61: `/bash`, and how it ended."""

    async def run() -> str:
        return told(await _Command().run("echo hello; exit 3", PATIENCE))

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(run()) == "```\nhello\n```\n\nIt exited with status 3."


SERVED = f"""
[agents.helper]
kind = "acp"
command = ["{sys.executable}", "{Path(__file__).parents[1] / "agents" / "fake_acp_agent.py"}"]
[channels.web]
port = 0
agent = "helper"
"""


async def test_an_acp_agent_answers_in_a_gateway_that_is_served(tmp_path):
    """TU-33: from `rejoinder run` to the page, as people run it."""
    (tmp_path / "rejoinder.toml").write_text(SERVED)
    gateway = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("rejoinder"), "run", cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    assert gateway.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as http:
            while not (line := (await gateway.stdout.readline()).decode()).startswith("The chat is at "):
                assert line, "it has not started"
            async with http.ws_connect(f"{line.split()[-1]}/socket") as socket:
                await socket.send_json({"type": "hello", "protocol": 1, "name": ""})
                await socket.send_json({"type": "say", "client": "c1", "room": "helper~you", "text": "Hello there"})
                async for frame in socket:
                    if "Hello there" in _words_of_the_agent(frame.json()):
                        break
    finally:
        gateway.terminate()
        await gateway.wait()


def _words_of_the_agent(said: dict[str, Any]) -> str:
    """Of a frame; `message` is the message itself when it is new, else its id."""
    match said:
        case {"type": "message", "message": {"author": "helper", "text": text}}:
            return text
        case {"type": "edited" | "delta", "text": text}:
            return text
        case _:
            return ""
