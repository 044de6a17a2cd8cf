"""`/v1`: the openai package talks to any agent of the house (surface.md, Pages)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import openai
import pytest

from rejoinder.agents.base import Done, Failed, TextDelta, Usage
from rejoinder.agents.scripted import ScriptedAgent
from rejoinder.events import PromptImage, PromptText
from rejoinder.runtime.session.completions import Line, complete, turn_of
from rejoinder.secret import Secret
from tests.web.running import running, settings

ASK = [{"role": "user", "content": "Hi"}]
WITH_DIRECTIVES = (["[[reply", "_to:m1]]\n<actions><react emoji=", '"tada"/></actions>\nWell', " done!"],)


@asynccontextmanager
async def client(*replies: object) -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        running(settings(replies, agents=("helper", "coder"))) as site,
        openai.AsyncOpenAI(base_url=f"{site.url}/v1", api_key="none", max_retries=0) as opened,
    ):
        yield opened


async def test_every_agent_is_a_model():
    async with client() as ai:
        assert [model.id async for model in ai.models.list()] == ["helper", "coder"]
        assert (await ai.models.retrieve("coder")).id == "coder"


async def test_an_answer_without_directives():
    async with client(*WITH_DIRECTIVES) as ai:
        answer = await ai.chat.completions.create(model="helper", messages=ASK)
        assert answer.choices[0].message.content == "Well done!"
        assert answer.choices[0].finish_reason == "stop"


async def test_a_stream_without_directives():
    """Not one byte of a directive in any piece."""
    async with client(*WITH_DIRECTIVES) as ai:
        options = {"include_usage": True}
        stream = await ai.chat.completions.create(model="coder", messages=ASK, stream=True, stream_options=options)
        chunks = [chunk async for chunk in stream]
        pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
        assert "".join(pieces) == "Well done!"
        assert len(pieces) > 3
        assert chunks[-1].usage is not None
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"


async def test_an_unknown_model_is_named():
    async with client() as ai:
        with pytest.raises(openai.NotFoundError, match="no agent is called 'gpt'; there are: helper, coder"):
            await ai.chat.completions.create(model="gpt", messages=ASK)


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": []},
        {"messages": [{"role": "system", "content": "x"}]},
        {"n": 2},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "aGk="}}]}]},
    ],
)
async def test_a_wrong_request_is_refused(wrong):
    async with client("Hello.") as ai:
        with pytest.raises(openai.BadRequestError):
            await ai.chat.completions.create(**{"model": "helper", "messages": ASK, **wrong})


async def test_a_failure_is_an_error():
    """The sentence for people, whether it streams or not."""
    async with client() as ai:
        with pytest.raises(openai.InternalServerError, match="end of its script"):
            await ai.chat.completions.create(model="helper", messages=ASK)
        stream = await ai.chat.completions.create(model="helper", messages=ASK, stream=True)
        with pytest.raises(openai.APIError, match="end of its script"):
            _ = [chunk async for chunk in stream]


@pytest.mark.parametrize(
    ("path", "how", "status", "code"),
    [
        ("chat/completions", {"data": b"{"}, 400, None),
        ("chat/completions", {"headers": {"Authorization": "Bearer wrong"}}, 401, "invalid_api_key"),
        ("chat/completions", {"headers": {"Origin": "http://evil.example"}}, 403, None),
        ("chat/completions", {"headers": {"Host": "evil.example"}}, 421, None),
        ("embeddings", {"data": b"{}"}, 404, None),
        ("models", {"data": b"{}"}, 405, None),
    ],
)
async def test_every_refusal_has_the_shape_that_clients_know(path, how, status, code):
    """Whoever refuses: what is asked for, its size, the key, the guard in front of it all."""
    async with running(settings(token=Secret("right"))) as site:
        headers = {"Authorization": "Bearer right", **how.pop("headers", {})}
        answered, body = await site.post(f"/v1/{path}", headers=headers, **how)
    assert answered == status
    assert body["error"].keys() == {"message", "type", "param", "code"}
    assert (body["error"]["type"], body["error"]["code"]) == ("invalid_request_error", code)
    assert body["error"]["message"]


async def test_a_picture_may_be_large():
    """As large as a file that somebody sends in the chat."""
    picture = "data:image/png;base64," + "A" * (6 << 20)
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": picture}}]
    async with client("A cat.") as ai:
        answer = await ai.chat.completions.create(model="helper", messages=[{"role": "user", "content": content}])
        assert answer.choices[0].message.content == "A cat."


# --- the turn that is made of it --------------------------------------------------------------------


def test_the_whole_conversation_is_told():
    image = PromptImage("image/png", b"x")
    lines = (Line("system", "Be kind."), Line("user", "One?"), Line("assistant", "1"), Line("user", "Two?", (image,)))
    turn = turn_of("s", lines)
    assert turn.system == "Be kind."
    said = "The conversation so far:\n\nuser: One?\n\nassistant: 1\n\nAnswer what comes now:\n\nTwo?"
    assert turn.parts == (PromptText(said), image)
    assert turn_of("s", (Line("user", "One?"),)).parts == (PromptText("One?"),)


async def test_what_comes_of_it():
    agent = ScriptedAgent(["Hi", Usage(3, 4), Done()], ["<no-reply/>"], [Failed("other", "It failed.")])
    ask = (Line("user", "Hi"),)
    assert [piece async for piece in complete(agent, ask)] == ["Hi", Usage(3, 4)]
    assert [piece async for piece in complete(agent, ask)] == []
    assert [piece async for piece in complete(agent, ask)] == [Failed("other", "It failed.")]


async def test_who_hangs_up_ends_the_run():
    ended = asyncio.Event()

    class Slow:
        name = "slow"

        async def run(self, turn):
            try:
                yield TextDelta("One moment. " * 20)
                await asyncio.Event().wait()
            finally:
                ended.set()

    pieces = complete(Slow(), (Line("user", "Hi"),))
    await anext(pieces)
    await pieces.aclose()
    assert ended.is_set()
