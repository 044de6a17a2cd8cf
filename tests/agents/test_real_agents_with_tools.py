"""A real ACP agent that is given the gateway's tools as one of its `mcp_servers`, and uses them."""

import asyncio
from pathlib import Path

import pytest

from rejoinder.agents.acp import Settings, open_agent
from rejoinder.secret import Secret
from rejoinder.testing.model_server import Answer, ModelRequest, ModelServer, Say
from tests.web.running import running, settings

from .real_agents import OPENCODE, installed

A_COLD_START = 240.0
"""Seconds: the first time, opencode looks for models and packages on the network, one after the other."""

pytestmark = [pytest.mark.xdist_group("real agents"), pytest.mark.slow_agent]


def answer(request: ModelRequest) -> Answer:
    """Calls the tool once, then tells what came of it."""
    if "'role': 'tool'" in str(request.body):
        return Say("Reacted.")
    if "please react" in request.text:
        return Say("", tool="rejoinder_react", arguments='{"emoji": "eyes"}')
    return Say("A title")


async def test_it_reacts_by_a_tool_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """TU-35, OD-52: handed over in `session/new`, called over HTTP during the run, and seen in the chat."""
    monkeypatch.setattr("tests.web.running.PATIENCE", A_COLD_START)
    command = await asyncio.to_thread(installed, OPENCODE)
    async with ModelServer(answer) as server, asyncio.timeout(2 * A_COLD_START):
        env = {name: Secret(value) for name, value in OPENCODE.configure(tmp_path, server.openai_url).items()}
        agent = open_agent("helper", Settings(command=command, cwd=str(tmp_path), env=env))
        try:
            async with running(settings(), agents={"helper": agent}) as site, site.page() as page:
                await page.send(type="say", client="c1", room="helper~you", text="please react")
                await page.hears("Reacted.")
        finally:
            await agent.close()
    assert any(frame["type"] == "reacted" and frame["reactions"][0]["emoji"] == "👀" for frame in page.frames)
    offered = [tool["function"]["name"] for asked in server.requests for tool in asked.body.get("tools", ())]
    assert {"rejoinder_react", "rejoinder_send_message", "rejoinder_ask_human"} <= set(offered)
