"""`/v1`: programs that speak OpenAI's or Anthropic's APIs talk to any agent of the house (surface.md, Pages)."""

import asyncio
import os
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from textwrap import dedent

import openai
import pytest
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents import openai as openai_agent
from rejoinder.agents.base import Done, Failed, TextDelta, Usage
from rejoinder.agents.scripted import ScriptedAgent
from rejoinder.config import schema
from rejoinder.events import PromptImage, PromptText
from rejoinder.runtime.session.completions import CompletionMessage, complete, turn_of
from rejoinder.secret import Secret
from rejoinder.testing import ModelServer
from rejoinder.testing.patience import PATIENCE, until
from tests.peers import CLIENTS, python_with
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


IMAGE = {"type": "image_url", "image_url": {"url": "http://x/y.png"}}
AUDIO = {"type": "input_audio", "input_audio": {"data": "aGk="}}
CALLS = {"type": "function", "function": {"name": "look", "parameters": {}}}


def user(content: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": content}]}


@pytest.mark.parametrize(
    ("path", "wrong", "param"),
    [
        ("chat/completions", {"messages": []}, "messages"),
        ("chat/completions", {"messages": [{"role": "system", "content": "x"}]}, "messages"),
        ("chat/completions", {"messages": [*ASK, {"role": "assistant", "content": "x"}]}, "messages"),
        ("chat/completions", {"messages": [*ASK, {"role": "tool", "content": "x"}]}, "messages"),
        ("chat/completions", {"n": 2}, "n"),
        ("chat/completions", {"tools": [CALLS]}, "tools"),
        ("chat/completions", {"response_format": {"type": "json_object"}}, "response_format"),
        ("chat/completions", user([IMAGE]), None),
        ("chat/completions", user([AUDIO]), None),
        ("responses", {"input": []}, "input"),
        ("responses", {"input": "Hi", "tools": [{"type": "web_search"}]}, "tools"),
        ("responses", {"input": "Hi", "previous_response_id": "resp_1"}, "previous_response_id"),
        ("responses", {"input": "Hi", "text": {"format": {"type": "json_schema"}}}, "text"),
        ("responses", {"input": [{"type": "function_call_output", "output": "x"}]}, None),
        ("messages", {"messages": []}, None),
        ("messages", {"messages": ASK, "tools": [{"name": "look", "input_schema": {}}]}, None),
        ("messages", user([{"type": "tool_result", "tool_use_id": "1"}]), None),
        ("messages", user([{"type": "image", "source": {"type": "url", "url": "http://x/y.png"}}]), None),
        ("messages", {"messages": "Hi"}, None),
    ],
)
async def test_what_would_change_the_answer_is_refused(path, wrong, param):
    """Tools, schemas, several answers, what cannot be read: never ignored in silence, and the agent is not asked."""
    body = {"model": "helper", "messages": ASK, **wrong}
    async with running(settings(("Hello.",))) as site:
        status, refusal = await site.post(f"/v1/{path}", json=body)
        assert status == 400
        assert refusal["error"].get("param") == param
        assert refusal["error"]["message"]
        body = {"model": "helper", "messages": ASK, "input": "Hi"}
        assert (await site.post(f"/v1/{path}", json=body))[0] == 200  # the first line of its script


@pytest.mark.parametrize(
    "odd",
    [{"a\r\nX-Evil: 1": 1}, {"日本": 1}, {"a\x00b": 1}, {"": 1}, {"x" * 100_000: 1}, {f"x{n}": 1 for n in range(5000)}],
    ids=["line break", "no ascii", "nul", "empty", "long", "many"],
)
@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
async def test_no_name_of_a_parameter_gets_into_the_headers_unread(path, odd, caplog):
    """What is ignored is named in a header: a name that cannot stand there is refused before the agent is asked."""
    agent = ScriptedAgent("Hello.", name="helper")
    body = {"model": "helper", "messages": ASK, "input": "Hi", **odd}
    async with running(settings(), agents={"helper": agent}) as site:
        status, refusal = await site.post(f"/v1/{path}", json=body)
    assert status == 400
    assert "unknown parameters are accepted" in refusal["error"]["message"]
    assert agent.turns == []
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
async def test_what_has_no_effect_is_named(path):
    body = {"model": "helper", "messages": ASK, "temperature": 0.2, "seed": 7, "top_p": None, "stream": False}
    if path == "responses":
        body["input"] = body.pop("messages")
    async with (
        running(settings(("Hello.",))) as site,
        site.http.post(f"{site.url}/v1/{path}", json=body) as answer,
    ):
        assert answer.status == 200
        assert answer.headers["x-rejoinder-ignored"] == "seed, temperature"


async def test_a_failure_is_an_error():
    """The sentence for people, whether it streams or not."""
    async with client() as ai:
        with pytest.raises(openai.InternalServerError, match="end of its script"):
            await ai.chat.completions.create(model="helper", messages=ASK)
        stream = await ai.chat.completions.create(model="helper", messages=ASK, stream=True)
        with pytest.raises(openai.APIError, match="end of its script"):
            _ = [chunk async for chunk in stream]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("path", "asked"), [("chat/completions", {}), ("responses", {"input": "Hi"}), ("messages", {"max_tokens": 9})]
)
async def test_a_failure_is_logged(path, asked, stream, caplog):
    async with running(settings(())) as site:
        body = {"model": "helper", "messages": ASK, "stream": stream, **asked}
        async with site.http.post(f"{site.url}/v1/{path}", json=body) as answer:
            await answer.read()
        assert "helper could not answer" in caplog.text


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


# --- who hangs up -----------------------------------------------------------------------------------


class Endless:
    """Says a word and goes on for ever, until it is stopped."""

    name = "helper"

    def __init__(self) -> None:
        self.asked, self.ended = asyncio.Event(), asyncio.Event()

    async def run(self, turn):
        self.asked.set()
        try:
            yield TextDelta("One moment. ")
            await asyncio.Event().wait()
        finally:
            self.ended.set()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
async def test_who_hangs_up_stops_the_agent(path, stream):
    """Whether the answer streams or not, and the caller is no failure."""
    agent = Endless()
    body = {"model": "helper", "messages": ASK, "input": "Hi", "stream": stream}
    async with running(settings(), agents={"helper": agent}) as site:
        asking = asyncio.create_task(site.post(f"/v1/{path}", json=body))
        async with asyncio.timeout(PATIENCE):
            await agent.asked.wait()
            asking.cancel()
            await agent.ended.wait()


# --- other programs ---------------------------------------------------------------------------------


class Moody:
    """Answers as it is asked to: it fails, or begins and goes on for ever, or is well."""

    name = "helper"

    def __init__(self) -> None:
        self.begun = self.ended = 0

    async def run(self, turn):
        asked = turn.parts[-1].text
        if "fail" in asked:
            yield Failed("other", "It is broken.")
            return
        if "for ever" in asked:
            self.begun += 1
            try:
                yield TextDelta("One moment. " * 20)
                await asyncio.Event().wait()
            finally:
                self.ended += 1
        for piece in WITH_DIRECTIVES[0]:
            yield TextDelta(piece)
        yield Done()


class Spoken(Struct, frozen=True):
    """What a program printed behind `>`; whom the model heard say what; how many answers it broke off."""

    lines: list[str]
    told: list[list[tuple[str, str]]]
    broken_off: int


async def spoken(script: str, *packages: str, token: str = "right") -> Spoken:
    """Lets a program of its own talk to us with these packages: to `helper`, which is moody, and to `model`."""
    python = await asyncio.to_thread(python_with, *packages)
    moody = Moody()
    async with ModelServer() as server:
        model = openai_agent.open_agent("model", openai_agent.Settings(base_url=server.openai_url, model="echo"))
        made = settings(agents=("helper", "model"), token=Secret(token))
        async with running(made, agents={"helper": moody, "model": model}) as site:
            with TemporaryDirectory() as home:
                here = {"HERE": f"{site.url}/v1", "ROOT": site.url, "KEY": token, "HOME": home, "LLM_USER_PATH": home}
                program = await asyncio.create_subprocess_exec(
                    python, "-c", dedent(COMMON + script), env={**os.environ, **here}, stdout=PIPE, stderr=PIPE
                )
                out, err = await program.communicate()
            await until(lambda: moody.begun == moody.ended, "the end of answers that nobody waits for")
    assert program.returncode == 0, err.decode()[-2000:]
    lines = [line.removeprefix("> ") for line in out.decode().splitlines() if line.startswith("> ")]
    told = [[(each["role"], each["content"]) for each in asked.body["messages"]] for asked in server.requests]
    return Spoken(lines, told, moody.begun)


COMMON = """
    import json, os, pathlib
    HERE, ROOT, KEY = os.environ["HERE"], os.environ["ROOT"], os.environ["KEY"]

    def user(text):
        return [{"role": "user", "content": text}]

    TALK = [*user("One?"), {"role": "assistant", "content": "1"}, *user("Two?")]
    TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}

    def problem(call, words):
        try:
            call()
        except Exception as raised:
            print(">", "told" if words in str(raised) else raised)
        else:
            print("> not told")
"""
ANTHROPIC = """
    import anthropic
    client = anthropic.Anthropic(base_url=ROOT, api_key=KEY, max_retries=0)
    ask = dict(model="helper", max_tokens=100, messages=user("Hi"))
    print(">", client.messages.create(**ask).content[0].text)
    with client.messages.stream(**ask, system="Be kind.") as stream:
        print(">", "".join(stream.text_stream))
    print(">", [model.id for model in client.models.list()])
    problem(lambda: client.messages.create(**{**ask, "model": "gpt"}), "no agent is called 'gpt'")
    wrong = anthropic.Anthropic(base_url=ROOT, api_key="wrong", max_retries=0)
    problem(lambda: wrong.messages.create(**ask), "log in first")
    tool = {"name": "look", "input_schema": {"type": "object"}}
    problem(lambda: client.messages.create(**ask, tools=[tool]), "agents here use their own tools")
    problem(lambda: client.messages.create(**{**ask, "messages": user("fail")}), "It is broken.")
    problem(lambda: [*client.messages.create(**{**ask, "messages": user("fail")}, stream=True)], "It is broken.")
    told = client.messages.with_raw_response.create(**ask, extra_body={"temperature": 0.2})
    print(">", told.headers["x-rejoinder-ignored"])
    client.messages.create(**{**ask, "model": "model", "messages": TALK}, system="Be kind.")
    list(client.messages.create(**{**ask, "model": "model", "messages": TALK}, system="Be kind.", stream=True))
    with client.messages.stream(**{**ask, "messages": user("for ever")}) as stream:
        next(iter(stream.text_stream))
"""
OPENAI = """
    import openai
    client = openai.OpenAI(base_url=HERE, api_key=KEY, max_retries=0)
    chat, responses = client.chat.completions, client.responses
    ask = dict(model="helper", messages=user("Hi"))
    print(">", chat.create(**ask).choices[0].message.content)
    print(">", "".join(piece.choices[0].delta.content or "" for piece in chat.create(**ask, stream=True)))
    print(">", responses.create(model="helper", input="Hi").output_text)
    events = responses.create(model="helper", input="Hi", stream=True)
    print(">", "".join(event.delta for event in events if event.type == "response.output_text.delta"))
    wrong = openai.OpenAI(base_url=HERE, api_key="wrong", max_retries=0)
    problem(lambda: wrong.chat.completions.create(**ask), "log in first")
    problem(lambda: chat.create(**ask, tools=[TOOL]), "agents here use their own tools")
    flat = {"type": "function", **TOOL["function"]}
    problem(lambda: responses.create(model="helper", input="Hi", tools=[flat]), "agents here use their own tools")
    problem(lambda: chat.create(model="helper", messages=user("fail")), "It is broken.")
    problem(lambda: [*chat.create(model="helper", messages=user("fail"), stream=True)], "It is broken.")
    problem(lambda: responses.create(model="helper", input="fail"), "It is broken.")
    print(">", chat.with_raw_response.create(**ask, temperature=0.2, seed=7).headers["x-rejoinder-ignored"])
    told = responses.with_raw_response.create(model="helper", input="Hi", temperature=0.2)
    print(">", told.headers["x-rejoinder-ignored"])
    talk = [{"role": "system", "content": "Be kind."}, *TALK]
    chat.create(model="model", messages=talk)
    list(chat.create(model="model", messages=talk, stream=True))
    responses.create(model="model", input=TALK, instructions="Be kind.")
    with chat.create(model="helper", messages=user("for ever"), stream=True) as stream:
        next(piece for piece in stream if piece.choices[0].delta.content)
    with responses.create(model="helper", input="for ever", stream=True) as stream:
        next(event for event in stream if event.type == "response.output_text.delta")
"""
LANGCHAIN = """
    from langchain_openai import ChatOpenAI
    for api in (True, False):
        given = dict(base_url=HERE, api_key=KEY, max_retries=0, use_responses_api=api)
        model = ChatOpenAI(model="helper", **given, include_response_headers=True, temperature=0.2)
        answer = model.invoke("Hi")
        print(">", answer.text)
        print(">", "".join(piece.text for piece in model.stream("Hi")))
        print(">", answer.response_metadata["headers"]["x-rejoinder-ignored"])
        problem(lambda: model.bind_tools([TOOL]).invoke("Hi"), "agents here use their own tools")
        problem(lambda: model.invoke("fail"), "It is broken.")
        problem(lambda: [*model.stream("fail")], "It is broken.")
        talk = [("system", "Be kind."), ("user", "One?"), ("assistant", "1"), ("user", "Two?")]
        ChatOpenAI(model="model", **given).invoke(talk)
        list(ChatOpenAI(model="model", **given).stream(talk))
        pieces = model.stream("for ever")
        next(piece for piece in pieces if piece.text)
        pieces.close()
"""
LITELLM = """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm
    ask = dict(messages=user("Hi"), api_key=KEY, num_retries=0)
    for model, base in (("openai/helper", HERE), ("anthropic/helper", ROOT)):
        print(">", litellm.completion(model=model, api_base=base, **ask).choices[0].message.content)
        pieces = litellm.completion(model=model, api_base=base, stream=True, **ask)
        print(">", "".join(piece.choices[0].delta.content or "" for piece in pieces))
"""
LLM = """
    home = pathlib.Path(os.environ["LLM_USER_PATH"])
    common = {"api_base": HERE, "api_key_name": "here", "supports_tools": True}
    models = [{"model_id": id, "model_name": name, **common} for id, name in (("here", "helper"), ("there", "model"))]
    (home / "extra-openai-models.yaml").write_text(json.dumps(models))
    (home / "keys.json").write_text(json.dumps({"here": KEY}))
    import llm

    def look() -> str:
        "Looks."
        return "x"

    model = llm.get_model("here")
    print(">", model.prompt("Hi", stream=False).text())
    print(">", "".join(model.prompt("Hi", temperature=0.2)))
    problem(lambda: model.prompt("Hi", tools=[look]).text(), "agents here use their own tools")
    problem(lambda: model.prompt("fail", stream=False).text(), "It is broken.")
    problem(lambda: model.prompt("fail").text(), "It is broken.")
    for stream in (False, True):
        talk = llm.get_model("there").conversation()
        talk.prompt("One?", system="Be kind.", stream=stream).text()
        talk.prompt("Two?", stream=stream).text()
    next(iter(model.prompt("for ever")))
"""
WELL, TOLD = "Well done!", "told"
TALK = [("system", "Be kind."), ("user", "One?"), ("assistant", "1"), ("user", "Two?")]
ECHOED = [[TALK[0], TALK[1]], [TALK[0], TALK[1], ("assistant", "One?"), ("user", "Two?")]]


@pytest.mark.xdist_group("python peers")
@pytest.mark.parametrize(
    ("script", "lines", "told", "broken_off"),
    [
        pytest.param(
            OPENAI, [WELL] * 4 + [TOLD] * 6 + ["seed, temperature", "temperature"], [TALK] * 3, 2, id="openai"
        ),
        pytest.param(
            ANTHROPIC,
            [WELL, WELL, "['helper', 'model']", *[TOLD] * 5, "max_tokens, temperature"],
            [TALK] * 2,
            1,
            id="anthropic",
        ),
        pytest.param(LANGCHAIN, [WELL, WELL, "temperature", *[TOLD] * 3] * 2, [TALK] * 4, 2, id="langchain-openai"),
        pytest.param(LITELLM, [WELL] * 4, [], 0, id="litellm", marks=pytest.mark.deep),  # its import alone takes long
        pytest.param(LLM, [WELL, WELL, *[TOLD] * 3], ECHOED * 2, 1, id="llm"),
    ],
)
async def test_programs_that_nobody_here_wrote(script, lines, told, broken_off):
    """With each client, and each API it speaks: an answer whole and streamed; with all but litellm a failure whole and
    streamed, tools refused, parameters without effect, who said what, and an agent that stops when one hangs up."""
    came = await spoken(script, *(("litellm",) if script is LITELLM else CLIENTS))
    assert came.lines == lines
    assert came.told == told
    assert came.broken_off == broken_off


async def test_the_responses_api():
    """With the openai package: whole and streamed, and the events are those it knows."""
    async with client(*WITH_DIRECTIVES, *WITH_DIRECTIVES) as ai:
        answer = await ai.responses.create(model="helper", input="Hi", instructions="Be kind.")
        assert (answer.status, answer.output_text) == ("completed", "Well done!")
        async with ai.responses.stream(model="helper", input=[{"role": "user", "content": "Hi"}]) as stream:
            kinds = [event.type async for event in stream]
            final = await stream.get_final_response()
        assert final.output_text == "Well done!"
        assert kinds[0] == "response.created"
        assert kinds[-1] == "response.completed"
        assert kinds.count("response.output_text.delta") > 1


async def test_a_failed_response():
    async with client() as ai:
        with pytest.raises(openai.InternalServerError, match="end of its script"):
            await ai.responses.create(model="helper", input="Hi")
        stream = await ai.responses.create(model="helper", input="Hi", stream=True)
        last = [event async for event in stream][-1]
        assert last.type == "response.failed"
        assert "end of its script" in last.response.error.message


# --- what the agent is told -------------------------------------------------------------------------


async def test_a_model_hears_who_said_what():
    """A conversation reaches a model agent with its roles, not as one message of the user."""
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "And now:"},
        {"role": "user", "content": "Two?"},
    ]
    async with ModelServer() as model:
        made = settings()
        agent = schema.ConfiguredAgent("openai", {"base_url": model.openai_url, "model": "echo", "api_key": "sk-here"})
        async with (
            running(replace(made, agents={"helper": agent})) as site,
            openai.AsyncOpenAI(base_url=f"{site.url}/v1", api_key="none", max_retries=0) as ai,
        ):
            await ai.chat.completions.create(model="helper", messages=said)
        asked = model.requests[-1].body["messages"]
    assert [each["role"] for each in asked] == ["system", "user", "assistant", "user"]
    assert [each["content"] for each in asked] == ["Be kind.", "One?", "1", "And now:\n\nTwo?"]


# --- the turn that is made of it --------------------------------------------------------------------


def test_the_whole_conversation_is_told():
    image = PromptImage("image/png", b"x")
    lines = (
        CompletionMessage("system", "Be kind."),
        CompletionMessage("user", "One?"),
        CompletionMessage("assistant", "1"),
        CompletionMessage("user", "Two?", (image,)),
    )
    turn = turn_of("s", lines)
    assert turn.system == "Be kind."
    said = "The conversation so far:\n\nuser: One?\n\nassistant: 1\n\nAnswer what comes now:\n\nTwo?"
    assert turn.parts == (PromptText(said), image)
    assert turn_of("s", (CompletionMessage("user", "One?"),)).parts == (PromptText("One?"),)


async def test_what_comes_of_it():
    agent = ScriptedAgent(["Hi", Usage(3, 4), Done()], ["<no-reply/>"], [Failed("other", "It failed.")])
    ask = (CompletionMessage("user", "Hi"),)
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

    pieces = complete(Slow(), (CompletionMessage("user", "Hi"),))
    await anext(pieces)
    await pieces.aclose()
    assert ended.is_set()
