"""`/api` does what its OpenAPI document says, whatever is asked of it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
import pytest_asyncio

from rejoinder.app import Gateway
from rejoinder.store.base import PairingRequest, PutPairingRequest
from rejoinder.store.sqlite.store import open_store
from rejoinder.web import traces
from rejoinder.web.api import ENDPOINTS
from rejoinder.web.openapi import openapi
from tests.web.running import Site, running, settings

MARK = {"X-Rejoinder": "1"}


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    async with running(settings()) as opened:
        yield opened


@pytest.mark.parametrize("path", [each.path for each in ENDPOINTS if each.method == "GET" and "{" not in each.path])
async def test_every_answer_is_as_described(site, path):
    async with site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        await page.hears("Hello.")
    status, body = await site.get(path)
    assert status == 200
    document = openapi("1", ENDPOINTS)
    schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(body, {**schema, "components": document["components"]})


@pytest.mark.parametrize("path", ["/api", "/api/openapi.json"])
async def test_it_describes_itself(site, path):
    status, body = await site.get(path)
    assert status == 200
    assert body["openapi"] == "3.1.0"
    assert set(body["paths"]) == {each.path for each in ENDPOINTS}


@pytest.mark.parametrize(
    ("method", "path", "sentence"),
    [
        ("GET", "/api/messages/w999/trace", "no message has the id or handle w999"),
        ("POST", "/api/outbox/7/retry", "no dead or unconfirmed part has the number 7"),
        ("POST", "/api/pairing/ABCDEFGH/approve", "no pairing request has the code ABCDEFGH"),
        ("GET", "/api/messages/%24a%2Fb/trace", "no message has the id or handle $a/b"),
        ("POST", "/api/outbox/7/drop", "no dead or unconfirmed part has the number 7"),
        ("POST", "/api/outbox/x/drop", "no dead or unconfirmed part has the number x"),
        ("POST", f"/api/outbox/{2**62 + 1}/retry", f"no dead or unconfirmed part has the number {2**62 + 1}"),
        ("POST", f"/api/outbox/{'9' * 5000}/retry", f"no dead or unconfirmed part has the number {'9' * 5000}"),
        ("POST", "/api/quarantine/turn/7/retry", "no turn 7 is quarantined"),
        ("POST", "/api/jobs/heartbeat%2Fada/run", "there is no job heartbeat/ada"),
        ("GET", "/api/nothing", "there is nothing here"),
    ],
)
async def test_what_is_not_there_is_said(site, method, path, sentence):
    async with site.http.request(method, site.url + path, headers=MARK) as answer:
        assert answer.status == 404
        assert await answer.json() == {"error": sentence}


async def test_a_stranger_is_let_in_while_their_code_is_valid(tmp_path, monkeypatch):
    """IN-11, SC-6: by the clock that the code was given out by, whatever this machine's says."""
    then, url = datetime(2020, 1, 1, tzinfo=UTC), f"sqlite:{tmp_path}/store.db"
    monkeypatch.setattr(Gateway, "now", lambda _: then)
    store = open_store(url)
    for code, seconds in (("ABCDEFGH", 60), ("HGFEDCBA", -60)):
        ends = then + timedelta(seconds=seconds)
        await store.write(PutPairingRequest(PairingRequest("telegram", "default", code, code, then, then, ends)))
    await store.close()
    async with running(settings(store=url)) as site:
        statuses = [
            (await site.post(f"/api/pairing/{code}/approve", headers=MARK))[0] for code in ("ABCDEFGH", "HGFEDCBA")
        ]
    assert statuses == [200, 404]


async def test_the_outbox_tells_what_is_said(site):
    """DE-33: the operator reads the words of a part, not its bytes."""
    async with site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        await page.hears("Hello.")
    _, body = await site.get("/api/outbox?state=sent")
    assert "Hello." in [part["text"] for part in body["parts"]]


async def test_a_state_that_is_none_is_named(site):
    status, body = await site.get("/api/outbox?state=lost")
    assert status == 400
    assert body["error"].startswith("there is no state 'lost'; there are: planned")


async def test_schemathesis_finds_nothing(site, tmp_path):
    """Random requests by the document: no answer it does not tell of, no server error."""
    program = Path(sys.executable).with_name("schemathesis")
    options = ("--phases", "fuzzing", "--max-examples", "10", "--seed", "1", "--no-color", "--header", "X-Rejoinder: 1")
    process = await asyncio.create_subprocess_exec(
        program,
        "run",
        f"{site.url}/api/openapi.json",
        *options,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=tmp_path,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()[-4000:]


async def test_a_trace_tells_the_first_word_and_ends_in_a_sentence():
    """IN-64: when people saw the first word of the answer, not when all of it was sent; and what became of it all."""
    async with running(settings((["Hello ", 0.5, "there."],))) as site, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        said = (await page.told("done"))["id"]
        sentence = ""
        while not sentence.startswith("Answered by Helper in "):
            await asyncio.sleep(0.01)
            [event] = (await site.get(f"/api/messages/{said}/trace"))[1]["events"]
            sentence = event["sentence"]
    first, whole = event["steps"][-2:]
    assert (first["stage"], whole["stage"], whole["agent"]) == ("first word", "agent helper", "helper")
    assert first["took"] < whole["took"]


async def explained(site: Site, reference: str) -> list[tuple[str, str]]:
    """The chat and the words of each message that is shown for it."""
    status, body = await site.get(f"/api/messages/{reference}/trace")
    assert status == 200, body
    return [(event["chat"], event["text"]) for event in body["events"]]


async def test_a_message_is_explained_by_its_handle(monkeypatch):
    """OD-22, IN-64: each chat counts its messages, so there may be several; for an answer, the message it answers."""
    configured = settings(("Hello.", "Yes."), agents=("ada", "bee"))
    async with running(configured) as site, site.page(path="/console/socket") as console, site.page() as page:
        for chat, text in (("ada~you", "Hi, Ada"), ("bee~you", "Hi, Bee"), ("ada~you", "Are you there?")):
            await page.send(type="say", client=text, room=chat, text=text)
            await console.told("turn", outcome="answered")
        first = [("bee~you", "Hi, Bee"), ("ada~you", "Hi, Ada")]
        assert await explained(site, "m1") == first, "the latest first"
        assert await explained(site, "m2") == first, "the answers"
        assert await explained(site, "m3") == [("ada~you", "Are you there?")]
        assert (await site.get("/api/messages/m9/trace"))[0] == 404
        monkeypatch.setattr(traces, "MOST_CHATS", 1)
        status, body = await site.get("/api/messages/m1/trace")
    sentence = "name it by the platform's id, or run `rejoinder explain m1 --chat ID`"
    assert (status, body["error"]) == (409, f"more than 1 chats have a message m1; {sentence}")
