"""`POST /api/messages`: programs take part in chats, where their token says so."""

import asyncio
from contextlib import asynccontextmanager

import msgspec
import pytest
from msgspec.structs import replace

from rejoinder.config.load import read
from rejoinder.config.programs import ApiSettings, ApiToken
from rejoinder.programs import incoming
from rejoinder.secret import Secret
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from tests.conversations.agents import said
from tests.web.running import running, settings

TOKEN = "n8n-canary-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ROOM = "/api/messages"
JSON = {**BEARER, "Content-Type": "application/json"}
BODY = {"chat": "web:helper~you", "text": "x"}


def with_token(made, *chats, agents=("helper",)):
    token = ApiToken(token=Secret(TOKEN), chats=chats or ("web:helper~you",), agents=agents)
    return replace(made, api=ApiSettings({"n8n": token}))


def keyed(key):
    return {**BEARER, "Idempotency-Key": key}


async def test_a_program_speaks_to_an_agent_in_a_room():
    """IN-8: people see what it said, as a message of its own, and the agent answers it; a bot's words run nothing."""
    made = with_token(settings(("Noted.",) * 3, ("helper", "coder")), "web:lobby", agents=("coder",))
    async with running(made) as site, site.page() as page:
        status, answer = await site.post(ROOM, headers=BEARER, json={"chat": "web:lobby", "text": "/stop @helper"})
        assert (status, answer["chat"], answer["agent"]) == (200, "web:lobby", "coder")
        shown = (await page.told("message"))["message"]
        assert (shown["id"], shown["author"], shown["text"]) == (answer["id"], "api:n8n", "/stop @helper")
        await page.hears("Noted.")
        assert [frame["message"]["author"] for frame in page.frames if frame["type"] == "message"][1] == "coder"
        assert any(frame["type"] == "person" and frame["person"]["name"] == "n8n" for frame in page.frames), page.frames


async def test_the_same_key_is_the_same_message_after_a_restart_too(tmp_path):
    """IN-8: the second request gets the same answer, and nothing is said twice."""
    agent = ScriptedAgent("Once.", name="helper")
    made = with_token(settings(store=f"sqlite:{tmp_path}/store.db"))
    body = {"chat": "web:helper~you", "text": "The door is open."}
    async with running(made, agents={"helper": agent}) as site, site.page() as page:
        first = await asyncio.gather(
            *(site.post(ROOM, headers=keyed("door 1".replace(" ", "-")), json=body) for _ in range(5))
        )
        await page.hears("Once.")
    async with running(made, agents={"helper": agent}) as site:
        again = await site.post(ROOM, headers=keyed("door-1"), json=body)
        other = await site.post(ROOM, headers=keyed("door-1"), json={**body, "text": "The door is shut."})
    assert {status for status, _ in (*first, again)} == {200}
    assert len({msgspec.json.encode(answer) for _, answer in (*first, again)}) == 1
    assert other == (
        409,
        {"error": "this Idempotency-Key was used for another message; take a new key for a new message"},
    )
    assert [said(turn) for turn in agent.turns] == [["The door is open."]]


@pytest.mark.parametrize(
    ("status", "sentence", "more"),
    [
        (401, "this needs a valid token", {"headers": {}}),
        (
            401,
            "this needs a valid token",
            {"headers": {"Authorization": "Bearer wrong", "X-Rejoinder": "1"}},
        ),
        (401, "this needs a valid token", {"headers": {"Authorization": f"Basic {TOKEN}"}}),
        (
            403,
            "this token may not write in 'web:coder~you'; it may write in: web:helper~you",
            {"json": {**BODY, "chat": "web:coder~you"}},
        ),
        (403, "this token may not write in 'helper~you'", {"json": {**BODY, "chat": "helper~you"}}),
        (403, "this token may not use 'coder'", {"json": {**BODY, "agent": "coder"}}),
        (422, "this message is empty", {"json": {**BODY, "text": " \n"}}),
        (422, "this text is too long", {"json": {**BODY, "text": "x" * 100_001}}),
        (422, "The message this thread belongs to does not exist", {"json": {**BODY, "thread": "w1"}}),
        (
            400,
            "this cannot be read as a message: Object contains unknown field `as`",
            {"json": {**BODY, "as": "owner"}},
        ),
        (400, "this cannot be read as a message", {"data": b"{", "headers": JSON}),
        (400, "this cannot be read as a message", {"data": b"[" * 100_000, "headers": JSON}),
        (
            400,
            "this cannot be read as a message",
            {"data": b'{"chat":"web:helper~you","text":"\xff"}', "headers": JSON},
        ),
        (400, "an Idempotency-Key has 1 to 200", {"headers": keyed("a b"), "json": BODY}),
        (400, "an Idempotency-Key has 1 to 200", {"headers": keyed("k" * 201), "json": BODY}),
        (
            415,
            "send JSON",
            {"data": b'{"chat":"web:helper~you","text":"x"}', "headers": {**BEARER, "Content-Type": "text/plain"}},
        ),
        (413, "this is larger than", {"data": b"x" * (600 << 10), "headers": JSON}),
        (403, "this request comes from another site", {"headers": {**BEARER, "Origin": "http://elsewhere.example"}}),
    ],
)
async def test_what_is_refused_is_said(status, sentence, more, caplog):
    """IN-8, IN-12: on loopback, where nobody has to log in, a program still needs its token; refusals are sentences."""
    async with running(with_token(settings(agents=("helper", "coder")))) as site:
        answer = await site.post(ROOM, **{"headers": BEARER, **more})
    assert answer[0] == status
    assert answer[1]["error"].startswith(sentence)
    assert TOKEN not in caplog.text


async def test_a_key_that_is_used_for_two_messages_at_once_is_one_of_them():
    """IN-8: twenty requests at the same moment, half of them with other words: one message, the others are told why."""
    agent = ScriptedAgent("Once.", name="helper")
    async with running(with_token(settings()), agents={"helper": agent}) as site, site.page() as page:
        posts = (site.post(ROOM, headers=keyed("same"), json={**BODY, "text": f"t{n % 2}"}) for n in range(20))
        answers = await asyncio.gather(*posts)
        await page.hears("Once.")
        said = [
            frame for frame in page.frames if frame["type"] == "message" and frame["message"]["author"] == "api:n8n"
        ]
    assert sorted(status for status, _ in answers) == [200] * 10 + [409] * 10
    assert len({answer["id"] for status, answer in answers if status == 200}) == 1
    assert len(said) == 1
    assert len(agent.turns) == 1


async def test_a_program_has_no_other_right():
    """IN-12: its token opens neither the page nor the console, and the page's token says nothing as a program."""
    async with running(with_token(settings(host="0.0.0.0", token=Secret("page-token-123")))) as site:
        for path in ("/api/sessions", "/api/outbox", "/v1/models", "/api/messages/w1/trace"):
            assert (await site.get(path, headers=BEARER))[0] == 401
        body = BODY
        page = {"Authorization": "Bearer page-token-123"}
        assert (await site.post(ROOM, headers=page, json=body))[0] == 401
        assert (await site.post(ROOM, headers=BEARER, json=body))[0] == 200


async def test_a_program_that_writes_too_fast_waits(monkeypatch):
    monkeypatch.setattr(incoming, "AT_ONCE", 2)
    monkeypatch.setattr(incoming, "A_SECOND", 0.001)
    async with running(with_token(settings())) as site:
        body = BODY
        assert [(await site.post(ROOM, headers=keyed("k"), json=body))[0] for _ in range(3)] == [200, 200, 429]


# --- on another platform ----------------------------------------------------------------------------

ELSEWHERE = """
[gateway]
store = "sqlite::memory:"
[agents.ada]
kind = "tour"
[agents.bo]
kind = "tour"
[channels.web]
port = 0
agent = "ada"
[channels.telegram]
{here}
agents = ["ada", "bo"]
dm = "open"
allow_groups = ["{group}"]
[messages.queue]
debounce_ms = 0
[api.tokens.n8n]
token = "n8n-canary-0123456789"
chats = ["telegram:{group}", "telegram:{person}"]
agents = ["bo"]
"""


@asynccontextmanager
async def on_telegram(*agents):
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        group, person = platform.id_of("#team"), platform.id_of("ann")
        made = read(ELSEWHERE.format(here=platform.config(), group=group, person=person), "rejoinder.toml", {})
        async with running(made, agents={agent.name: agent for agent in agents}) as site:
            yield platform, site, group, person


async def test_only_the_answer_stands_in_a_chat_elsewhere():
    """IN-8, IN-25: the agent named takes it, in the session of the chat, and answers as to nobody's message."""
    ada, bo = ScriptedAgent("Hello.", name="ada"), ScriptedAgent("Noted.", "Yes: a door.", name="bo")
    async with on_telegram(ada, bo) as (platform, site, group, _):
        unknown = await site.post(ROOM, headers=BEARER, json={"chat": f"telegram:{group}", "text": "A door."})
        await platform.says("#team", "ann", "hello")
        await platform.hears("#team", "[ada] Hello.")
        status, _ = await site.post(ROOM, headers=BEARER, json={"chat": f"telegram:{group}", "text": "A door."})
        answer = await platform.hears("#team", "[bo] Noted.")
        await platform.says("#team", "ann", "@bo was there something?")
        await platform.hears("#team", "[bo] Yes: a door.")
    assert unknown[0] == 422
    assert unknown[1]["error"].endswith("write something there first")
    assert status == 200
    assert answer.reply_to is None
    assert len({turn.session for turn in bo.turns}) == 1
    assert '"is_bot": true' in str(bo.turns[0].parts) or '"is_bot":true' in str(bo.turns[0].parts)


async def test_in_a_direct_chat_it_is_the_persons_session():
    """IN-40: a program that writes in somebody's direct chat writes in their session."""
    ada, bo = ScriptedAgent(name="ada"), ScriptedAgent("Hi.", "Noted.", name="bo")
    async with on_telegram(ada, bo) as (platform, site, _, person):
        await platform.says("ann", "ann", "@bo hello")
        await platform.hears("ann", "[bo] Hi.")
        await site.post(ROOM, headers=BEARER, json={"chat": f"telegram:{person}", "text": "The post is here."})
        await platform.hears("ann", "[bo] Noted.")
    assert len({turn.session for turn in bo.turns}) == 1
