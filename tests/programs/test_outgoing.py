"""Hooks over HTTP: programs are told what happens, signed, in order, and whatever dies meanwhile."""

import asyncio
import base64
import json
import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from msgspec.structs import replace
from standardwebhooks import Webhook, WebhookVerificationError

from rejoinder.agents.base import Done, Failed, TextDelta
from rejoinder.app import Gateway
from rejoinder.config.programs import HookSettings
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Route, SessionStarted
from rejoinder.programs import outgoing, webhook_signatures
from rejoinder.programs.outgoing import WebhookSender
from rejoinder.runtime.tasks import Tasks
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.secret import Secret
from rejoinder.store.base import ClaimHookEvent, FreeHookEvents, HookEvent, PutHookEvents
from rejoinder.store.sqlite.store import SqliteStore, open_store
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from tests.web.running import running, settings

ROOT = Path(__file__).parents[2]
SECRET = "canary-secret-0123456789"
ALL = ("message_received", "session_started", "session_ended", "turn_ended", "reply_sent")


class Receiver:
    """A program that is told. `answers`: with which status, one after the other; the last one for ever."""

    def __init__(self) -> None:
        self.answers = [204]
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self._more = asyncio.Event()
        self.url = ""
        self.meanwhile = lambda: None

    async def take(self, request: web.Request) -> web.Response:
        self.requests.append((dict(request.headers), await request.read()))
        self._more.set()
        self.meanwhile()
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return web.Response(status=status, headers={"location": "http://127.0.0.1:1/"} if status == 302 else {})

    @property
    def events(self) -> list[dict]:
        return [json.loads(body) for _, body in self.requests]

    async def until(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(self.requests) < count:
                self._more.clear()
                await self._more.wait()


@asynccontextmanager
async def receiving():
    receiver, app = Receiver(), web.Application()
    app.router.add_post("/{secret}", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/canary-path"
    try:
        yield receiver
    finally:
        await runner.cleanup()


async def shown(site, holds):
    """What the console shows, once it shows this."""
    async with asyncio.timeout(PATIENCE):
        while True:
            hooks = {each["hook"]: each for each in (await site.get("/api/hooks"))[1]["hooks"]}
            if holds(hooks):
                return hooks


def hooked(made, url, events=ALL, **more):
    return replace(made, hooks={"log": HookSettings(url=url, secret=Secret(SECRET), events=events), **more})


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(outgoing, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(outgoing, "LONGEST_PAUSE", 0.1)
    monkeypatch.setattr(outgoing, "LOOK", 0.2)


async def test_a_program_is_told_what_happens(caplog):
    """IN-8: each event once, in order, with what it is about; verified by a library nobody here wrote."""
    async with receiving() as receiver, running(hooked(settings(), receiver.url)) as site, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        await page.hears("Hello.")
        await receiver.until(4)
    told = [event["event"] for event in receiver.events]
    assert told[:2] == ["message_received", "session_started"], told
    assert set(told) == {"message_received", "session_started", "reply_sent", "turn_ended"}
    by_name = {event["event"]: event["data"] for event in receiver.events}
    assert by_name["message_received"]["text"] == "Hi"
    assert by_name["message_received"]["sender"] == {"id": "you", "name": "You", "is_bot": False}
    assert (by_name["reply_sent"]["text"], by_name["reply_sent"]["chat"]) == ("Hello.", "helper~you")
    assert (by_name["turn_ended"]["outcome"], by_name["turn_ended"]["agent"]) == ("answered", "helper")
    for headers, body in receiver.requests:
        lower = {name.lower(): value for name, value in headers.items()}
        key = webhook_signatures.PREFIX + base64.b64encode(SECRET.encode()).decode()
        assert Webhook(key).verify(body.decode(), lower)["id"] == lower["webhook-id"]
        with pytest.raises(WebhookVerificationError):
            Webhook(key).verify(body.decode() + " ", lower)
        with pytest.raises(WebhookVerificationError):
            Webhook(key).verify(body.decode(), {**lower, "webhook-timestamp": str(int(lower["webhook-timestamp"]) + 1)})
    assert "canary" not in caplog.text


async def test_a_store_that_is_full_at_the_start_is_waited_for(monkeypatch):
    """DU-15: what is to be told is told once it has room again."""
    write, faults = SqliteStore.write, [StoreUnavailable("full", "rejoinder.db")]

    async def full_for_a_moment(store, verb, *others, **how):
        if isinstance(verb, FreeHookEvents) and faults:
            raise faults.pop()
        return await write(store, verb, *others, **how)

    monkeypatch.setattr(SqliteStore, "write", full_for_a_moment)
    async with receiving() as receiver, running(hooked(settings(), receiver.url)) as site, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        await page.hears("Hello.")
        await receiver.until(4)
    assert not faults


@pytest.mark.parametrize("status", [500, 429, 302, 307, 401, 404, 410])
async def test_what_is_not_taken_is_told_again_with_the_same_id(status, caplog):
    """IN-8: the same id and the same bytes; a redirect is not followed, and the log holds no address and no secret."""
    async with receiving() as receiver:
        receiver.answers = [status, status, 204]
        made = hooked(settings(), receiver.url, ("reply_sent",))
        async with running(made) as site, site.page() as page:
            await page.send(type="say", client="c1", room="helper~you", text="Hi")
            await receiver.until(3)
            await shown(site, lambda hooks: not hooks["log"]["waiting"])
    assert len({(headers["webhook-id"], body) for headers, body in receiver.requests}) == 1
    assert f"it answered {status}" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.parametrize("status", [302, 401, 403, 404, 410, 503])
async def test_while_an_address_takes_nothing_all_of_them_wait_in_order(status, monkeypatch):
    """IN-8: a receiver that is gone, moved or closed is asked now and then, not once for each event; what waited comes
    in the order in which it happened."""
    async with receiving() as receiver:
        receiver.answers = [status, status, 204]
        made = hooked(settings(("One.", "Two.")), receiver.url, ("message_received",))
        async with running(made) as site, site.page() as page:
            for each in ("a", "b"):
                await page.send(type="say", client=each, room="helper~you", text=each)
            await receiver.until(4)
    assert [event["data"]["text"] for event in receiver.events] == ["a", "a", "a", "b"]


async def test_one_that_is_refused_does_not_hold_up_the_next(monkeypatch):
    monkeypatch.setattr(outgoing, "FIRST_PAUSE", 0.5)
    async with receiving() as receiver:
        receiver.answers = [422, 204]
        made = hooked(settings(("One.", "Two.")), receiver.url, ("message_received",))
        async with running(made) as site, site.page() as page:
            for each in ("a", "b"):
                await page.send(type="say", client=each, room="helper~you", text=each)
            await receiver.until(3)
    assert [event["data"]["text"] for event in receiver.events] == ["a", "b", "a"]


async def test_a_dead_address_slows_no_chat_and_is_shown(monkeypatch):
    """IN-8: the answer comes though nobody takes the events; the console says how many wait, and why."""
    monkeypatch.setattr(outgoing, "TIMEOUT", 1.0)
    held: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}/"
    other = HookSettings(url="http://127.0.0.1:1/", secret=Secret(SECRET), events=("reply_sent",))
    async with running(hooked(settings(("Hello.",) * 20), url, other=other)) as site, site.page() as page:
        for each in range(20):
            await page.send(type="say", client=str(each), room="helper~you", text="Hi")
            await page.hears("Hello.")
        hooks = await shown(site, lambda hooks: all(each["error"] for each in hooks.values()))
    silent.close()
    for writer in held:
        writer.close()
        await writer.wait_closed()
    assert hooks["log"]["waiting"] >= 60
    assert hooks["other"]["waiting"] == 20
    assert hooks["other"]["error"].startswith("it cannot be reached")


HEADERS = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
HOSTILE = {
    "silent": (b"", b""),
    "drips": (b"HTTP/1.1 200 OK\r\n", b"x"),
    "drips headers": (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"),
    "huge header": (b"HTTP/1.1 200 OK\r\na: " + b"x" * 100_000, b"\r\n"),
    "no http": (b"220 mail.example ESMTP\r\n", b""),
    "endless": (HEADERS + b"content-length: 10000000000\r\n\r\n", b"x" * 65536),
    "bomb": (
        HEADERS + b"content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n5\r\n\x1f\x8b\x08\x00\x00\r\n",
        b"",
    ),
}
"""What a receiver answers: first this, then that again and again for as long as somebody listens."""


@pytest.mark.parametrize(("how", "error"), [*((how, how not in ("endless", "bomb")) for how in HOSTILE)])
async def test_a_hostile_receiver_costs_one_attempt(how, error, monkeypatch, caplog):
    """IN-8: whatever it answers, the attempt ends in its time, the chat is answered, and another hook is told at once.
    The status decides: what follows it is not read."""
    monkeypatch.setattr(outgoing, "TIMEOUT", 0.5)
    calls: list[tuple[asyncio.Task[None], asyncio.StreamWriter]] = []

    async def answer(reader, writer):
        first, then = HOSTILE[how]
        calls.append((asyncio.current_task(), writer))
        writer.write(first)
        with suppress(OSError):
            while not writer.is_closing():
                writer.write(then)
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    hostile = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    fine = HookSettings(url="", secret=Secret(SECRET), events=("turn_ended",))
    async with receiving() as receiver:
        made = hooked(settings(), hostile, ("turn_ended",), fine=replace(fine, url=receiver.url))
        async with running(made) as site, site.page() as page:
            await page.send(type="say", client="c1", room="helper~you", text="Hi")
            await page.hears("Hello.")
            await receiver.until(1)
            wanted = (lambda hook: hook["error"]) if error else (lambda hook: not hook["waiting"])
            shown_hooks = await shown(site, lambda hooks: "log" in hooks and calls and wanted(hooks["log"]))
    server.close()
    for _, writer in calls:
        writer.transport.abort()
    await asyncio.gather(*(task for task, _ in calls))
    assert bool(shown_hooks["log"]["error"]) is error
    assert not [record for record in caplog.records if record.exc_info]


async def test_after_a_day_it_is_given_up(tmp_path, monkeypatch):
    """IN-8: retried for 24 hours."""
    url = f"sqlite:{tmp_path}/store.db"
    store = open_store(url)
    day_old = datetime.now(UTC) - timedelta(hours=25)
    await store.write(PutHookEvents((HookEvent("log", "evt_1", "reply_sent", day_old, b"{}"),)))
    await store.close()
    async with receiving() as receiver:
        receiver.answers = [500]
        async with running(hooked(settings(store=url), receiver.url)) as site:
            await shown(site, lambda hooks: hooks["log"]["dead"])
    assert len(receiver.requests) == 1


async def test_an_event_belongs_to_one_process_however_wrong_its_clock_is():
    """SC-6: what another process is posting is not posted here by a clock that is hours ahead, and what happens here
    is dated by the store."""
    now = datetime(2026, 11, 1, tzinfo=UTC)
    store = open_store("sqlite::memory:", shards=4, lease_seconds=10.0, clock=lambda: now)
    for event in ("evt_theirs", "evt_ours"):
        await store.write(PutHookEvents((HookEvent("log", event, "reply_sent", now, event.encode()),)))
    assert await store.write(ClaimHookEvent("log", now, now + timedelta(seconds=30))) is not None
    agents, hours_ahead = {"helper": ScriptedAgent("Hello.", name="helper")}, now + timedelta(hours=2)
    async with (
        receiving() as receiver,
        Gateway(
            hooked(settings(), receiver.url), agents=agents, channels=(), store=store, clock=lambda: hours_ahead
        ) as gateway,
        Tasks() as tasks,
    ):
        await gateway.cluster_member.begin(tasks)
        tasks.start("hooks", WebhookSender(gateway, tasks.start).run())
        await receiver.until(1)
        gateway.hooks.tell(SessionStarted("s", "helper", Route("web", "helper~you")))
        await receiver.until(2)
    assert receiver.requests[0][1] == b"evt_ours"
    assert datetime.fromisoformat(json.loads(receiver.requests[1][1])["at"]) < hours_ahead - timedelta(hours=1)


def test_pauses_grow_to_a_quarter_of_an_hour(monkeypatch):
    monkeypatch.undo()
    assert [outgoing.pause_after(attempts) for attempts in (1, 2, 3, 8, 9, 1000)] == [5, 10, 20, 640, 900, 900]


CONFIGURATION = """
[agents.helper]
kind = "scripted"
script = "{script}"
[channels.web]
port = 0
agent = "helper"
[hooks.log]
url = "{url}"
secret = "canary-secret-0123456789"
events = ["message_received", "reply_sent", "turn_ended"]
"""


async def _gateway(folder: Path) -> tuple[asyncio.subprocess.Process, str]:
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("rejoinder"), "run", cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        while True:
            line = (await process.stdout.readline()).decode()
            assert line, "the gateway has not started"
            if line.startswith("The chat is at "):
                return process, line.removeprefix("The chat is at ").strip()


async def test_kill_9_loses_no_event_and_a_repeat_has_the_same_id(tmp_path):
    """IN-8: killed while the receiver has the event and has not answered: the next process tells it once more, under
    the same id, and all others too."""
    (tmp_path / "script.json").write_text('["One."]')
    async with receiving() as receiver, aiohttp.ClientSession() as http:
        text = CONFIGURATION.format(script=tmp_path / "script.json", url=receiver.url)
        (tmp_path / "rejoinder.toml").write_text(text)
        process, url = await _gateway(tmp_path)
        receiver.meanwhile = lambda: os.kill(process.pid, signal.SIGKILL)
        try:
            async with http.ws_connect(f"{url}/socket") as socket:
                await socket.send_json({"type": "hello", "protocol": 1, "name": ""})
                await socket.send_json({"type": "say", "client": "c1", "room": "helper~you", "text": "Hi"})
                await receiver.until(1)
            await process.wait()
            receiver.meanwhile = lambda: None
            process, _ = await _gateway(tmp_path)
            await receiver.until(4)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
    ids = [headers["webhook-id"] for headers, _ in receiver.requests]
    assert ids[1] == ids[0]
    assert len(set(ids)) == 3
    first, *others = [event["event"] for event in receiver.events[1:]]
    assert first == "message_received"
    assert set(others) == {"reply_sent", "turn_ended"}  # a turn that a crash interrupted is closed beside its delivery


class Slow:
    """Told to wait, it waits; told to fail, it fails; it can shorten its memory."""

    name = "helper"

    def __init__(self) -> None:
        self.waits = asyncio.Event()

    async def run(self, turn):
        told = "".join(part.text for part in turn.parts)
        if "wait" in told:
            self.waits.set()
            yield TextDelta("I was just")
            await asyncio.Event().wait()
        yield Failed("other", "no") if "fail" in told else TextDelta("Hello.")
        yield Done()

    async def compact(self, session, instructions=""):
        return True


@pytest.mark.parametrize(
    ("said", "outcomes"),
    [
        (("hello",), ["answered"]),
        (("fail",), ["failed"]),
        (("wait", "/stop"), ["cancelled"]),
        (("hello", "/compact"), ["answered", "answered"]),
    ],
)
async def test_the_end_of_a_turn_and_what_is_told_of_it_are_one_commit(said, outcomes, monkeypatch):
    """IN-8: a turn that was answered, failed, was stopped, or shortened the memory: kill -9 leaves both or neither."""
    commits: list[list[str]] = []

    async def write(batch, store, **how):
        commits.append([type(verb).__name__ for verb in batch._verbs])
        await written(batch, store, **how)

    written = WriteBatch.write
    monkeypatch.setattr(WriteBatch, "write", write)
    agent = Slow()
    async with (
        receiving() as receiver,
        running(hooked(settings(), receiver.url, ("turn_ended",)), agents={"helper": agent}) as site,
        site.page() as page,
    ):
        for number, text in enumerate(said):
            await page.send(type="say", client=f"c{number}", room="helper~you", text=text)
            if text == "wait":
                await agent.waits.wait()
            elif text == "hello":
                await page.hears("Hello.")
        await receiver.until(len(outcomes))
    assert [event["data"]["outcome"] for event in receiver.events] == outcomes
    ends = [verbs for verbs in commits if "EndRun" in verbs]
    assert len(ends) == len(outcomes)
    assert all("PutHookEvents" in verbs for verbs in ends)


async def test_a_turn_that_a_restart_interrupts_is_told_of_once_when_it_is_over(tmp_path):
    """IN-8: it runs again in the next process, so its end is that one's; nobody hears that it was cancelled."""
    made = settings(store=f"sqlite:{tmp_path / 'store.db'}")
    async with receiving() as receiver:
        configured = hooked(made, receiver.url, ("turn_ended",))
        slow = Slow()
        async with running(configured, agents={"helper": slow}) as site, site.page() as page:
            await page.send(type="say", client="c1", room="helper~you", text="wait")
            await slow.waits.wait()
        again = ScriptedAgent("Here it is.", name="helper")
        async with running(configured, agents={"helper": again}) as site:
            await receiver.until(1)
            await shown(site, lambda hooks: not hooks["log"]["waiting"])
    assert [event["data"]["outcome"] for event in receiver.events] == ["answered"]


async def test_the_receiver_of_the_docs_checks_and_prints(tmp_path):
    """examples/webhook_receiver.py takes what is genuine, once, and nothing else."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        ROOT / "examples" / "webhook_receiver.py",
        "0",
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "WEBHOOK_SECRET": SECRET},
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            port = (await process.stdout.readline()).decode().split()[-1]
            body = b'{"id":"evt_1","event":"reply_sent","at":"2026-11-17T12:00:00Z","data":{"text":"Hi"}}'
            now = int(datetime.now(UTC).timestamp())
            good = webhook_signatures.headers(SECRET, "evt_1", now, body)
            old, early = (webhook_signatures.headers(SECRET, "evt_1", now + skew, body) for skew in (-3600, 3600))
            late = webhook_signatures.headers(SECRET, "evt_1", now - 120, body)  # clocks differ by a minute or two
            strange = webhook_signatures.headers("another-secret-0123456789", "evt_1", now, body)
            statuses: list[int] = []
            async with aiohttp.ClientSession() as http:
                refused = ((strange, body), (old, body), (early, body), (good, body + b" "))
                for headers, said in (*refused, (late, body), (good, body)):
                    async with http.post(f"http://127.0.0.1:{port}/", data=said, headers=headers) as answer:
                        statuses.append(answer.status)
            assert statuses == [401, 401, 401, 401, 204, 204]
            assert (await process.stdout.readline()).decode() == 'reply_sent {"text": "Hi"}\n'
    finally:
        process.kill()
        rest = await process.stdout.read()
        await process.wait()
    assert rest == b""


def test_a_secret_may_be_written_as_standard_webhooks_has_it():
    """The same key, raw or as `whsec_` with base64, signs alike."""
    raw, coded = SECRET, webhook_signatures.PREFIX + base64.b64encode(SECRET.encode()).decode()
    assert webhook_signatures.headers(raw, "e", 1, b"x") == webhook_signatures.headers(coded, "e", 1, b"x")
