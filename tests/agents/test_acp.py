"""Agents over the Agent Client Protocol, driven with one that misbehaves in every way we know of."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from msgspec.structs import replace

from rejoinder.agents.acp import Settings, connection, open_agent, wire
from rejoinder.agents.acp.agent import AcpAgent
from rejoinder.agents.acp.servers import McpServer, our_server
from rejoinder.agents.acp.translation import Translation, unfenced
from rejoinder.agents.base import (
    Agent,
    AgentEvent,
    CanAnswer,
    CanCancel,
    CanClose,
    CanForget,
    CanLoad,
    CanSetModel,
    Done,
    Exchange,
    Failed,
    HasProcess,
    ModelSelected,
    PlanChanged,
    Question,
    RunLimits,
    SegmentEnded,
    SessionOpened,
    TextDelta,
    Thought,
    ToolEnded,
    ToolRenamed,
    ToolStarted,
    Usage,
)
from rejoinder.agents.process import AgentProcess
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.errors import BadConfiguration
from rejoinder.events import PromptAudio, PromptImage, PromptText, Turn
from rejoinder.secret import Secret
from rejoinder.testing.agent_contract import AgentContract, Agents, a_turn, begun, everything, text_of
from rejoinder.testing.patience import PATIENCE, until

FAKE = str(Path(__file__).with_name("fake_acp_agent.py"))


@asynccontextmanager
async def fake(*options: str, **settings: Any) -> AsyncIterator[AcpAgent]:
    command = (sys.executable, FAKE, *options)
    agent = open_agent("coder", Settings(command=command, **settings))
    try:
        async with asyncio.timeout(2 * PATIENCE):
            yield agent
    finally:
        await agent.close()


class _Always:
    """The agent, whatever it is asked, is asked this."""

    name = "coder"

    def __init__(self, agent: AcpAgent, text: str) -> None:
        self._agent = agent
        self._text = text

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        return self._agent.run(Turn(turn.session, (PromptText(self._text),)))

    async def close(self) -> None:
        await self._agent.close()


class TestAcpContract(AgentContract):
    @asynccontextmanager
    async def agents(self) -> AsyncIterator[Agents]:
        async with fake() as talking, fake() as broken, fake() as slow, fake() as tools:
            yield Agents(
                _Always(talking, "Hello"),
                _Always(broken, "exit"),
                _Always(slow, "slow"),
                _Always(tools, "tool"),
            )


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def none_alive(pids: list[int]) -> None:
    await until(lambda: not any(alive(pid) for pid in pids), "their end")


def last_failure(events: list[AgentEvent]) -> Failed:
    assert isinstance(events[-1], Failed), events
    return events[-1]


def test_abilities():
    """TU-32: the agent says by its methods what it can."""
    agent: Agent = open_agent("coder", Settings(command=("x",)))
    for ability in (CanAnswer, CanCancel, CanClose, CanForget, CanLoad, CanSetModel):
        assert isinstance(agent, ability)


async def test_a_turn():
    """TU-33: initialise, session/new, prompt; the session's own name is told at once, to be saved."""
    async with fake() as agent:
        first = await everything(agent, a_turn("Hello there"))
        assert first == [
            SessionOpened("fake-1"),
            TextDelta("Hello "),
            TextDelta("there "),
            Usage(3, 2),
            Done("end"),
        ]
        assert SessionOpened not in map(type, await everything(agent, a_turn("again")))


async def test_updates_become_events():
    """TU-32: tools, plans, thoughts and messages, each as its own event; every tool ends."""
    async with fake() as agent:
        events = await everything(agent, a_turn("tool"))
        assert events[1:] == [
            TextDelta("Looking. "),
            ToolStarted("t1", "ls", "execute"),
            ToolEnded("t1", True, "a.txt"),
            PlanChanged(("[x] look",)),
            TextDelta("Found."),
            SegmentEnded(),
            TextDelta("Really."),
            ToolStarted("t2", "open", "other"),
            ToolEnded("t2", False, "it did not end before the turn"),
            Usage(3, 2),
            Done("end"),
        ]
        events = await everything(agent, a_turn("user"))
        assert events == [Thought("hm"), Usage(context_tokens=12), TextDelta("ok"), Usage(3, 2), Done("end")]


async def test_opaque_ids_and_unknown_requests():
    """TU-33: string ids come back as they were, what we do not know is refused with -32601, odd answers are
    nobody's, and the turn goes on."""
    async with fake("--noise") as agent:
        events = await everything(agent, a_turn("unknown"))
        assert text_of(events) == "'s-1':-32601 7:-32601 '1':-32601 1:-32601 "
        assert events[-1] == Done("end")
        assert "(on stdout) Welcome to fake!" in agent.last_output()


async def test_cancel_by_closing():
    """TU-20: closing cancels at the agent; its late words do not reach the next turn."""
    async with fake() as agent:
        async with begun(agent, a_turn("slow")) as run:
            pass
        assert [event async for event in run] == []
        assert text_of(await everything(agent, a_turn("next"))) == "next "


async def test_cancel_by_asking():
    """TU-33: `cancel` ends the run with the agent's own word for it."""
    async with fake() as agent:
        async with begun(agent, a_turn("slow")) as run:
            await agent.cancel("session-1")
            rest = [event async for event in run]
        assert rest[-1] == Done("cancelled")


async def test_an_agent_that_does_not_obey_a_cancel_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """TU-20: the next turn of the session is answered, with the session loaded."""
    state = tmp_path / "state.json"
    state.write_text("{}")
    monkeypatch.setattr("rejoinder.agents.acp.sessions.CANCEL_SECONDS", 0.1)
    async with fake("--state", str(state)) as agent:
        async with begun(agent, a_turn("deaf")):
            pass
        events = await everything(agent, a_turn("history"))
        assert json.loads(text_of(events)) == ["deaf", "history"]


async def test_who_waits_for_a_deaf_agent_and_is_cancelled_leaves_it_to_the_next(tmp_path, monkeypatch):
    """TU-20: the time in which a cancelled turn has to end runs from its cancel, whoever waits for that."""
    state = tmp_path / "state.json"
    state.write_text("{}")
    waited: list[tuple[object, float]] = []
    waits = asyncio.Event()

    async def watched(prompt, seconds):
        waited.append((prompt, seconds))
        if not waits.is_set():
            waits.set()
            await asyncio.Event().wait()
        return False  # its time is up

    monkeypatch.setattr("rejoinder.agents.acp.sessions.CANCEL_SECONDS", 3600)
    monkeypatch.setattr("rejoinder.agents.acp.sessions.settled", watched)
    async with fake("--state", str(state)) as agent:
        async with begun(agent, a_turn("deaf")):
            pass
        second = asyncio.ensure_future(everything(agent, a_turn("stopped")))
        await waits.wait()
        second.cancel()
        await asyncio.wait([second])
        async with asyncio.timeout(30):
            events = await everything(agent, a_turn("history"))
    assert json.loads(text_of(events)) == ["deaf", "history"]
    (first, at_first), (again, at_last) = waited
    assert first is again
    assert at_first > at_last


async def test_load_in_a_new_process(tmp_path: Path):
    """TU-33: a session goes on in another process under its saved name, without its replay in the answer."""
    state = tmp_path / "state.json"
    state.write_text("{}")
    async with fake("--state", str(state)) as agent:
        (opened, *_) = await everything(agent, a_turn("remember"))
    assert isinstance(opened, SessionOpened)
    async with fake("--state", str(state)) as agent:
        agent.load_session("session-1", opened.saved)
        events = await everything(agent, a_turn("history"))
        assert json.loads(text_of(events)) == ["remember", "history"]
        assert SessionOpened not in map(type, events)


async def test_a_process_that_rests_is_started_again_and_its_session_goes_on(tmp_path: Path):
    """TU-21: giving way to another agent's process costs a session nothing."""
    state = tmp_path / "state.json"
    state.write_text("{}")
    async with fake("--state", str(state)) as agent:
        assert isinstance(agent, HasProcess)
        assert not agent.is_alive
        await everything(agent, a_turn("remember"))
        assert agent.is_alive
        await agent.suspend()
        assert not agent.is_alive
        events = await everything(agent, a_turn("history"))
        assert json.loads(text_of(events)) == ["remember", "history"]


async def test_of_many_sessions_the_latest_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """DU-5: what was forgotten goes on under its name; a session at work is kept, and can be cancelled."""
    monkeypatch.setattr("rejoinder.agents.acp.sessions.MOST_REMEMBERED_SESSIONS", 2)
    state = tmp_path / "state.json"
    state.write_text("{}")
    async with fake("--state", str(state)) as agent, begun(agent, a_turn("slow", "at-work")) as run:
        names: list[str] = []
        for number in range(3):
            (opened, *_) = await everything(agent, a_turn("remember", f"session-{number}"))
            assert isinstance(opened, SessionOpened)
            names.append(opened.saved)
        assert agent._sessions is not None
        assert set(agent._sessions._sessions) == {"at-work", "session-2"}
        agent.load_session("session-0", names[0])
        events = await everything(agent, a_turn("history", "session-0"))
        assert json.loads(text_of(events)) == ["remember", "history"]
        await agent.cancel("at-work")
        assert [event async for event in run][-1] == Done("cancelled")


@pytest.mark.parametrize("why", [("--load", "refuse"), ("--no-load",)], ids=["refused", "cannot"])
async def test_a_session_that_cannot_be_loaded_is_told_what_was_said(why: tuple[str, ...]):
    """TU-35: a new session, with its new name and the loss told, and what the gateway kept of the conversation."""
    async with fake(*why) as agent:
        agent.load_session("session-1", "gone-for-good")
        agent.recall("session-1", (Exchange((PromptText("My name is Ann"),), "Hello Ann"),))
        events = await everything(agent, a_turn("blocks"))
        assert events[0] == SessionOpened("fake-1", lost=True)
        assert events[-1] == Done("end")
        told = json.loads(text_of(events))
        assert told[-1] == "blocks"
        assert "My name is Ann" in told
        assert any("Hello Ann" in block for block in told)
        assert json.loads(text_of(await everything(agent, a_turn("blocks")))) == ["blocks"]


async def test_a_session_of_another_machine_is_not_loaded():
    """SC-7, TU-35: nobody asks for it here, the loss is told, and so is what the gateway kept of the conversation."""
    async with fake() as agent:
        assert agent.is_bound()
        agent.lose_session("session-1", "on-another-machine")
        agent.recall("session-1", (Exchange((PromptText("My name is Ann"),), "Hello Ann"),))
        events = await everything(agent, a_turn("blocks"))
        assert events[0] == SessionOpened("fake-1", lost=True)
        assert "My name is Ann" in json.loads(text_of(events))


async def test_a_crashed_agent_that_cannot_load_is_told_what_was_said():
    """TU-35: what was said in this process counts, too."""
    async with fake("--load", "refuse") as agent:
        await everything(agent, a_turn("My name is Ann"))
        await everything(agent, a_turn("exit"))
        events = await everything(agent, a_turn("blocks"))
        assert SessionOpened("fake-1", lost=True) in events
        assert "My name is Ann" in json.loads(text_of(events))


@pytest.mark.parametrize("load", ["late", "very-late"])
async def test_a_history_that_is_told_after_the_load_is_no_answer(load: str, tmp_path: Path):
    """TU-35: gemini-cli goes on with its history after it has answered; some of it may even come amid the turn."""
    state = tmp_path / "state"
    state.write_text(json.dumps({"old": ["remember", "forget"]}))
    async with fake("--state", str(state), "--load", load) as agent:
        agent.load_session("session-1", "old")
        events = await everything(agent, a_turn("Hello you"))
        assert text_of(events) == "Hello you "
        assert ToolStarted not in map(type, events)
        assert text_of(await everything(agent, a_turn("echoed"))) == "as you say"


async def test_what_an_agent_repeats_of_our_prompt_is_no_history(tmp_path: Path):
    """TU-35: vibe says first what the user said."""
    state = tmp_path / "state"
    state.write_text(json.dumps({"old": []}))
    async with fake("--state", str(state)) as agent:
        agent.load_session("session-1", "old")
        assert text_of(await everything(agent, a_turn("echoed"))) == "as you say"


async def test_an_empty_turn_after_a_cancelled_one_is_asked_again():
    """TU-35: claude-agent-acp 0.23 took the end of the cancelled turn for that of the next."""
    async with fake("--one-late") as agent:
        async with begun(agent, a_turn("slow")):
            pass
        events = await everything(agent, a_turn("Hello"))
        assert text_of(events) == "Hello "
        assert [event for event in events if isinstance(event, Done)] == [Done("end")]
        async with begun(agent, a_turn("slow")) as run:
            await agent.cancel("session-1")
            assert [event async for event in run][-1] == Done("cancelled")
        assert text_of(await everything(agent, a_turn("Hello"))) == "Hello "


@pytest.mark.parametrize(
    ("result", "full", "usage"),
    [
        ({"usage": {"inputTokens": 3, "outputTokens": 2}}, 0, Usage(3, 2)),
        ({"_meta": {"usage": {"input_tokens": 3, "output_tokens": 2}}}, 0, Usage(3, 2)),
        ({"_meta": {"quota": {"token_count": {"input_tokens": 3, "output_tokens": 2}}}}, 0, Usage(3, 2)),
        ({"usage": {"inputTokens": 3, "outputTokens": 2}}, 900, Usage(3, 2)),
        ({"usage": {"inputTokens": 0, "outputTokens": 2}}, 900, Usage(900, 2)),
        ({}, 900, Usage(900, 0)),
        ({"usage": "much", "_meta": 5}, 0, None),
        ({}, 0, None),
    ],
    ids=["protocol", "claude", "gemini", "both", "codex, with words", "codex", "nonsense", "nothing"],
)
def test_what_a_turn_has_cost(result: dict[str, Any], full: int, usage: Usage | None):
    """TU-35, TU-29: as each agent tells it; codex tells only how full its context is."""
    translation = Translation()
    if full:
        update = {"sessionUpdate": "usage_update", "used": full, "size": 1000}
        assert translation.events({"sessionId": "s", "update": update}, 0.0) == [Usage(context_tokens=full)]
    *told, done = translation.finish({"stopReason": "end_turn", **result})
    assert told == ([] if usage is None else [usage])
    assert isinstance(done, Done)


async def test_titles_and_output_of_tools():
    """TU-35: what a tool does and says is known by what came last, without the fence some agents put around it; and
    where codex says it only beside the protocol's own fields."""
    async with fake() as agent:
        events = [event for event in await everything(agent, a_turn("tools")) if "Tool" in type(event).__name__]
        assert events == [
            ToolStarted("t1", "Terminal", "execute"),
            ToolRenamed("t1", "ls -la"),
            ToolEnded("t1", True, "a.txt"),
            ToolStarted("t2", "cat", "execute"),
            ToolEnded("t2", True, "b.txt"),
        ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("```\na\n```", "a"),
        ("````md\n```\na\n```\n````\n", "```\na\n```"),
        ("```\na\n```\nb\n```\nc\n```", "```\na\n```\nb\n```\nc\n```"),
        ("a\n```", "a\n```"),
        ("```", "```"),
        ("", ""),
    ],
)
def test_the_fence_around_the_whole(text: str, shown: str):
    assert unfenced(text) == shown


async def test_the_servers_it_is_to_use(tmp_path: Path):
    """TU-35: `mcp_servers` are passed on, to new sessions and to loaded ones."""
    state = tmp_path / "state"
    state.write_text(json.dumps({"old": []}))
    servers = {
        "files": McpServer(command=("mcp-files", "--ro"), env={"KEY": Secret("k")}),
        "web": McpServer(url="https://example.org/mcp", headers={"Authorization": Secret("Bearer t")}),
    }
    wanted = [
        {"name": "files", "command": "mcp-files", "args": ["--ro"], "env": [{"name": "KEY", "value": "k"}]},
        {"type": "http", "name": "web", "url": "https://example.org/mcp",
         "headers": [{"name": "Authorization", "value": "Bearer t"}]},
    ]  # fmt: skip
    for server in wanted:
        schema.NewSessionRequest.model_validate({"cwd": "/", "mcpServers": [server]})
    async with fake("--state", str(state), mcp_servers=servers) as agent:
        assert json.loads(text_of(await everything(agent, a_turn("servers")))) == wanted
        agent.load_session("session-2", "old")
        assert json.loads(text_of(await everything(agent, a_turn("servers", "session-2")))) == wanted


async def test_the_gateways_own_tools_come_with_a_token_for_each_session(tmp_path: Path):
    """TU-35: handed over in `session/new` and in `session/load`, bound before the agent connects; one that speaks no
    HTTP is told to start `rejoinder mcp`. A server of the operator's with the same name has precedence."""
    bound: dict[str, str] = {}

    class Source:
        url = "http://127.0.0.1:8765/mcp"

        def issue(self) -> str:
            return f"token-{len(bound) + 1}"

        def bind(self, token: str, session: str) -> None:
            bound[token] = session

    state = tmp_path / "state"
    state.write_text(json.dumps({"old": []}))
    async with fake("--state", str(state)) as agent:
        agent.take_tools(Source())
        (new,) = json.loads(text_of(await everything(agent, a_turn("servers", "one"))))
        agent.load_session("two", "old")
        (loaded,) = json.loads(text_of(await everything(agent, a_turn("servers", "two"))))
    assert bound == {"token-1": "one", "token-2": "two"}
    for server, token in ((new, "token-1"), (loaded, "token-2")):
        schema.NewSessionRequest.model_validate({"cwd": "/", "mcpServers": [server]})
        assert server["args"][-1] == "mcp"
        assert {"name": "REJOINDER_MCP_TOKEN", "value": token} in server["env"]
    over_http = our_server(Source.url, "t", over_http=True)
    schema.NewSessionRequest.model_validate({"cwd": "/", "mcpServers": [over_http]})
    async with fake(mcp_servers={"rejoinder": McpServer(command=("mine",))}) as agent:
        agent.take_tools(Source())
        (own,) = json.loads(text_of(await everything(agent, a_turn("servers"))))
    assert own["command"] == "mine"


@pytest.mark.parametrize("server", [McpServer(), McpServer(command=("x",), url="https://example.org")])
def test_a_server_that_is_neither_program_nor_address(server: McpServer):
    with pytest.raises(BadConfiguration, match=r"mcp_servers\.odd"):
        open_agent("coder", Settings(command=("x",), mcp_servers={"odd": server}))


async def test_steering_by_a_further_prompt():
    """TU-11: an agent that queues prompts takes a message into the running turn, which ends when both have."""
    async with fake("--queues") as agent, begun(agent, a_turn("slow")) as run:
        assert agent.steers is True
        assert await agent.steer(a_turn("and more"))
        events = [event async for event in run]
        assert "And and more" in text_of(events)
        assert events[-1] == Done("end")
        assert not await agent.steer(a_turn("and late"))


async def test_steering_by_cancel_and_prompt():
    """TU-11: with `steer = "cancel"` the prompt is ended, and the turn goes on with the message."""
    async with fake(steer="cancel") as agent, begun(agent, a_turn("slow")) as run:
        assert agent.steers is True
        assert await agent.steer(a_turn("Rather this"))
        events = [event async for event in run]
        assert text_of(events).endswith("Rather this ")
        assert SegmentEnded() in events
        assert [event for event in events if isinstance(event, Done)] == [Done("end")]


async def test_an_agent_that_cannot_be_steered():
    """TU-11: without means of its own, and without `steer = "cancel"`, it says so."""
    async with fake() as agent, begun(agent, a_turn("slow")):
        assert agent.steers is False
        assert not await agent.steer(a_turn("and more"))


async def test_a_load_that_takes_too_long_is_not_refused():
    """TU-33: the turn fails, the name stays: no new session is begun in its place."""
    async with fake("--load", "never", load_timeout=0.1) as agent:
        agent.load_session("session-1", "saved-name")
        for _ in range(2):
            failure = last_failure(await everything(agent, a_turn("Hello")))
            assert failure.kind == "timeout"
            assert "session/load" in failure.detail


@pytest.mark.parametrize("old", [False, True], ids=["config options", "session/set_model"])
async def test_model_and_thinking(old: bool):
    """TU-33: /model and /think are set at the agent when they change, and go back to what they were."""
    async with fake(*(["--old"] if old else []), models={"big": "large"}) as agent:
        turn = Turn("s", (PromptText("settings"),), model="big", think="xhigh")
        events = await everything(agent, turn)
        assert ModelSelected("large") in events
        assert json.loads(text_of(events)) == {"model": "large", "effort": "low" if old else "high"}
        assert ModelSelected("large") not in await everything(agent, turn)
        events = await everything(agent, Turn("s", (PromptText("settings"),)))
        assert json.loads(text_of(events)) == {"model": "small", "effort": "low"}
        failure = last_failure(await everything(agent, Turn("s", (PromptText("x"),), model="huge")))
        assert failure.kind == "model_not_found"
        assert "small, large" in failure.detail


async def test_options_of_the_configuration():
    """TU-33: config options are set in every session; one the agent does not have is named."""
    async with fake(options={"effort": "high"}) as agent:
        events = await everything(agent, a_turn("settings"))
        assert json.loads(text_of(events))["effort"] == "high"
    async with fake(options={"mode": "careful"}) as agent:
        assert "mode" in last_failure(await everything(agent)).detail


@pytest.mark.parametrize("settings", [{"options": {"colour": "red"}}, {"options": {"effort": "huge"}}])
async def test_an_option_it_does_not_have_fails_no_turn(settings: dict[str, Any], caplog: pytest.LogCaptureFixture):
    """TU-35: it is in the log once; a mode would fail the turn, for without it the agent may do more."""
    async with fake(**settings) as agent:
        for _ in range(2):
            assert (await everything(agent))[-1] == Done("end")
    assert len([record for record in caplog.records if "is not set" in record.message]) == 1


async def test_an_option_that_goes_with_the_model():
    """TU-35: `/model` to one without effort and `/think low`: the turns go on, and the level is back with the model."""
    async with fake("--no-effort-on", "large") as agent:
        turn = Turn("s", (PromptText("settings"),), think="high")
        assert json.loads(text_of(await everything(agent, turn)))["effort"] == "high"
        for _ in range(2):
            assert (await everything(agent, replace(turn, model="large")))[-1] == Done("end")
            assert await agent.list_think_levels() == ()
        events = await everything(agent, replace(turn, think=None))
        assert json.loads(text_of(events)) == {"model": "small", "effort": "low"}
        assert await agent.list_think_levels() == LEVELS


async def test_a_refused_option_fails_no_turn():
    """TU-35: the agent named the value and refuses it all the same."""
    async with fake("--refuse-options") as agent:
        assert (await everything(agent, Turn("s", (PromptText("x"),), think="high")))[-1] == Done("end")


async def test_where_it_runs_is_set_by_its_own_option():
    """IN-59: `/exec host=` sets the option that the configuration names, and what it was comes back with its turn."""
    async with fake(exec_options={"host": "effort"}) as agent:
        assert agent.takes_exec == ("host",)
        for host, seen in (("high", "high"), (None, "low"), (None, "low")):
            events = await everything(agent, Turn("s", (PromptText("settings"),), host=host))
            assert json.loads(text_of(events))["effort"] == seen


async def test_it_tells_its_models_and_levels():
    """TU-35, IN-59: before the first turn, too; the session it was asked in serves that turn."""
    async with fake() as agent:
        assert await agent.list_models() == ("small", "large")
        assert await agent.list_think_levels() == LEVELS
        assert (await everything(agent))[0] == SessionOpened("fake-1")
        assert (await everything(agent, a_turn("x", "another")))[0] == SessionOpened("fake-2")
    async with fake("--no-effort") as agent:
        assert await agent.list_think_levels() == ()


async def test_an_agent_that_cannot_start_tells_no_models():
    """IN-52: whoever asks for models gets an answer, not a failure."""
    async with fake("--sign-in") as agent:
        assert await agent.list_models() == ()
        assert await agent.list_think_levels() is None


async def test_the_commands_it_announces():
    """IN-60: a name of the agent's own is no mistyped command of ours."""
    async with fake("--announce", "review,Init") as agent:
        assert agent.announced_commands() == frozenset()
        await everything(agent)
        assert agent.announced_commands() == {"review", "init"}


async def asked(agent: AcpAgent, answer: str | None) -> tuple[Question, list[AgentEvent]]:
    events: list[AgentEvent] = []
    question = None
    async for event in agent.run(a_turn("permission")):
        if isinstance(event, Question):
            question = event
            await agent.answer(event.id, answer)
        events.append(event)
    assert question is not None
    return question, events


ALLOWED = {"outcome": "selected", "optionId": "yes"}
DENIED = {"outcome": "selected", "optionId": "no"}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("Allow", ALLOWED), ("always", {"outcome": "selected", "optionId": "always"}), ("Reject", DENIED),
     (None, DENIED), ("what?", DENIED)],
)  # fmt: skip
async def test_permission_is_asked_in_the_chat(answer: str | None, outcome: dict[str, str]):
    """TU-33, TU-34: a permission request becomes a question; only a clear yes is one."""
    async with fake() as agent:
        question, events = await asked(agent, answer)
        assert [option.shown_label for option in question.offered] == ["Allow", "Always", "Reject"]
        assert [option.grants for option in question.offered] == ["once", "always", "no"]  # the agent has always first
        assert "rm -rf /" in question.text
        assert json.loads(text_of(events)) == outcome
        await agent.answer(question.id, "Allow")  # a second answer, or a stranger's, does nothing


async def test_permission_nobody_answers():
    """TU-33: after the timeout it is denied, and the turn goes on."""
    async with fake() as agent:
        agent.take_limits(RunLimits(question=0.05))
        events = await everything(agent, a_turn("permission"))
        assert json.loads(text_of(events)) == DENIED


@pytest.mark.parametrize(
    ("settings", "outcome"),
    [
        ({"permissions": "allow"}, ALLOWED),
        ({"permissions": "deny"}, DENIED),
        ({"permissions": "deny", "allow": ("execute",)}, ALLOWED),
        ({"permissions": "deny", "allow": ("execute:rm *",)}, ALLOWED),
        ({"permissions": "deny", "allow": ("execute:ls *", "read")}, DENIED),
    ],
)
async def test_permission_by_policy(settings: dict[str, Any], outcome: dict[str, str]):
    """TU-33: allowed once, never for ever; by list or by policy, without a question."""
    async with fake(**settings) as agent:
        events = await everything(agent, a_turn("permission"))
        assert Question not in map(type, events)
        assert json.loads(text_of(events)) == outcome


async def answering(agent: AcpAgent, turn: Turn, answer: str) -> list[AgentEvent]:
    """All events of a run whose questions are answered so."""
    events: list[AgentEvent] = []
    async for event in agent.run(turn):
        if isinstance(event, Question):
            await agent.answer(event.id, answer)
        events.append(event)
    return events


async def test_a_session_may_be_stricter_than_the_agent():
    """IN-59: what the list and the policy allow is denied, or asked for, when the turn says so."""
    async with fake(permissions="allow") as agent:
        turn = replace(a_turn("permission"), permissions="list")
        assert Question in [type(event) for event in await answering(agent, turn, "Reject")]
    async with fake(permissions="allow", allow=("execute",)) as agent:
        assert json.loads(text_of(await everything(agent, turn))) == ALLOWED
        turn = replace(a_turn("permission"), permissions="deny")
        assert json.loads(text_of(await everything(agent, turn))) == DENIED
        events = await answering(agent, replace(turn, permissions="ask"), "Allow")
        assert Question in map(type, events)
        assert json.loads(text_of(events)) == ALLOWED
        assert json.loads(text_of(await everything(agent, a_turn("permission")))) == ALLOWED


async def test_a_question_of_a_cancelled_run_is_closed():
    """TU-33: whoever is stopped while asking is told that nobody will answer."""
    async with fake() as agent:
        async for event in agent.run(a_turn("permission")):
            if isinstance(event, Question):
                await agent.cancel("session-1")
            if isinstance(event, TextDelta):
                assert json.loads(event.text) == {"outcome": "cancelled"}
        assert event == Done("cancelled")


@pytest.mark.parametrize(
    ("prompt", "kind", "detail"),
    [
        ("exit", "crashed", "status 3; its last output: panic: out of cheese"),
        ("exit-with-child", "crashed", "status 4"),
        ("flood", "crashed", "a line longer than 8 MB"),
        ("close", "crashed", "closed its output"),
        ("error", "rate_limit", "Rate limit reached"),
    ],
)
async def test_mishaps(prompt: str, kind: str, detail: str):
    """TU-20: each ends the run with a Failed, and the next turn works."""
    async with fake() as agent:
        await everything(agent, a_turn("warm up"))
        async with asyncio.timeout(PATIENCE):
            failure = last_failure(await everything(agent, a_turn(prompt)))
        assert failure.kind == kind
        assert detail in failure.detail
        assert (await everything(agent, a_turn("Hello")))[-1] == Done("end")


async def test_a_crash_ends_every_run_and_frees_the_child_that_held_the_pipe():
    """TU-33: what a dead agent left behind is dead too."""
    async with fake() as agent:
        async with begun(agent, a_turn("slow", "other")) as other:
            events = await everything(agent, a_turn("exit-with-child"))
            assert isinstance([event async for event in other][-1], Failed)
        await none_alive([int(text_of(events))])


async def test_nothing_survives_the_close():
    """TU-33: the agent, a child that ignores SIGTERM and one that left the process group."""
    async with fake() as agent:
        pids = [int(pid) for pid in text_of(await everything(agent, a_turn("children"))).split()]
        assert len(pids) == 3
        assert all(alive(pid) for pid in pids)
        await agent.close()
        await none_alive(pids)


async def test_a_slow_reader_does_not_cost_memory(monkeypatch: pytest.MonkeyPatch):
    """An agent that says more than is read has to wait, then goes on; nothing is lost."""
    waits: list[bool] = []
    pause = AgentProcess.pause
    monkeypatch.setattr(connection, "BACKLOG", 100)
    monkeypatch.setattr(AgentProcess, "pause", lambda self, paused: (waits.append(paused), pause(self, paused)))
    async with fake() as agent:
        events = [event async for event in agent.run(a_turn("drown"))]
        assert waits[:2] == [True, False]
        assert text_of(events) == "".join(f"{number} " for number in range(30_000))


async def test_environment_by_allow_list(monkeypatch: pytest.MonkeyPatch):
    """TU-33: an agent sees no secret of ours unless it is named."""
    monkeypatch.setenv("TELEGRAM_TOKEN", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    async with fake(pass_env=("OPENAI_API_KEY", "NOT_SET"), env={"OWN": Secret("1")}) as agent:
        names = text_of(await everything(agent, a_turn("environment"))).split()
    assert {"PATH", "OPENAI_API_KEY", "OWN"} <= set(names)
    assert "TELEGRAM_TOKEN" not in names
    assert "NOT_SET" not in names


async def test_the_system_part_is_told_when_it_is_new():
    """TU-31: the protocol has no system part, so it leads the prompt, once until it changes."""
    async with fake() as agent:
        said = []
        for system in ("Be brief.", "Be brief.", "Be long."):
            events = await everything(agent, Turn("s", (PromptText("blocks"),), system=system))
            said.append(json.loads(text_of(events)))
        assert said == [["Be brief.", "blocks"], ["blocks"], ["Be long.", "blocks"]]


async def test_the_system_part_is_told_again_after_a_failure():
    """TU-31: an agent that refused the prompt may have kept nothing of it."""
    async with fake() as agent:
        for word, told in (("error", None), ("blocks", ["Be brief.", "blocks"]), ("blocks", ["blocks"])):
            events = await everything(agent, Turn("s", (PromptText(word),), system="Be brief."))
            assert told is None or json.loads(text_of(events)) == told


@pytest.mark.parametrize("offered", [5, "large", [5], [None], {"modelId": "large"}, [{"name": "large"}]])
def test_models_that_are_none(offered: Any):
    """TU-33: what an agent says of its models in a shape nobody knows is passed over; it is not set, nothing fails."""
    (model,) = wire.options({"models": {"availableModels": offered, "currentModelId": "small"}}).values()
    assert (model.current, model.values) == ("small", ())


@pytest.mark.parametrize(("options", "seen"), [(["--images"], "<image>"), ([], "cannot see")])
async def test_pictures(options: list[str], seen: str):
    """Pictures go to agents that take them; others are told that there was one."""
    async with fake(*options) as agent:
        parts = (PromptImage("image/png", b"\x89PNG"), PromptText("blocks"))
        assert seen in text_of(await everything(agent, Turn("s", parts)))


@pytest.mark.parametrize(("options", "heard"), [(["--audio"], "<audio>"), ([], "cannot hear")])
async def test_recordings(options: list[str], heard: str):
    """ME-1: they go to agents with the prompt capability `audio`; others are told that there was one, and get no more
    once that is known."""
    async with fake(*options) as agent:
        assert agent.hears_audio
        parts = (PromptAudio("audio/mpeg", b"ID3"), PromptText("blocks"))
        assert heard in text_of(await everything(agent, Turn("s", parts)))
        assert agent.hears_audio is bool(options)


async def test_a_program_that_is_not_there():
    """The person hears that it is not installed, the operator which one and where it was looked for."""
    agent = open_agent("coder", Settings(command=("no-such-agent-anywhere",)))
    failure = last_failure(await everything(agent))
    assert failure.kind == "unreachable"
    assert "no-such-agent-anywhere" in failure.sentence
    assert os.getcwd() in failure.detail
    await agent.close()


async def test_a_program_that_is_installed_later(tmp_path: Path):
    """TU-33: the next turn starts it; what could not be started is not asked again."""
    program = tmp_path / "agent"
    agent = open_agent("coder", Settings(command=(str(program),)))
    try:
        assert last_failure(await everything(agent)).kind == "unreachable"
        assert not agent.is_alive
        program.write_text(f"#!/bin/sh\nexec {sys.executable} {FAKE}\n")
        program.chmod(0o755)
        assert isinstance((await everything(agent))[-1], Done)
    finally:
        await agent.close()


@pytest.mark.parametrize(
    ("options", "settings", "kind", "detail"),
    [
        (["--say-version", "9"], {}, "format", "version 9"),
        (["--mute"], {"start_timeout": 0.5}, "timeout", "initialize was not answered"),
        (["--sign-in"], {}, "auth", "Log in"),
    ],
)
async def test_agents_that_cannot_start(options: list[str], settings: dict[str, Any], kind: str, detail: str):
    """A wrong version, silence, no login: a sentence each, and another try with the next turn."""
    async with fake(*options, **settings) as agent:
        for _ in range(2):
            failure = last_failure(await everything(agent))
            assert failure.kind == kind
            assert detail in failure.detail


async def test_a_program_that_is_no_agent():
    """Something else than an agent: its exit and its words are in the detail."""
    agent = open_agent("coder", Settings(command=("sh", "-c", "echo usage: nothing >&2; exit 2")))
    failure = last_failure(await everything(agent))
    assert failure.kind == "crashed"
    assert "status 2" in failure.detail
    assert "usage: nothing" in failure.detail
    await agent.close()


def test_configuration_that_cannot_work(tmp_path: Path):
    with pytest.raises(BadConfiguration, match="not a directory"):
        open_agent("coder", Settings(command=("x",), cwd=str(tmp_path / "none")))
    with pytest.raises(BadConfiguration, match="`command` is empty"):
        open_agent("coder", Settings(command=()))
