"""Agents that fail, each in its own way: the person gets one sentence, the owner finds the rest, the lane is free."""

import asyncio
import sys

import pytest

from rejoinder.agents import acp, http, openai
from rejoinder.agents.failures import SENTENCES
from rejoinder.secret import Secret
from rejoinder.testing import ModelServer, ScriptedAgent, conversation
from rejoinder.testing.model_server import Break, Garble, Refuse, Say

NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens there


async def asks_twice(agent, sentence: str, owner_finds: str, *, before: tuple[str, ...] = (), then: str | None = None):
    """The failure, then `/status` for the owner, then the next message: it is tried like any other."""
    async with conversation(agent) as chat:
        await chat.says("hello")
        for said in before:
            await chat.hears(said)
        await chat.hears(sentence)
        await chat.rests()
        await chat.says("/status")
        status = (await chat.hears()).text
        assert owner_finds in status, status
        assert "Runs: 0 running" in status
        await chat.says("again")
        await chat.hears(then or sentence)


@pytest.mark.parametrize(
    ("answer", "kind", "owner_finds"),
    [
        (Refuse(401), "auth", "HTTP 401"),
        (Refuse(402), "billing", "HTTP 402"),
        (Refuse(404), "model_not_found", "HTTP 404"),
        (Refuse(400), "format", "HTTP 400"),
        (Refuse(429, retry_after=60), "rate_limit", "HTTP 429"),
    ],
)
async def test_a_provider_that_refuses(answer, kind, owner_finds):
    async with ModelServer() as server:
        server.will(answer, Say("Fine."))
        key = Secret("wrong")
        agent = openai.open_agent("helper", openai.Settings(base_url=server.openai_url, model="m", api_key=key))
        try:
            await asks_twice(agent, SENTENCES[kind], owner_finds, then="Fine.")
        finally:
            await agent.close()


@pytest.mark.parametrize(("answer", "kind"), [(Break("Half an ans"), "unreachable"), (Garble("Half an ans"), "format")])
async def test_a_stream_that_stops_in_the_middle_or_is_no_json(answer, kind):
    """What was said stays and is not said again."""
    async with ModelServer() as server:
        server.will(answer, Say("Fine."))
        agent = openai.open_agent("helper", openai.Settings(base_url=server.openai_url, model="m"))
        await asks_twice(agent, SENTENCES[kind], f"Last failure: {kind}", before=("Half an ans",), then="Fine.")


@pytest.mark.parametrize(
    "agent",
    [
        openai.open_agent("helper", openai.Settings(base_url=NOWHERE, model="m")),
        http.open_agent("helper", http.Settings(url=NOWHERE)),
    ],
    ids=["openai", "http"],
)
async def test_an_endpoint_that_is_down(agent):
    await asks_twice(agent, SENTENCES["unreachable"], "Last failure: unreachable")


@pytest.mark.parametrize(
    ("command", "owner_finds"),
    [
        (("no-such-agent-anywhere",), "no-such-agent-anywhere"),
        ((sys.executable, "-c", "print('this is no JSON'); import sys; sys.exit('wrong version')"), "wrong version"),
    ],
    ids=["no program", "no protocol"],
)
async def test_a_program_that_is_no_agent(command, owner_finds):
    agent = acp.open_agent("coder", acp.Settings(command=command))
    async with conversation(agent) as chat:
        await chat.says("hello")
        sentence = (await chat.hears()).text
        assert len(sentence.splitlines()) == 1
        assert "Traceback" not in sentence
        await chat.says("/status")
        assert owner_finds in (await chat.hears()).text
        await chat.says("again")
        await chat.hears(sentence)


async def test_an_agent_that_breaks_where_nobody_expects_it():
    """TU-20: whatever ends a run, the person reads a sentence and the lane is free."""

    class Forgetful(ScriptedAgent):
        def recall(self, session, past):
            raise LookupError("where did I put it?")

    agent = Forgetful("Hello.", "Hello again.")
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Hello.")
        await chat.rests()
        chat.gateway.engine.lanes._deps.runner.restorer._restored.clear()  # as in a new process
        await chat.says("who am I?")
        await chat.hears("Something went wrong while this was being answered; please try again.")
        await chat.says("hello?")
        await chat.hears("Hello again.")


async def test_an_agent_whose_own_work_is_cancelled():
    """TU-20: nobody said stop, so the person reads a sentence."""

    class Entangled(ScriptedAgent):
        async def run(self, turn):
            task = asyncio.ensure_future(asyncio.sleep(60))
            task.cancel()
            await task
            yield

    async with conversation(Entangled()) as chat:
        await chat.says("hello")
        await chat.hears("scripted failed and could not answer.")


@pytest.mark.parametrize("problem", [KeyboardInterrupt, SystemExit, GeneratorExit])
async def test_an_agent_that_would_end_the_gateway(problem: type[BaseException]):
    """TU-20: what a foreign agent raises ends its turn and nothing else."""

    class Leaving(ScriptedAgent):
        async def run(self, turn):
            raise problem
            yield

    async with conversation(Leaving()) as chat:
        for _ in range(2):
            await chat.says("hello")
            await chat.hears("scripted failed and could not answer.")
