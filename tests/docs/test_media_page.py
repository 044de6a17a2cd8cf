"""The three recipes of docs/media.md run as they stand there: a spoken question is heard, and the answer is spoken.

Changed are only addresses, keys, the folder of the scripts, who may write, and which agent answers.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web

from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import read
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from rejoinder.wiring.opening import open_channels
from tests.conversations.agents import said
from tests.peers import python_with
from tests.speech import SENTENCE, converted, recognised, recogniser, spoken, words
from tests.web.running import running

TEXT = (Path(__file__).parents[2] / "docs" / "media.md").read_text("utf-8")
RECIPES = TEXT.partition("## Three recipes")[2]
KEY = "sk-of-a-test-0123456789"
AGENT = '[gateway]\nstore = "sqlite::memory:"\n[agents.scripted]\nkind = "tour"\n[messages.queue]\ndebounce_ms = 0\n'


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", RECIPES, re.M | re.S)


LOCAL, SERVICE, SCRIPTS = blocks("toml")


@pytest.fixture(autouse=True, scope="module")
def programs() -> None:
    """What is installed when it is first needed is installed before anything has a time limit."""
    recogniser()
    spoken()


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    """`/opt/voice`, with the scripts of the page."""
    for script in (*blocks("python"), *blocks("sh")):
        path = tmp_path / re.search(r"^# /opt/voice/(\S+)$", script, re.M)[1]
        path.write_text(script)
        path.chmod(0o700)
    return tmp_path


@asynccontextmanager
async def telegram(recipe: str, agent: ScriptedAgent, **values: str) -> AsyncIterator[FakePlatform]:
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        token = 'token = "${TELEGRAM_TOKEN}"\n'
        assert token in recipe
        here = f'{platform.config()}owners = ["{platform.id_of("ann")}"]\n'
        settings = read(f"{AGENT}{recipe.replace(token, here)}", "rejoinder.toml", values)
        made = Gateway(settings, agents={"scripted": agent}, channels=open_channels(settings), store=MEMORY)
        async with made as gateway:
            serving = asyncio.create_task(gateway.serve())
            yield platform
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def is_asked_and_answered_by_voice(recipe: str, folder: Path, **values: str) -> None:
    agent = ScriptedAgent(SENTENCE.capitalize())
    async with telegram(recipe, agent, **values) as platform:
        await platform.says("ann", "ann", "", voice=(spoken(), 3))
        await platform.truth.until(lambda: bool(platform.people.methods.sent))
        (note,) = platform.people.methods.sent.values()
        sent = next(call for call in platform.truth.calls if call.name == "sendVoice")
    assert words(said(agent.turns[0])[-1]) == words(SENTENCE)
    assert note.file.content[:4] == b"OggS"
    assert words(recognised(note.file.content, folder)) == words(SENTENCE)
    assert int(sent.payload["duration"]) in (2, 3)


async def test_local_programs_only(voice: Path) -> None:
    """ME-1, ME-2: nothing but programs of this machine."""
    recipe = LOCAL.replace("/opt/voice/bin/python", str(python_with("pocketsphinx")))
    await is_asked_and_answered_by_voice(recipe.replace("/opt/voice", str(voice)), voice)


@asynccontextmanager
async def openai(folder: Path) -> AsyncIterator[str]:
    """A service that takes what OpenAI's own takes and nothing else; it hears and speaks by real programs."""

    def is_ours(request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            raise web.HTTPUnauthorized(text=json.dumps({"error": {"message": "Incorrect API key provided"}}))

    async def transcriptions(request: web.Request) -> web.Response:
        is_ours(request)
        assert request.content_type == "multipart/form-data"
        form = await request.post()
        assert {*form} == {"file", "model", "response_format"}
        assert (form["model"], form["response_format"]) == ("whisper-1", "json")
        assert Path(form["file"].filename).suffix in (".flac", ".mp3", ".mp4", ".m4a", ".ogg", ".wav", ".webm")
        heard = await asyncio.to_thread(recognised, form["file"].file.read(), folder)
        return web.json_response({"text": heard})

    async def speech(request: web.Request) -> web.Response:
        is_ours(request)
        assert request.content_type == "application/json"
        asked = await request.json()
        assert {*asked} <= {"model", "input", "voice", "response_format", "speed", "instructions"}
        assert asked["model"] in ("tts-1", "tts-1-hd", "gpt-4o-mini-tts")
        assert asked["voice"] in ("alloy", "echo", "fable", "onyx", "nova", "shimmer")
        assert asked["response_format"] in ("mp3", "opus", "aac", "flac", "wav", "pcm")
        assert 0 < len(asked["input"]) <= 4096
        made = await asyncio.to_thread(spoken, asked["input"], "wav")
        return web.Response(body=await asyncio.to_thread(converted, made, "ogg"), content_type="audio/ogg")

    app = web.Application(client_max_size=25 << 20)
    app.router.add_post("/v1/audio/transcriptions", transcriptions)
    app.router.add_post("/v1/audio/speech", speech)
    async with served(app) as url:
        yield f"{url}/v1"


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_one_api_key(tmp_path: Path) -> None:
    """ME-1, ME-2: one key for hearing and speaking."""
    async with openai(tmp_path) as url:
        recipe = SERVICE.replace("https://api.openai.com/v1", url)
        await is_asked_and_answered_by_voice(recipe, tmp_path, OPENAI_API_KEY=KEY)


async def test_own_scripts(voice: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ME-1, ME-2, ME-4: on the page; the script hears by a service, and what is in `<voice>` is spoken."""
    monkeypatch.setenv("no_proxy", "*")

    async def hear(request: web.Request) -> web.Response:
        return web.Response(text=await asyncio.to_thread(recognised, await request.read(), tmp_path))

    app = web.Application(client_max_size=25 << 20)
    app.router.add_post("/hear", hear)
    agent = ScriptedAgent(f"<actions><voice>{SENTENCE}</voice></actions>Here you are.")
    async with served(app) as url:
        ask = voice / "ask.py"
        ask.write_text(ask.read_text().replace("http://127.0.0.1:9000", url))
        recipe = SCRIPTS.replace("/opt/voice", str(voice)).replace("[channels.web]", "[channels.web]\nport = 0")
        async with running(read(f"{AGENT}{recipe}", "t", {}), agents={"scripted": agent}) as site, site.page() as page:
            upload = {"data": spoken(form="webm"), "headers": {"X-Rejoinder": "1", "Content-Type": "audio/webm"}}
            _, file = await site.post("/files?name=voice-message.webm", **upload)
            await page.send(type="say", client="1", room="scripted~you", text="", files=[file["id"]])
            while not (files := (frame := await page.told("message"))["message"].get("files")) or (
                frame["message"]["author"] == "you"
            ):
                pass
            async with site.http.get(site.url + files[0]["url"]) as answer:
                content = await answer.read()
    assert words(said(agent.turns[0])[-1]) == words(SENTENCE)
    assert (files[0]["name"], files[0]["mime"]) == ("voice.mp3", "audio/mpeg")
    assert words(recognised(content, tmp_path)) == words(SENTENCE)


def test_there_are_three() -> None:
    """Each with what it needs, and no script that no recipe names."""
    scripts = re.findall(r"^# (/opt/voice/\S+)$", RECIPES, re.M)
    assert scripts
    assert all(any(f'"{script}"' in recipe for recipe in (LOCAL, SERVICE, SCRIPTS)) for script in scripts)
