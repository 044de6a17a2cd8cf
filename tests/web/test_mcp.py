"""`/mcp`: an agent's tools, with the official client; the same gate and grants as directives."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from msgspec.structs import replace

from rejoinder.agents.acp.servers import MCP_TOKEN, MCP_URL, our_server
from rejoinder.agents.base import Done, TextDelta
from rejoinder.config.schema import DirectivesSettings
from rejoinder.testing.patience import PATIENCE
from rejoinder.web import bodies
from tests.web.running import running, settings


class Tooled:
    """An agent that works as an MCP client does: what it does with its tools is given."""

    name = "helper"

    def __init__(self, work) -> None:
        self.work = work
        self.source = None
        self.tokens: list[str] = []
        self.told: list[object] = []

    def take_tools(self, source) -> None:
        self.source = source

    async def run(self, turn):
        token = self.source.issue()
        self.source.bind(token, turn.session)
        self.tokens.append(token)
        said = await self.work(self.source.url, token, self.told)
        yield TextDelta(said or "Done.")
        yield Done()


@asynccontextmanager
async def client(url, token):
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as http,
        streamable_http_client(url, http_client=http) as (reading, writing, *_),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


def text(result):
    return result.content[0].text


async def converse(work, *, directives=(), during=None):
    agent = Tooled(work)
    made = replace(settings(), directives=DirectivesSettings(allow=directives))
    async with running(made, agents={"helper": agent}) as site, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        if during is not None:
            await during(page)
        await page.hears("Done.")
        frames = page.frames
        after = await site.post("/mcp", headers={"Authorization": f"Bearer {agent.tokens[0]}"}, json={})
    return agent, frames, after


async def test_an_agent_reacts_reads_and_looks_up():
    """OD-52, TU-35: through the official client, during the run; after it the token opens nothing."""

    async def work(url, token, told):
        async with client(url, token) as session:
            told.append({tool.name for tool in (await session.list_tools()).tools})
            told.append(text(await session.call_tool("react", {"emoji": "eyes"})))
            told.append(json.loads(text(await session.call_tool("read_history", {}))))
            told.append(json.loads(text(await session.call_tool("look_up_person", {"who": "you"}))))

    agent, frames, after = await converse(work)
    names, reacted, history, people = agent.told
    assert names == {"send_message", "react", "read_history", "look_up_person", "ask_human"}
    assert reacted == "done"
    assert [(each["text"], each["handle"], each["author"]) for each in history] == [("Hi", "m1", "you")]
    assert [(each["id"], each["is_bot"]) for each in people] == [("you", False)]
    assert any(frame["type"] == "reacted" and frame["reactions"][0]["emoji"] == "👀" for frame in frames)
    assert after[0] == 401


async def test_a_tool_has_no_right_that_a_directive_has_not():
    """OD-52: sending needs the operator's grant, and an unknown message is not reacted to."""

    async def work(url, token, told):
        async with client(url, token) as session:
            for name, arguments in (
                ("send_message", {"chat": "helper~bob", "text": "Hello"}),
                ("react", {"emoji": "eyes", "message": "m99"}),
                ("react", {"emoji": "no such emoji"}),
                ("react", {}),
                ("read_history", {"limit": 0}),
                ("look_up_person", {"who": "nobody"}),
                ("drop_tables", {}),
            ):
                result = await session.call_tool(name, arguments)
                told.append((result.is_error, text(result)))

    agent, _, _ = await converse(work)
    assert all(failed for failed, _ in agent.told)
    said = [words for _, words in agent.told]
    assert said[0] == "denied: it is not granted here"
    assert said[1] == "denied: there is no message 'm99' in this chat"
    assert said[2].startswith("failed: ")
    assert "needs emoji" in said[3]
    assert said[4] == "limit is a number from 1 to 50"
    assert said[5] == "nobody in this conversation is called 'nobody'"
    assert said[6].startswith("there is no tool drop_tables; there are: send_message")


async def test_with_a_grant_it_sends_where_the_agent_may():
    """OD-52: to a chat that somebody it serves is in; a chat it made up is refused."""

    async def work(url, token, told):
        async with client(url, token) as session:
            for chat in ("helper~you", "room-nobody-made"):
                result = await session.call_tool("send_message", {"chat": chat, "text": "A word."})
                told.append(text(result))

    agent, frames, _ = await converse(work, directives=("send_message",))
    assert agent.told[0] == "done"
    assert agent.told[1].startswith("denied: ")
    assert any(frame["type"] == "message" and frame["message"]["text"] == "A word." for frame in frames)


async def test_a_human_is_asked_and_answers():
    """TU-34: the person who asked for the run sees the question with its buttons, and the agent gets the answer."""

    async def work(url, token, told):
        async with client(url, token) as session:
            told.append(text(await session.call_tool("ask_human", {"question": "Which?", "options": ["Red", "Blue"]})))

    async def press(page):
        asked = await page.asked()
        blue = next(choice for choice in asked["choices"] if "Blue" in choice["label"])
        await page.send(type="press", client="c2", message=asked["id"], says=blue["says"])

    agent, _, _ = await converse(work, during=press)
    assert agent.told == ["Blue"]


async def test_a_sub_agent_asks_and_reads_where_it_works_for():
    """TU-36: by its name, in the chat of who started it; its token sends nothing and reacts to nothing, with a grant
    too."""

    async def work(url, token, told):
        if told:  # the turn of who started it
            return
        async with client(url, token) as session:
            for name, arguments in (
                ("react", {"emoji": "eyes"}),
                ("send_message", {"chat": "helper~you", "text": "x"}),
            ):
                told.append(text(await session.call_tool(name, arguments)))
            history = json.loads(text(await session.call_tool("read_history", {})))
            told.append([each["text"] for each in history if each["author"] == "you"])
            told.append(text(await session.call_tool("ask_human", {"question": "Which?", "options": ["Red", "Blue"]})))

    agent = Tooled(work)
    made = replace(settings(), directives=DirectivesSettings(allow=("send_message",)))
    async with running(made, agents={"helper": agent}) as site, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="/subagents spawn helper look around")
        asked = await page.asked()
        red = next(choice for choice in asked["choices"] if "Red" in choice["label"])
        await page.send(type="press", client="c2", message=asked["id"], says=red["says"])
        await page.hears("Done.")
    assert asked["text"].startswith("helper-1 asks: Which?")
    not_acted_on = "denied: a sub-agent's directives are not acted on"
    assert agent.told == [not_acted_on, not_acted_on, ["/subagents spawn helper look around"], "Red"]
    assert not any(frame["type"] == "reacted" for frame in page.frames)


async def test_tokens_of_others_open_nothing():
    """A token is one session's, and only while it runs: neither a made-up one nor the page's opens the tools."""

    async def work(url, token, told):
        async with httpx2.AsyncClient() as http:
            for bearer in ("", "wrong", token[:-1], token + "x"):
                headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
                told.append((await http.post(url, headers=headers, json={})).status_code)
            genuine = {"Authorization": f"Bearer {token}"}
            told.append(
                (await http.post(url, headers={**genuine, "Origin": "http://evil.example"}, json={})).status_code
            )

    agent, _, _ = await converse(work)
    assert agent.told == [401, 401, 401, 401, 403]


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
AS_JSON = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
BODY = json.dumps(INITIALIZE).encode()
A_MEGABYTE = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"


def sized(body, headers=AS_JSON):
    return f"{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body


ODD = {
    "well": (sized(BODY), 200),
    "a body that does not come": (f"{AS_JSON}Content-Length: 900\r\n\r\n".encode() + BODY[:10], 408),
    "announced too large": (f"{AS_JSON}Content-Length: {10**10}\r\n\r\n".encode() + BODY, 413),
    "in pieces too large": (f"{AS_JSON}Transfer-Encoding: chunked\r\n\r\n".encode() + A_MEGABYTE * 5, 413),
    "no JSON, it says": (sized(BODY, AS_JSON.replace("Type: application/json", "Type: text/plain")), 400),
    "takes no JSON": (sized(BODY, "Accept: image/png\r\nContent-Type: application/json\r\n"), 406),
    "no JSON": (sized(b"{"), 400),
    "deep": (sized(b"[" * 100_000), 400),
    "not UTF-8": (sized(b'{"jsonrpc":"2.0","id":1,"method":"\xff"}'), 400),
    "half an emoji": (sized(b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}'), 400),
    "several at once": (sized(json.dumps([INITIALIZE]).encode()), 400),
    "nothing": (sized(b"null"), 400),
    "an unknown method": (sized(b'{"jsonrpc":"2.0","id":1,"method":"x/y"}'), 200),
    "arguments that are a list": (
        sized(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"react","arguments":[]}}'),
        200,
    ),
    "another protocol": (sized(BODY, f"{AS_JSON}mcp-protocol-version: 1\r\n"), 400),
}
"""What is sent behind the token, and with which status it is answered."""


async def test_whatever_is_sent_is_answered_in_order(monkeypatch, caplog):
    """Slow, huge, of another type, or nonsense: a status, no traceback, and the tools go on working."""
    monkeypatch.setattr(bodies, "PAUSE", 0.3)

    async def work(url, token, told):
        host, port = url.removeprefix("http://").partition("/")[0].split(":")
        for how, (said, _) in ODD.items():
            reader, writer = await asyncio.open_connection(host, int(port))
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
            writer.write(head.encode() + said)
            async with asyncio.timeout(PATIENCE):
                told.append((how, int((await reader.readline()).split()[1])))
            writer.transport.abort()
        async with client(url, token) as session:
            told.append(text(await session.call_tool("react", {"emoji": "eyes"})))

    agent, _, _ = await converse(work)
    assert agent.told == [*((how, status) for how, (_, status) in ODD.items()), "done"]
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_session_has_one_token():
    """One that was handed over before, to a process that is gone, opens nothing once the session has another."""
    answers = []

    async def work(url, token, told):
        told.append(token)
        async with httpx2.AsyncClient() as http:
            for each in told:
                asked = await http.post(url, headers={"Authorization": f"Bearer {each}"}, json={})
                answers.append(asked.status_code)

    agent = Tooled(work)
    async with running(settings(), agents={"helper": agent}) as site, site.page() as page:
        for number in range(2):
            await page.send(type="say", client=f"c{number}", room="helper~you", text="Hi")
            await page.hears("Done.")
    assert len(set(agent.tokens)) == 2
    assert answers == [400, 401, 400]


async def test_nothing_is_held_open():
    """There is no stream that could outlive the run whose token opened it, and no session to end."""

    async def work(url, token, told):
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            for method in ("GET", "DELETE", "PUT"):
                told.append((await http.request(method, url, headers={"Accept": "text/event-stream"})).status_code)

    agent, _, after = await converse(work)
    assert agent.told == [405, 405, 405]
    assert after[0] == 401


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("nosuch", {}, "there is no tool nosuch"),
        ("react", {}, "it needs emoji"),
        ("react", {"emoji": 5}, "is not an emoji"),
        ("react", {"emoji": "eyes", "message": "a\r\nX: b"}, "a message id or handle has"),
        ("read_history", {"limit": 10**30}, "limit is a number from 1 to 50"),
        ("look_up_person", {"id": "../../etc"}, "who is missing"),
        ("ask_human", {"question": "q" * 300_000}, "at most 2000 characters"),
    ],
)
async def test_what_makes_no_sense_is_said_to_the_agent(name, arguments, says, caplog):
    """A sentence it can act on, and nothing happens."""

    async def work(url, token, told):
        async with client(url, token) as session:
            result = await session.call_tool(name, arguments)
            told.append((result.is_error, text(result)))

    agent, frames, _ = await converse(work)
    ((failed, told),) = agent.told
    assert failed
    assert says in told
    assert not any(frame["type"] == "reacted" for frame in frames)


async def test_a_token_does_not_reach_into_another_session():
    """Rule 2 of the toolbox: what a session's token reads is that session's conversation."""
    both = asyncio.Barrier(2)

    async def work(url, token, told):
        await both.wait()
        async with client(url, token) as session:
            told.append([each["text"] for each in json.loads(text(await session.call_tool("read_history", {})))])
            await both.wait()

    agent = Tooled(work)
    async with running(settings(), agents={"helper": agent}) as site, site.page() as mine, site.page("bob") as bobs:
        await mine.send(type="say", client="c1", room="helper~you", text="mine")
        await bobs.send(type="say", client="c1", room="helper~bob", text="bob's")
        await mine.hears("Done.")
        await bobs.hears("Done.")
    assert sorted(agent.told) == [["bob's"], ["mine"]]


async def test_rejoinder_mcp_brings_them_to_pipes():
    """`rejoinder mcp`, as an agent without HTTP is told to start it."""

    async def work(url, token, told):
        said = our_server(url, token, over_http=False)
        env = {each["name"]: each["value"] for each in said["env"]}
        assert set(env) == {MCP_URL, MCP_TOKEN}
        started = StdioServerParameters(command=said["command"], args=said["args"], env=env)
        async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            told.append({tool.name for tool in (await session.list_tools()).tools})
            told.append(text(await session.call_tool("react", {"emoji": "eyes"})))
            denied = await session.call_tool("send_message", {"chat": "helper~bob", "text": "Hello"})
            told.append((denied.is_error, text(denied)))

    agent, _, _ = await converse(work)
    assert len(agent.told[0]) == 5
    assert agent.told[1:] == ["done", (True, "denied: it is not granted here")]


@pytest.mark.parametrize("variables", [{}, {MCP_URL: "http://127.0.0.1:1/mcp"}])
async def test_rejoinder_mcp_says_what_it_is_for(variables):
    program = "from rejoinder.cli import main; main()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, "mcp", env=variables, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    assert process.returncode == 2
    assert b"REJOINDER_MCP_URL and REJOINDER_MCP_TOKEN are not set" in said
