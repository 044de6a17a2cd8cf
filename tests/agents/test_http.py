"""An agent of one's own behind a URL."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from rejoinder.agents.base import Done, Failed, Option, Question, TextDelta, ToolEnded, ToolStarted, Usage
from rejoinder.agents.http import Settings, open_agent
from rejoinder.agents.http.agent import EVENT_TYPES
from rejoinder.events import PromptImage, PromptText, Turn
from rejoinder.secret import Secret
from rejoinder.testing.agent_contract import AgentContract, Agents, a_turn, everything, text_of

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
NDJSON = "application/x-ndjson"


@asynccontextmanager
async def serving(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def agent_of(handler: Handler, **settings: Any):
    app = web.Application()
    app.router.add_post("/turn", handler)
    async with serving(app) as url:
        agent = open_agent("mine", Settings(url=f"{url}/turn", **settings))
        yield agent
        await agent.close()


def saying(body: bytes, kind: str = NDJSON) -> Handler:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.Response(body=body, content_type=kind)

    return handler


async def stalling(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": NDJSON})
    await response.prepare(request)
    await response.write(b'{"type": "text", "text": "Let me see"}\n')
    await asyncio.Event().wait()
    return response


class TestHttpContract(AgentContract):
    @asynccontextmanager
    async def agents(self) -> AsyncIterator[Agents]:
        tools = b"""{"type": "tool_started", "id": "1", "title": "ls"}
            {"type": "tool_ended", "id": "1", "ok": true}\n{"type": "done"}"""
        async with (
            agent_of(saying(b'{"type":"text","text":"Hi"}\n{"type":"done"}\n')) as talking,
            agent_of(saying(b"what?")) as broken,
            agent_of(stalling) as slow,
            agent_of(saying(tools)) as using_tools,
        ):
            yield Agents(talking, broken, slow, using_tools)


async def test_the_turn_arrives_whole():
    """TU-32: everything an agent needs is in the posted turn."""
    got: dict[str, Any] = {}

    async def handler(request: web.Request) -> web.StreamResponse:
        got.update(await request.json(), authorization=request.headers["Authorization"])
        return web.Response(text="ok")

    async with agent_of(handler, headers={"Authorization": Secret("Bearer x")}, model="m") as agent:
        turn = Turn("s-1", (PromptText("hi"), PromptImage("image/png", b"\x89PNG")), system="Be brief.", think="low")
        assert text_of(await everything(agent, turn)) == "ok"
    assert got == {
        "session": "s-1",
        "parts": [{"type": "text", "text": "hi"}, {"type": "image", "mime": "image/png", "data": "iVBORw=="}],
        "system": "Be brief.",
        "model": "m",
        "think": "low",
        "permissions": None,
        "host": None,
        "node": None,
        "authorization": "Bearer x",
    }


ANSWERS = {
    "json lines": (
        NDJSON,
        b'{"type":"text","text":"Hi"}\n\n{"type":"usage","input_tokens":2}\n{"type":"done"}',
    ),
    "server-sent events": (
        "text/event-stream",
        b'data: {"type":"text","text":"Hi"}\n\ndata: {"type":"usage","input_tokens":2}\n\ndata: {"type":"done"}\n\n',
    ),
    "a list": ("application/json", b'[{"type":"text","text":"Hi"},{"type":"usage","input_tokens":2}]'),
    "something new in between": (
        NDJSON,
        b'{"type":"text","text":"Hi"}\n{"type":"dance"}\n{"type":"usage","input_tokens":2}\n{"type":"done"}\n',
    ),
}


@pytest.mark.parametrize(("kind", "body"), ANSWERS.values(), ids=ANSWERS.keys())
async def test_ways_to_answer(kind: str, body: bytes):
    """TU-32: lines, server-sent events or a list: the same events."""
    async with agent_of(saying(body, kind)) as agent:
        assert await everything(agent) == [TextDelta("Hi"), Usage(2), Done()]


async def test_plain_text_cut_inside_a_letter():
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain; charset=utf-8"})
        await response.prepare(request)
        for byte in "grüße 👍".encode():
            await response.write(bytes([byte]))
        return response

    async with agent_of(handler) as agent:
        events = await everything(agent)
        assert text_of(events) == "grüße 👍"
        assert events[-1] == Done()


@pytest.mark.parametrize(
    ("kind", "body", "failure"),
    [
        (NDJSON, b'{"type":"text"', "format"),
        (NDJSON, b'{"type":"text","text":7}\n', "format"),
        (NDJSON, b'{"text":"without a type"}\n', "format"),
        (NDJSON, b'["no", "event"]\n', "format"),
        (NDJSON, b'{"type":"text","text":"half"}\n', "unreachable"),
        ("application/json", b"oops", "format"),
        ("text/event-stream", b"data: {\n\n", "format"),
    ],
)
async def test_answers_that_are_none(kind: str, body: bytes, failure: str):
    """A stream that stops and what is no event: a Failed that shows where it went wrong."""
    async with agent_of(saying(body, kind)) as agent:
        last = (await everything(agent))[-1]
        assert isinstance(last, Failed)
        assert last.kind == failure


@pytest.mark.parametrize(
    ("status", "body", "taken"),
    [
        (200, b'{"taken":true}', True),
        (200, b'{"taken":false}', False),
        (200, b"ok", False),
        (404, b"", False),
        (200, b"[" * 100_000, False),
    ],
)
async def test_steering(status: int, body: bytes, taken: bool):
    """TU-32: posted beside the turn; only a plain yes is a yes."""

    async def steer(request: web.Request) -> web.StreamResponse:
        assert (await request.json())["session"] == "session-1"
        return web.Response(status=status, body=body, content_type="application/json")

    app = web.Application()
    app.router.add_post("/turn/steer", steer)
    async with serving(app) as url:
        agent = open_agent("mine", Settings(url=f"{url}/turn"))
        assert await agent.steer(a_turn()) is taken
        await agent.close()


@pytest.mark.parametrize(
    ("option", "posted"), [("yes", "yes"), ("n", "n"), ("allow-once", "yes"), ("allow-always", "yes"), (None, None)]
)
async def test_a_question_is_answered(option: str | None, posted: str | None):
    """TU-32, TU-33: the answer is posted beside the turn, while it streams; leave is told in its own words."""
    answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def turn(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": NDJSON})
        await response.prepare(request)
        await response.write(
            b'{"type":"question","id":"q1","text":"May I?","options":["yes",{"id":"n","label":"Not now"}]}\n'
        )
        said = await answered
        await response.write(f'{{"type":"text","text":"{said["option"]}"}}\n{{"type":"done"}}\n'.encode())
        return response

    async def answer(request: web.Request) -> web.StreamResponse:
        answered.set_result(await request.json())
        return web.Response()

    app = web.Application()
    app.router.add_post("/turn", turn)
    app.router.add_post("/turn/answer", answer)
    async with serving(app) as url:
        agent = open_agent("mine", Settings(url=f"{url}/turn"))
        events = []
        async for event in agent.run(a_turn()):
            events.append(event)
            if isinstance(event, Question):
                assert event.offered == (Option("yes"), Option("n", "Not now"))
                await agent.answer(event.id, option)
        await agent.close()
    assert text_of(events) == f"{posted}"
    assert answered.result() == {"question": "q1", "option": posted}


async def test_its_own_failure_is_passed_on():
    body = b'{"type":"failed","kind":"billing","sentence":"No money."}\n{"type":"text","text":"late"}\n'
    async with agent_of(saying(body)) as agent:
        assert await everything(agent) == [Failed("billing", "No money.")]


async def test_a_stop_reason_that_is_none_of_ours():
    async with agent_of(saying(b'{"type":"done","stop":"whenever"}\n')) as agent:
        (last,) = await everything(agent)
        assert isinstance(last, Failed)


def test_every_event_can_be_sent():
    """The names in the documentation are the names on the wire."""
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    assert {"text", "done", "failed", "question", "tool_started", "segment", "session"} <= EVENT_TYPES
    assert all(f"`{name}`" in page for name in EVENT_TYPES)


async def test_the_example_works():
    """examples/http_agent.py does what it says."""
    path = Path(__file__).parents[2] / "examples" / "http_agent.py"
    spec = importlib.util.spec_from_file_location("http_agent", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    async with serving(module.make_app()) as url:
        agent = open_agent("mine", Settings(url=f"{url}/turn"))
        events = await everything(agent, a_turn("one two three"))
        await agent.close()
    assert events[:2] == [ToolStarted("1", "counting the words"), ToolEnded("1", True, "3")]
    assert text_of(events) == "You said 3 words, and the last was three."


@pytest.mark.parametrize(
    ("kind", "beginning", "detail"),
    [
        ("application/json", b'[{"type": "text", "text": "', "an answer in one piece larger than 8 MB"),
        ("text/event-stream", b'data: {"type": "text", "text": "', "one server-sent event is larger than"),
        (NDJSON, b'{"type": "text", "text": "', "a line longer than 8 MB"),
    ],
)
async def test_an_event_without_end_is_given_up(kind: str, beginning: bytes, detail: str):
    """OD-5: no more is read of it than can be decoded without a stop."""
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        await response.write(beginning)
        while True:
            await response.write(b"x" * 65536)
            sent += 65536

    async with agent_of(endless) as agent:
        last = (await everything(agent))[-1]
    assert isinstance(last, Failed)
    assert last.kind == "format"
    assert detail in last.detail
    assert sent < 32 << 20
