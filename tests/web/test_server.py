"""The pages of a whole running gateway: chat, files, health, metrics, console, API (surface.md, Pages)."""

import asyncio
import sys
from types import SimpleNamespace

import msgspec
import pytest

from rejoinder.config.schema import ConfiguredAgent
from rejoinder.testing.patience import PATIENCE
from tests.web.running import running, settings


async def test_a_message_is_answered():
    """Written on the page, through the gateway, streamed back with deltas and kept."""
    async with running(settings((["Hel", 0.01, "lo **you**."],))) as site, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        await page.told("done", client="c1")
        await page.hears("Hello **you**.")
        await page.send(type="history", client="c2", room="helper~you")
        texts = [message["text"] for message in (await page.told("page"))["messages"]]
        assert texts == ["Hi", "Hello **you**."]


async def test_two_browsers():
    async with running(settings()) as site, site.page() as page, site.page("ann") as ann:
        await page.send(type="make_room", client="c1", title="Both")
        room = (await page.told("done"))["id"]
        await page.send(type="say", client="c2", room=room, text="Hi both")
        assert (await ann.told("message"))["message"]["text"] == "Hi both"
        await ann.hears("Hello.")
        await page.hears("Hello.")


async def test_a_file_goes_up_and_comes_down_as_an_attachment():
    """Whatever it is, a browser saves it and never runs it."""
    async with running(settings()) as site, site.page() as page:
        html = b"<script>alert(1)</script>"
        headers = {"X-Rejoinder": "1", "Content-Type": "text/html"}
        status, file = await site.post("/files?name=..%2F..%2Fevil%0d.html", data=html, headers=headers)
        assert status == 201
        assert file["name"] == "evil.html"
        await page.send(type="say", client="c1", room="helper~you", text="", files=[file["id"]])
        assert (await page.told("message"))["message"]["files"] == [file]
        async with site.http.get(site.url + file["url"]) as answer:
            assert await answer.read() == html
            assert answer.headers["content-disposition"].startswith("attachment;")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-type"] == "application/octet-stream"
            assert "sandbox" in answer.headers["content-security-policy"]
        assert (await site.get("/files/none"))[0] == 404


@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics", "/api/openapi.json", "/", "/login", "/v1/models"])
async def test_what_is_there(path):
    async with asyncio.timeout(PATIENCE), running(settings()) as site:
        while (await site.get("/ready"))[0] != 200:
            pass  # its channels are being opened
        status, body = await site.get(path)
        assert status == 200, body


async def test_health_counts_what_may_not_have_arrived_and_what_is_quarantined():
    """DU-3, DU-2: beside the problems of the gateway itself, which an answer of unknown fate is not."""
    async with asyncio.timeout(PATIENCE), running(settings()) as site:
        _, body = await site.get("/health")
        assert (body["unconfirmed"], body["not_delivered"], body["quarantined"]) == (0, 0, 0)


@pytest.mark.parametrize("path", ["/nowhere", "/static/none.css", "/files/none", "/console/more"])
async def test_what_is_not_there(path):
    """A person with a browser gets a page that leads back to the chat, a program JSON."""
    async with running(settings()) as site:
        status, page = await site.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert status == 404
        assert '<a href="/">' in page
        assert await site.get(path) == (404, {"error": "there is nothing here"})


async def test_metrics_count():
    async with running(settings()) as site, site.page(path="/console/socket") as console, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        await console.told("turn")
        text = (await site.get("/metrics"))[1]
        assert 'rejoinder_turns_total{agent="helper",outcome="answered"} 1.0' in text
        assert 'rejoinder_messages_received_total{channel="web"} 1.0' in text
        assert "rejoinder_web_sockets 1.0" in text
        assert 'rejoinder_channel_up{channel="web"} 1.0' in text


async def test_the_console_follows_a_message():
    """Live, with the end of its turn, and the figures of each second."""
    async with running(settings()) as site, site.page(path="/console/socket") as console, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        received = await console.told("received", text="Hi")
        decided = await console.told("decided", message=received["message"], outcome="turn")
        assert decided["steps"][0]["stage"] == "finalise"
        turn = await console.told("turn", message=received["message"])
        assert (turn["agent"], turn["outcome"]) == ("helper", "answered")
        assert turn["took"] > 0
        assert (await console.told("gauges"))["sockets"] == 1
        status, series = await site.get("/api/series")
        assert status == 200
        assert series["points"]
        async with site.page(path="/console/socket") as late:
            await late.told("received", text="Hi")


async def test_silence_is_no_answer_on_the_console_and_in_the_metrics():
    """The frame, the metrics and the recorded sentence say that the agent stayed silent; no answer is timed."""
    async with (
        running(settings(("<no-reply/>",))) as site,
        site.page(path="/console/socket") as console,
        site.page() as page,
    ):
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        turn = await console.told("turn")
        assert turn["outcome"] == "silent"
        while not (last := (await page.told("message"))["message"]).get("note"):
            pass
        assert last["text"] == "Helper chose to stay silent", "as the page calls it"
        metrics = (await site.get("/metrics"))[1]
        assert 'rejoinder_turns_total{agent="helper",outcome="silent"} 1.0' in metrics
        assert "rejoinder_answer_seconds_count 0.0" in metrics
        explained = (await site.get(f"/api/messages/{turn['message']}/trace"))[1]
        assert "read it and chose to stay silent" in explained["events"][0]["sentence"]


async def test_what_was_answered_together_ends_together_on_the_console(monkeypatch: pytest.MonkeyPatch):
    """Messages that came while the agent spoke are one turn; none of them stays at work for ever."""
    gate = asyncio.Event()

    async def patient(text: str) -> str:
        await gate.wait()
        return "Done."

    monkeypatch.setitem(sys.modules, "patient_agent", SimpleNamespace(answer=patient))
    agents = {"helper": ConfiguredAgent("python", {"call": "patient_agent:answer"})}
    site_settings = msgspec.structs.replace(settings(), agents=agents)
    async with running(site_settings) as site, site.page(path="/console/socket") as console, site.page() as page:
        for number, text in enumerate(("one", "two", "three")):
            await page.send(type="say", client=f"c{number}", room="helper~you", text=text)
            await page.told("done", client=f"c{number}")
        came = [await console.told("received", text=text) for text in ("one", "two", "three")]
        gate.set()
        for received in came:
            assert (await console.told("turn", message=received["message"]))["outcome"] == "answered"


async def test_an_ephemeral_answer_is_for_who_asked():
    """OD-51: the page can show a message to one person, so the directive is obeyed there."""
    async with running(settings(("[[ephemeral]]\nPsst.",))) as site, site.page() as page:
        await page.send(type="say", client="c1", room="helper~you", text="Hi")
        await page.hears("Psst.")
        shown = [frame["message"] for frame in page.frames if frame["type"] == "message"]
        assert [message["only_for"] for message in shown if message["author"] == "helper"] == ["you"]


async def test_a_stopped_server_lets_browsers_go():
    """They hear it at once, and come back when it is there again."""
    async with running(settings()) as site:
        page = await site.page().__aenter__()
    message = await page.socket.receive()
    assert message.data in (1001, 1012, None)
