"""The two kinds that speak to a model themselves, against the model server over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rejoinder.agents import anthropic, openai
from rejoinder.agents.anthropic.agent import MessageReading
from rejoinder.agents.base import (
    AgentEvent,
    CanCompact,
    Done,
    Failed,
    FailureKind,
    ModelSelected,
    RunLimits,
    SegmentEnded,
    TextDelta,
    Thought,
    ToolEnded,
    ToolStarted,
    Usage,
)
from rejoinder.agents.chat_completions import ChatReading
from rejoinder.agents.failures import RunFailed
from rejoinder.agents.model_agent import ModelAgent, together
from rejoinder.agents.settings import Profile
from rejoinder.agents.sse import ServerEventReader
from rejoinder.events import PromptAudio, PromptImage, PromptText, Turn
from rejoinder.secret import Secret
from rejoinder.testing.agent_contract import AgentContract, Agents, a_turn, begun, everything, text_of
from rejoinder.testing.model_dialects import DIALECTS
from rejoinder.testing.model_server import (
    CONTEXT_OVERFLOW,
    Answer,
    Break,
    FailMidway,
    Garble,
    ModelRequest,
    ModelServer,
    Refuse,
    Say,
    Stall,
)

KINDS = ("openai", "anthropic")
WORDS = [
    "choices",
    "delta",
    "message",
    "content",
    "text",
    "type",
    "usage",
    "error",
    "finish_reason",
    "tool_calls",
    "function",
    "name",
    "index",
    "id",
    "thinking",
    "reasoning",
    "prompt_tokens",
    "content_block",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "text_delta",
    "tool_use",
    "stop_reason",
    "output_tokens",
]


def open_agent(kind: str, server: ModelServer, **settings: Any) -> ModelAgent:
    settings = {"model": "m-1", "api_key": Secret("sk-secret"), **settings}
    if kind == "openai":
        return openai.open_agent("helper", openai.Settings(base_url=server.openai_url, **settings))
    return anthropic.open_agent("helper", anthropic.Settings(base_url=server.url, **settings))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture(params=KINDS)
async def agent(request: pytest.FixtureRequest, server: ModelServer):
    agent = open_agent(request.param, server)
    yield agent
    await agent.close()


class _ModelContract(AgentContract):
    kind: str

    @asynccontextmanager
    async def agents(self) -> AsyncIterator[Agents]:
        def answer(request: ModelRequest) -> Answer:
            match request.body["model"]:
                case "broken":
                    return Refuse(500)
                case "slow":
                    return Stall("Let me see")
                case "tools":
                    return Say("Found it.", tool="search")
                case _:
                    return Say(request.text)

        async with ModelServer(answer) as server:
            opened = [open_agent(self.kind, server, model=model) for model in ("m", "broken", "slow", "tools")]
            yield Agents(*opened)
            for agent in opened:
                await agent.close()


class TestOpenAIContract(_ModelContract):
    kind = "openai"


class TestAnthropicContract(_ModelContract):
    kind = "anthropic"


async def test_an_answer_streams(agent: Any, server: ModelServer):
    """TU-32: the text comes in pieces as the model says it, thoughts apart, then usage and the end."""
    server.will(Say("The capital is Paris.", thought="France...", pieces=5, pace=0.01))
    events = await everything(agent)
    assert events[0] == ModelSelected("m-1")
    assert events[1] == Thought("France...")
    assert len([event for event in events if isinstance(event, TextDelta)]) > 1
    assert text_of(events) == "The capital is Paris."
    assert events[-2:] == [Usage(7, 3, 10), Done()]


def test_text_that_came_at_once_is_one_piece_and_never_lost():
    """TU-32: cut anywhere; what was said before something went wrong has been said."""

    overloaded = b'data: {"error": {"type": "overloaded_error", "message": "later"}}'
    pieces = (
        b'{"content": "a"}',
        b'{"content": "b"}',
        b'{"reasoning": "hm"}',
        b'{"content": "c"}',
        b'{"content": "d"}',
    )
    sent = [b'data: {"choices": [{"delta": ' + piece + b"}]}" for piece in pieces]
    heard, failure = together(ServerEventReader().feed(b"\n\n".join((*sent, overloaded, b""))), ChatReading())
    assert heard == [TextDelta("ab"), Thought("hm"), TextDelta("cd")]
    assert isinstance(failure, RunFailed)


async def test_tools_are_shown(agent: Any, server: ModelServer):
    """TU-32: a tool the endpoint runs is told around the text."""
    server.will(Say("Found.", tool="search"))
    events = await everything(agent)
    kinds = [type(event) for event in events if isinstance(event, ToolStarted | ToolEnded | TextDelta)]
    assert kinds == [ToolStarted, ToolEnded, TextDelta]


async def test_a_tool_nobody_runs(agent: Any, server: ModelServer):
    """A model that only asks for a tool leaves no one waiting in silence."""
    server.will(Say("", tool="search"))
    events = await everything(agent)
    assert [event.ok for event in events if isinstance(event, ToolEnded)] == [False]
    assert isinstance(events[-1], Failed)
    assert "runs none" in events[-1].detail


async def test_the_conversation_is_remembered(agent: Any, server: ModelServer):
    """The model is told what was said before in this session, and only in this session."""
    server.will(Say("Hello Ann."))
    await everything(agent, a_turn("I am Ann", "a"))
    await everything(agent, a_turn("I am Bob", "b"))
    await everything(agent, a_turn("Who am I?", "a"))
    told = [message["content"] for message in server.requests[-1].body["messages"]]
    assert "Hello Ann." in told
    assert "Ann" in str(told[0])
    assert "Bob" not in str(told)
    assert [(str(each.parts[-1].text), each.answer) for each in agent.remembered("b")] == [("I am Bob", "I am Bob")]
    agent.forget("a")
    await everything(agent, a_turn("Who am I?", "a"))
    assert len(server.requests[-1].body["messages"]) == 1


async def test_what_was_cancelled_is_remembered_as_far_as_it_went(agent: Any, server: ModelServer):
    """TU-20: people have seen the half answer, so the model has to know it; the connection is gone."""
    server.will(Stall("I was just"))
    async with begun(agent, a_turn("Tell me all")):
        pass
    await server.departed()
    await everything(agent, a_turn("Go on"))
    assert "I was just" in [message["content"] for message in server.requests[-1].body["messages"]]


async def test_what_is_said_into_a_turn_is_one_more_request_of_it(agent: Any, server: ModelServer):
    """TU-11: at the end of the running answer, in the same turn, with what was answered so far."""
    server.will(Say("First.", pace=0.01, pieces=1), Say("Second."))
    async with begun(agent, a_turn("one")) as run:
        offered = asyncio.ensure_future(agent.steer(a_turn("two")))
        events = [event async for event in run]
    assert await offered
    assert text_of(events).endswith("Second.")
    assert SegmentEnded() in events
    assert [event for event in events if isinstance(event, Done)] == [Done("end")]
    told = [message["content"] for message in server.requests[-1].body["messages"]]
    assert told[-2:] == ["First.", "two"] or "First." in str(told[-2])
    assert not await agent.steer(a_turn("late"))


async def test_what_a_failed_turn_did_not_take_in_is_refused(agent: Any, server: ModelServer):
    """TU-11, TU-2: it gets a turn of its own instead."""
    server.will(FailMidway("Half"))
    async with begun(agent, a_turn("one")) as run:
        offered = asyncio.ensure_future(agent.steer(a_turn("two")))
        events = [event async for event in run]
    assert isinstance(events[-1], Failed)
    assert not await offered


async def test_a_question_that_failed_is_asked_once(agent: Any, server: ModelServer):
    """TU-22: on the next model the same question is there once; later it is still known."""
    server.will(Refuse(529))
    await everything(agent, a_turn("why?"))
    await everything(agent, a_turn("why?"))
    assert str(server.requests[-1].body["messages"]).count("why?") == 1


async def test_the_budget_holds(server: ModelServer):
    """The oldest exchanges are left out when the conversation outgrows the budget."""
    agent = open_agent("openai", server, history_tokens=200)
    for number in range(20):
        await everything(agent, a_turn(f"message {number} " + "x" * 60))
    told = str(server.requests[-1].body["messages"])
    assert "message 18 " in told
    assert "message 1 " not in told
    assert len(server.requests[-1].body["messages"]) < 10
    await agent.close()


async def test_models_and_aliases(server: ModelServer):
    """/model: an alias becomes the name the endpoint knows, any other name goes as it is."""
    agent = open_agent("openai", server, models={"fast": "m-small"}, fallbacks=("fast",))
    assert agent.models == ("m-1", "fast")
    assert agent.fallbacks == ("fast",)
    for asked, sent in ((None, "m-1"), ("fast", "m-small"), ("m-9", "m-9")):
        turn = Turn("s", (PromptText("hi"),), model=asked)
        assert (await everything(agent, turn))[0] == ModelSelected(sent)
        assert server.requests[-1].body["model"] == sent
    await agent.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_profile_has_its_own_key_endpoint_and_options(kind: str, server: ModelServer):
    """IN-52: `name@profile` goes to the profile's endpoint with its key and options, and the model is only `name`."""
    async with ModelServer() as other:
        url = other.openai_url if kind == "openai" else other.url
        profiles = {
            "work": Profile(api_key=Secret("sk-work"), options={"temperature": 1}),
            "away": Profile(base_url=url),
        }
        agent = open_agent(kind, server, models={"fast": "m-small"}, options={"top_p": 0.5}, profiles=profiles)
        assert agent.profiles == ("work", "away")
        for asked, sent, at, key in (
            ("fast@work", "m-small", server, "sk-work"),
            ("m-1@away", "m-1", other, ""),
            ("m-1", "m-1", server, "sk-secret"),
            ("cf/@cf/x", "cf/@cf/x", server, "sk-secret"),
        ):
            turn = Turn("s", (PromptText("hi"),), model=asked)
            assert (await everything(agent, turn))[0] == ModelSelected(sent)
            got = at.requests[-1]
            assert got.body["model"] == sent
            assert got.body["top_p"] == 0.5
            assert ("temperature" in got.body) is asked.endswith("@work")
            headers = {name.lower(): value for name, value in got.headers.items()}
            told = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key", "")
            assert told == key, "a key goes to no endpoint that it was not written for"
        await agent.close()


async def test_the_models_an_endpoint_lists(agent: Any, server: ModelServer):
    """IN-52: an endpoint tells its models; one that is down tells none, and nobody waits for it again at once."""
    assert await agent.list_models() == ("echo",)
    await server.__aexit__(None, None, None)
    assert await agent.list_models() == ("echo",), "what was read is good for a while"
    agent._listed_until = 0.0
    assert await agent.list_models() == ()


async def test_a_list_of_models_nested_beyond_measure():
    """IN-52: it tells nothing, and is no reason for `/model` to fail."""

    async def models(_: web.Request) -> web.Response:
        return web.Response(body=b'{"data": [], "x": ' + b"[" * 30_000 + b"]" * 30_000 + b"}")

    app = web.Application()
    app.router.add_get("/v1/models", models)
    async with TestServer(app) as there:
        agent = openai.open_agent("mine", openai.Settings(model="m", base_url=str(there.make_url("/v1"))))
        assert await agent.list_models() == ()
        assert "serves m" in await agent.check()
        await agent.close()


async def test_what_to_keep_is_in_the_request_for_a_summary(agent: Any, server: ModelServer):
    """IN-61: `/compact <instructions>`."""
    await everything(agent, a_turn("I am Ann"))
    server.will(Say("Ann."))
    assert await agent.compact("session-1", "the names")
    assert "the names" in str(server.requests[-1].body["messages"])


async def test_think_levels_arrive(server: ModelServer):
    """/think: each provider is asked in its own words, and the answer keeps its room."""
    for kind in KINDS:
        agent = open_agent(kind, server)
        await everything(agent, Turn("s", (PromptText("hi"),), think="high"))
        await agent.close()
    first, second = (asked.body for asked in server.requests)
    assert first["reasoning_effort"] == "high"
    assert second["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert second["output_config"] == {"effort": "high"}
    assert second["max_tokens"] == 20_000 + 8192


async def test_an_older_model_is_asked_in_its_words(server: ModelServer):
    """/think: what a model refuses is said in another way, once; people see the answer only."""
    agent = open_agent("anthropic", server)
    server.will(Refuse(400, message="adaptive thinking is not supported on this model"))
    events = await everything(agent, Turn("s", (PromptText("hi"),), think="high"))
    assert not [event for event in events if isinstance(event, Failed)]
    assert [type(event) for event in events].count(ModelSelected) == 1
    await everything(agent, Turn("s", (PromptText("and"),), think="high"))
    first, second, third = (asked.body for asked in server.requests)
    assert first["thinking"]["type"] == "adaptive"
    for later in (second, third):
        assert later["thinking"] == {"type": "enabled", "budget_tokens": 20_000}
        assert later["max_tokens"] == 20_000 + 8192
        assert "output_config" not in later
    assert third["messages"][:1] == second["messages"], "the question is remembered once"
    await agent.close()


async def test_a_model_that_cannot_think_answers(server: ModelServer):
    """/think high at a model without reasoning is an answer, not an error."""
    agent = open_agent("openai", server)
    server.will(Refuse(400, message="Unrecognized request argument supplied: reasoning_effort"))
    events = await everything(agent, Turn("s", (PromptText("hi"),), think="high"))
    assert isinstance(events[-1], Done)
    assert "reasoning_effort" not in server.requests[-1].body
    await agent.close()


@pytest.mark.parametrize("sees", [True, False])
async def test_whether_it_sees_is_for_the_operator_to_say(server: ModelServer, sees: bool):
    """IN-9: nobody can tell from its name whether a model takes pictures."""
    agent = open_agent("openai", server, sees_images=sees)
    assert agent.sees_images is sees


async def test_system_and_pictures(server: ModelServer):
    """TU-31: the system part goes where the provider wants it; pictures go along."""
    for kind in KINDS:
        agent = open_agent(kind, server, system_prompt="unused when the turn brings its own")
        turn = Turn("s", (PromptText("Look"), PromptImage("image/png", b"\x89PNG")), system="Be brief.")
        await everything(agent, turn)
        await agent.close()
    first, second = (asked.body for asked in server.requests)
    assert first["messages"][0] == {"role": "system", "content": "Be brief."}
    assert first["messages"][1]["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert second["system"] == "Be brief."
    assert second["messages"][0]["content"][1]["source"]["data"] == "iVBORw=="


async def test_recordings_go_to_models_that_hear(server: ModelServer):
    """ME-1: as the API wants them, once: the next question goes without. What no model takes is said in words."""
    agent = open_agent("openai", server, hears_audio=True)
    sounds = (PromptAudio("audio/mpeg", b"ID3"), PromptAudio("audio/wav", b"RIFF"), PromptAudio("audio/ogg", b"OggS"))
    await everything(agent, Turn("s", (PromptText("Listen"), *sounds)))
    await everything(agent, Turn("s", (PromptText("Well?"),)))
    await agent.close()
    first, second = (asked.body["messages"] for asked in server.requests)
    assert first[0]["content"][1:3] == [
        {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ]
    assert "could not be converted" in first[0]["content"][3]["text"]
    assert [each["content"] for each in second if each["role"] == "user"] == ["Listen", "Well?"]
    assert not open_agent("openai", server).hears_audio


@pytest.mark.parametrize("kind", KINDS)
async def test_an_endpoint_that_does_not_stream(kind: str, server: ModelServer):
    """Some proxies answer at once whatever they are asked."""
    agent = open_agent(kind, server, options={"stream": False})
    events = await everything(agent)
    assert text_of(events) == "Hello"
    assert events[-2:] == [Usage(7, 3, 10), Done()]
    await agent.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(WORDS), JSON, max_size=4), st.booleans())
def test_no_shape_of_answer_crashes(document: dict[str, Any], whole: bool):
    """TU-22: whatever JSON a provider sends, there are events or a failure of format."""
    for reading in (ChatReading(), MessageReading()):
        data = msgspec.json.encode(document)
        with suppress(RunFailed):
            events = reading.whole(data) if whole else reading.feed(data.decode())
            assert msgspec.json.decode(msgspec.json.encode(events), type=list[AgentEvent]) == events


def test_thoughts_in_a_list():
    """Mistral's way to think aloud."""
    reading = ChatReading()
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Hi"},
    ]
    said = msgspec.json.encode({"choices": [{"delta": {"content": parts}}]}).decode()
    assert reading.feed(said) == [Thought("hm"), TextDelta("Hi")]


def test_a_reason_to_stop_is_an_end():
    """Endpoints that never say [DONE], or message_stop, are understood."""
    reading = ChatReading()
    reading.feed('{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "length"}]}')
    assert reading.finish() == [Done("limit")]
    message = MessageReading()
    message.feed('{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}')
    assert message.finish() == [Done("limit")]


def test_a_letter_in_two_halves_is_remembered_whole():
    """TU-32: a proxy that cuts an emoji in two fails neither this answer nor the next request."""
    chat, message = ChatReading(), MessageReading()
    for half in ("\\ud83d", "\\ude00"):
        assert len(chat.feed(f'{{"choices": [{{"delta": {{"content": "{half}"}}}}]}}')) == 1
        piece = f'{{"type": "text_delta", "text": "{half}"}}'
        assert len(message.feed(f'{{"type": "content_block_delta", "delta": {piece}}}')) == 1
    assert chat.answer == message.answer == "😀"


@pytest.mark.parametrize("index", ["", '"index": null, '])
def test_tool_calls_without_an_index_are_told_apart(index: str):
    """TU-32: Gemini numbers none of its calls."""
    calls = ", ".join(f'{{{index}"id": "{id}", "function": {{"name": "search"}}}}' for id in ("a", "b"))
    events = ChatReading().feed(f'{{"choices": [{{"delta": {{"tool_calls": [{calls}]}}}}]}}')
    assert events == [ToolStarted("a", "search"), ToolStarted("b", "search")]


def test_an_error_that_is_not_wrapped():
    """TU-22: vLLM answers with an object that says of itself that it is an error."""
    with pytest.raises(RunFailed) as caught:
        ChatReading().whole(b'{"object": "error", "message": "boom", "code": 401}')
    assert caught.value.failure.kind == "auth"


@pytest.mark.parametrize("reading", [ChatReading, MessageReading])
@pytest.mark.parametrize("document", [b"{}", b'{"status": "ok"}'])
def test_a_document_of_something_else_is_no_answer(reading: Any, document: bytes):
    """TU-22: JSON that holds no answer is a failure of format, not an agent that had nothing to say."""
    with pytest.raises(RunFailed) as caught:
        reading().whole(document)
    assert caught.value.failure.kind == "format"
    assert document.decode() in caught.value.failure.detail


@pytest.mark.parametrize("kind", KINDS)
async def test_a_web_page_is_no_answer(kind: str):
    """TU-22: an address that leads to a page is a failure of format, and the operator reads how it begins."""

    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>Sign in</title>", content_type="text/html")

    app = web.Application()
    app.router.add_post("/{path:.*}", page)
    async with TestServer(app) as served:
        where = ModelServer()
        where.url = str(served.make_url("")).rstrip("/")
        agent = open_agent(kind, where)
        last = (await everything(agent))[-1]
        await agent.close()
    assert isinstance(last, Failed)
    assert last.kind == "format"
    assert "web page" in last.detail
    assert "Sign in" in last.detail


async def test_compaction(agent: Any, server: ModelServer):
    """TU-23: the model's summary takes the conversation's place; what fails changes nothing."""
    assert isinstance(agent, CanCompact)
    assert not await agent.compact("session-1")
    await everything(agent, a_turn("I am Ann"))
    server.will(Refuse(500), Say("The user is Ann."))
    assert not await agent.compact("session-1")
    assert await agent.compact("session-1")
    assert "I am Ann" in str(server.requests[-1].body["messages"])
    await everything(agent, a_turn("Who am I?"))
    told = server.requests[-1].body["messages"]
    assert len(told) == 3
    assert "The user is Ann." in str(told)
    assert "I am Ann" not in str(told)


async def test_compaction_by_the_model_that_heard_the_conversation(agent: Any, server: ModelServer):
    """TU-22, TU-23: the agent's first model may be out of order; one that would not hear it is not asked."""
    first = agent.models[0]
    await everything(agent, replace(a_turn("I am Ann"), model="spare"))
    server.will(Refuse(401))
    await everything(agent, a_turn("Who am I?"))
    server.will(Say("The user is Ann."))
    assert await agent.compact("session-1")
    server.will(CONTEXT_OVERFLOW)
    await everything(agent, replace(a_turn("a whole book"), model="small"))
    await agent.compact("session-1")
    agent.forget("session-1")
    await everything(agent, a_turn("Hello"))
    asked = [request.body["model"] for request in server.requests]
    assert asked == ["spare", first, "spare", "small", "small", first]


async def test_what_a_compaction_gives_back_can_be_recalled(agent: Any, server: ModelServer):
    """TU-23: told of it again, as in the next process, the agent says the same to its model."""
    await everything(agent, a_turn("I am Ann"))
    server.will(Say("The user is Ann."))
    summary = await agent.compact("session-1")
    await everything(agent, a_turn("Who am I?"))
    agent.recall("session-1", (summary,))
    await everything(agent, a_turn("Who am I?"))
    before, after = server.requests[-2:]
    assert before.body["messages"] == after.body["messages"]


async def test_compaction_of_what_does_not_fit(agent: Any, server: ModelServer):
    """TU-23: by halves, the newest of them, until the model can read it."""
    for number in range(8):
        await everything(agent, a_turn(f"message {number}"))
    server.will(CONTEXT_OVERFLOW, CONTEXT_OVERFLOW, Say("Two messages."))
    assert await agent.compact("session-1")
    asked = [len(request.body["messages"]) for request in server.requests[-3:]]
    assert asked[0] > asked[1] > asked[2] > 1
    told = str(server.requests[-1].body["messages"])
    assert "message 7" in told
    assert "message 0" not in told
    server.will(*[CONTEXT_OVERFLOW] * 9)
    assert not await agent.compact("session-1")


async def test_a_question_that_is_too_long_does_not_stay(agent: Any, server: ModelServer):
    """TU-23: what the model could not read is not sent along with the next question; that one is answered."""
    await everything(agent, a_turn("I am Ann"))
    server.will(CONTEXT_OVERFLOW)
    await everything(agent, a_turn("a whole book"))
    await everything(agent, a_turn("Who am I?"))
    told = str(server.requests[-1].body["messages"])
    assert "I am Ann" in told
    assert "a whole book" not in told


FAILURES: list[tuple[Answer, FailureKind]] = [
    (Refuse(401), "auth"),
    (Refuse(402), "billing"),
    (Refuse(404), "model_not_found"),
    (Refuse(429, retry_after=3), "rate_limit"),
    (Refuse(500), "overloaded"),
    (Refuse(529), "overloaded"),
    (CONTEXT_OVERFLOW, "context_overflow"),
    (Break("Half an ans"), "unreachable"),
    (Break(), "unreachable"),
    (Garble("Half"), "format"),
    (FailMidway("Half"), "overloaded"),
]


@pytest.mark.parametrize(("answer", "kind"), FAILURES, ids=[f"{answer}"[:40] for answer, _ in FAILURES])
async def test_failures(agent: Any, server: ModelServer, answer: Answer, kind: FailureKind):
    """TU-22: each way a provider can fail is one Failed of its kind, and the next turn works."""
    server.will(answer)
    last = (await everything(agent))[-1]
    assert isinstance(last, Failed)
    assert last.kind == kind
    assert last.retry_after == (3 if kind == "rate_limit" else None)
    assert "sk-secret" not in last.detail
    assert isinstance((await everything(agent))[-1], Done)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_endpoint_that_is_down(kind: str):
    """TU-22: nobody listens: unreachable, and worth one retry."""
    async with ModelServer() as gone:
        pass
    agent = open_agent(kind, gone)
    (last,) = await everything(agent)
    assert isinstance(last, Failed)
    assert (last.kind, last.transient) == ("unreachable", True)
    assert gone.url.removeprefix("http://").split(":")[1] in last.detail
    await agent.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_kept_connection_that_was_closed_meanwhile(kind: str):
    """TU-22: a server that hangs up between two turns, without saying so, costs nobody an answer."""
    answered = 0
    handlers: list[asyncio.Task[None]] = []

    async def hang_up_after_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(cast(asyncio.Task[None], asyncio.current_task()))
        with suppress(asyncio.IncompleteReadError):
            while not writer.is_closing():
                await answer_once(reader, writer)
        writer.close()
        await writer.wait_closed()

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        await reader.readexactly(length)
        if answered == 1:
            answered += 1
            writer.close()
            return
        answered += 1
        dialect = DIALECTS["/v1/chat/completions" if kind == "openai" else "/v1/messages"]("m")
        body = dialect.start() + dialect.text("Hi") + dialect.end("stop")
        size = f"content-length: {len(body)}\r\n\r\n".encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + size + body)

    listener = await asyncio.start_server(hang_up_after_one, "127.0.0.1", 0)
    where = ModelServer()
    where.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    agent = open_agent(kind, where)
    for _ in range(2):
        assert text_of(await everything(agent)) == "Hi"
    assert answered == 3
    await agent.close()
    await asyncio.gather(*handlers)
    listener.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_hangs_up_at_once_is_asked_once(kind: str):
    """TU-22: one retry is the turn's to make, and it is one."""
    asked = 0

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        await reader.readuntil(b"\r\n\r\n")
        asked += 1
        writer.close()

    listener = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    where = ModelServer()
    where.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    agent = open_agent(kind, where)
    (last,) = await everything(agent)
    await agent.close()
    listener.close()
    assert isinstance(last, Failed)
    assert (last.kind, last.transient, asked) == ("unreachable", True, 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_address_that_is_none(kind: str):
    nowhere = ModelServer()
    nowhere.url = "not an address"
    agent = open_agent(kind, nowhere)
    (last,) = await everything(agent)
    await agent.close()
    assert isinstance(last, Failed)
    assert last.kind == "unreachable"


@pytest.mark.parametrize("kind", KINDS)
async def test_silence_ends_the_run(kind: str, server: ModelServer):
    """TU-20: a model that goes silent is given up after the idle timeout, and the connection with it."""
    agent = open_agent(kind, server)
    agent.take_limits(RunLimits(idle=0.05))
    server.will(Stall("Let me"))
    last = (await everything(agent))[-1]
    assert isinstance(last, Failed)
    assert last.kind == "timeout"
    await server.departed()
    await agent.close()
