"""`rejoinder doctor`: each thing is fine, or it is said what to do."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web
from typer.testing import CliRunner

from rejoinder.channels.slack.intake import TROUBLE
from rejoinder.channels.slack.missing_events import NO_EVENTS
from rejoinder.cli.commands import app
from rejoinder.config.load import read
from rejoinder.programs import doctor
from rejoinder.runtime.inlet import PLACE
from rejoinder.store.base import (
    Accept,
    ClaimHookEvent,
    Deployment,
    EndHookEvent,
    HookEvent,
    MoveCursor,
    ProcessState,
    PutHookEvents,
    QuarantineEvent,
    RetryHookEvent,
    StoredCursor,
)
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing import FakePlatform
from rejoinder.testing.ports import free_port
from tests.cli.a_store import ANNA, received

FAKE_AGENT = str(Path(__file__).parents[1] / "agents" / "fake_acp_agent.py")


async def findings(text: str, store: str = "sqlite::memory:") -> dict[str, doctor.Finding]:
    settings = read(f'[gateway]\nstore = "{store}"\n{text}', "x.toml", {})
    return {each.what: each async for each in doctor.examined(settings)}


async def found(text: str, what: str, store: str = "sqlite::memory:") -> tuple[bool, str]:
    each = (await findings(text, store))[what]
    return each.ok, each.found


# --- agents ---------------------------------------------------------------------------------------


@asynccontextmanager
async def endpoint(status: int, body: object) -> AsyncIterator[str]:
    async def models(_: web.Request) -> web.Response:
        return web.json_response(body, status=status)

    site = web.Application()
    site.router.add_get("/v1/models", models)
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def model(kind: str, url: str) -> str:
    base = f"{url}/v1" if kind == "openai" else url
    return f'[agents.a]\nkind = "{kind}"\nmodel = "m"\nbase_url = "{base}"\napi_key = "canary"\n'


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("status", "body", "ok", "words"),
    [
        (200, {"data": [{"id": "m"}]}, True, "the endpoint accepts the key and serves m"),
        (200, {"data": [{"id": "n"}]}, True, "the endpoint accepts the key; m is not among the 1 models it lists"),
        (200, [], True, "the endpoint accepts the key and serves m"),
        (404, {}, True, "the endpoint answers, but has no list of models"),
        (401, {"error": {"message": "Incorrect API key: canary"}}, False, "; set the right key"),
        (402, {"error": {"message": "credit balance"}}, False, "; top up the account of this key"),
    ],
)
async def test_an_endpoint(kind, status, body, ok, words):
    """Asked for its models, which costs nothing; the key is never repeated."""
    async with endpoint(status, body) as url:
        fine, said = await found(model(kind, url), "agents.a")
    assert (fine, said.endswith(words)) == (ok, True), said
    assert "canary" not in said


@pytest.mark.parametrize(
    ("agent", "ok", "words"),
    [
        ('kind = "tour"', True, "it opens"),
        ('kind = "scripted"\nscript = "nowhere.json"', False, "`script` nowhere.json cannot be read"),
        ('kind = "python"\ncall = "no_such_module:x"', False, "cannot import 'no_such_module'"),
        (
            'kind = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"',
            False,
            "nothing answers there (Connection refused); check that it is installed and runs",
        ),
        (
            'kind = "http"\nurl = "http://127.0.0.1:1/turn"',
            False,
            "nothing answers there (Connection refused); check that it is installed and runs",
        ),
        ('kind = "acp"\ncommand = ["no-such-agent"]', False, "and that its command or address is right"),
        (f'kind = "acp"\ncommand = ["{sys.executable}", "-c", "pass"]', False, "exited"),
        (f'kind = "acp"\ncommand = ["{sys.executable}", "{FAKE_AGENT}"]', True, "speaks version 1 of the protocol"),
    ],
)
async def test_an_agent(agent, ok, words):
    """TU-33: a program is started and greeted, and ended again."""
    fine, said = await found(f"[agents.a]\n{agent}\n", "agents.a")
    assert (fine, words in said) == (ok, True), said


# --- channels -------------------------------------------------------------------------------------

TOUR = '[agents.tour]\nkind = "tour"\n'


async def test_telegram():
    async with FakePlatform("telegram") as platform:
        fine, said = await found(f"{TOUR}[channels.telegram]\n{platform.config()}", "channels.telegram")
        assert fine
        assert said.startswith("it is @testbot")
        wrong = platform.config().replace('token = "7', 'token = "8')
        fine, said = await found(f"{TOUR}[channels.telegram]\n{wrong}", "channels.telegram")
        assert not fine
        assert said.startswith("Telegram does not know this bot")
        assert said.endswith("Copy the token from @BotFather again and set it as `token`.")
    fine, said = await found(f"{TOUR}[channels.telegram]\n{platform.config()}", "channels.telegram")
    assert not fine
    assert said.startswith(f"Telegram at {platform.url} does not answer (")


@pytest.mark.parametrize("kind", ["discord", "slack"])
async def test_a_platform_that_does_not_answer_is_named_by_its_address(kind):
    """Most people have set no `api_root`, so the sentence does not speak of one."""
    async with FakePlatform(kind) as platform:
        config = f"{TOUR}[channels.{kind}]\n{platform.config()}"
    fine, said = await found(config, f"channels.{kind}")
    assert not fine
    assert said.startswith(f"{kind.title()} at {platform.url} does not answer (")


async def test_a_taken_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        fine, said = await found(f"{TOUR}[channels.web]\nport = {port}", "channels.web")
        assert not fine
        assert said.startswith(f"port {port} of 127.0.0.1 is taken")
    assert await found(f"{TOUR}[channels.web]\nport = {port}", "channels.web") == (
        True,
        f"port {port} of 127.0.0.1 is free",
    )


# --- store, disk, clock, and the command ----------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rejoinder.toml").write_text(f"{TOUR}[channels.web]\nport = 0\n")
    return tmp_path


def examined(*more: str, status: int = 0) -> dict[str, tuple[bool, str]]:
    result = CliRunner().invoke(app, ["doctor", "--json", *more])
    assert result.exit_code == status, result.output
    report = json.loads(result.stdout)
    assert report["ok"] is (status == 0)
    return {each["what"]: (each["ok"], each["found"]) for each in report["checks"]}


def keep(later: timedelta = timedelta(), *, quarantined: bool = False) -> None:
    async def kept() -> None:
        store = open_store("sqlite:rejoinder.db")
        (event,) = await store.write(Accept((received(ANNA, 1, "hi"),), datetime.now(UTC) + later))
        if quarantined:
            await store.write(QuarantineEvent(event.id, "it cannot be read"))
        await store.close()

    asyncio.run(kept())


def test_before_the_first_start(folder):
    """Everything has a line, and nothing is left behind."""
    report = examined()
    assert list(report) == ["configuration", "agents.tour", "channels.web", "media.documents", "store", "disk", "clock"]
    assert report["store"] == (True, "rejoinder.db will be made by the first gateway")
    assert os.listdir(folder) == ["rejoinder.toml"]


def test_what_is_quarantined_is_told(folder):
    """DU-14: and where to look for it."""
    keep(quarantined=True)
    assert examined()["store"][1].endswith("0 sessions; 1 quarantined, which `rejoinder dead` lists")


def test_a_store_that_is_whole_and_one_that_is_not(folder):
    keep()
    assert examined()["store"] == (True, "rejoinder.db is intact, with 0 sessions")
    content = bytearray((folder / "rejoinder.db").read_bytes())
    content[:100] = bytes(100)
    (folder / "rejoinder.db").write_bytes(content)
    fine, said = examined(status=1)["store"]
    assert not fine
    assert "damaged" in said


def test_a_folder_that_is_not_there(folder):
    (folder / "other.toml").write_text(f'[gateway]\nstore = "sqlite:nowhere/x.db"\n{TOUR}[channels.web]\nport = 0\n')
    fine, said = examined("-c", "other.toml", status=1)["store"]
    assert not fine
    assert said.startswith("nothing can be written in nowhere")


def test_a_clock_that_went_back(folder):
    keep(timedelta(days=1))
    fine, said = examined(status=1)["clock"]
    assert not fine
    assert said.endswith("; set it")


def test_a_full_disk(folder, monkeypatch):
    monkeypatch.setattr(doctor, "ENOUGH_BYTES", 1 << 60)
    fine, said = examined(status=1)["disk"]
    assert not fine
    assert "free some space" in said


def test_what_waits_for_programs_is_told(folder):
    """IN-8: a hook that is fine, one whose receiver does not take what it is told, and one that has given some up."""
    with (folder / "rejoinder.toml").open("a") as file:
        for name in ("fine", "sad", "lost"):
            file.write(f'[hooks.{name}]\nurl = "http://127.0.0.1:9/x"\nsecret = "canary-0123456789abcdef"\n')
            file.write('events = ["turn_ended"]\n')
    made = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)

    async def kept() -> None:
        store = open_store("sqlite:rejoinder.db")
        events = (("sad", "a"), ("sad", "b"), ("lost", "c"))
        await store.write(PutHookEvents(tuple(HookEvent(*each, "turn_ended", made, b"{}") for each in events)))
        sad, lost = await store.write(ClaimHookEvent("sad", made, made), ClaimHookEvent("lost", made, made))
        await store.write(RetryHookEvent(sad, made, "it answered 500"), EndHookEvent(lost, "dead", "it answered 410"))
        await store.close()

    asyncio.run(kept())
    report = examined(status=1)
    assert report["hooks.fine"] == (True, "nothing waits")
    assert report["hooks.sad"] == (
        False,
        "2 events wait since 2030-01-02 03:04 UTC: it answered 500; they are posted once that is fixed",
    )
    assert report["hooks.lost"] == (True, "0 events wait; 1 were given up after 24 hours")


def test_skills(folder):
    """A folder without which the gateway would not start."""
    (folder / "rejoinder.toml").write_text(f'[commands]\nskills = "skills"\n{TOUR}[channels.web]\nport = 0\n')
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 1
    assert "wrong  commands.skills: 'skills': there is no such folder; make it, or take the key out\n" in shown.stdout
    (folder / "skills" / "haiku").mkdir(parents=True)
    (folder / "skills" / "haiku" / "SKILL.md").write_text("Write a haiku.\n")
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0
    assert "ok     commands.skills: 1 in skills, /haiku\n" in shown.stdout


def test_for_a_person(folder):
    """A line each, as it is found; the status says whether everything is fine."""
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[0] == "ok     configuration: rejoinder.toml can be read."
    (folder / "rejoinder.toml").write_text(
        '[agents.a]\nkind = "scripted"\nscript = "x.json"\n[channels.web]\nport = 0\n'
    )
    shown = CliRunner().invoke(app, ["doctor"])
    assert shown.exit_code == 1
    assert "wrong  agents.a: `script` x.json cannot be read: No such file or directory\n" in shown.stdout


def test_a_bad_configuration_is_told_before_anything_is_looked_at(folder):
    (folder / "rejoinder.toml").write_text("[sesion]\n")
    shown = CliRunner().invoke(app, ["doctor"])
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith("rejoinder: rejoinder.toml:1: sesion: ")
    shown = CliRunner().invoke(app, ["doctor", "--json"])
    [check] = json.loads(shown.stdout)["checks"]
    assert (shown.exit_code, check["what"], check["ok"]) == (2, "configuration", False)
    assert check["found"].startswith("rejoinder.toml:1: sesion: ")


@pytest.mark.parametrize(
    ("problems", "ok", "words"),
    [
        ([], True, "it runs, and everything is fine"),
        (["slack: Slack sends no events. Turn on Event Subscriptions."], False, "it runs and says: slack: Slack sends"),
    ],
)
async def test_a_gateway_that_runs_says_how_it_is(monkeypatch, problems, ok, words):
    """CH-12, CH-13: what only it can know, such as events that never came."""

    async def running(_: str) -> str:
        return "process 7"

    async def health(_: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "problems": problems})

    site = web.Application()
    site.router.add_get("/health", health)
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setattr(doctor, "_gateway", running)
    try:
        page = f"[channels.web]\nport = {runner.addresses[0][1]}\n"
        fine, said = await found(f'[agents.a]\nkind = "scripted"\nscript = "none.json"\n{page}', "gateway")
    finally:
        await runner.cleanup()
    assert (fine, said.startswith(words)) == (ok, True), said


async def test_a_gateway_on_another_port_is_no_riddle(monkeypatch):
    """`make run PORT=8766` is documented; the doctor, which reads only the file, looks at the port there."""

    async def running(_: str) -> str:
        return "process 7"

    monkeypatch.setattr(doctor, "_gateway", running)
    page = f"[channels.web]\nport = {free_port()}\n"
    fine, said = await found(f'[agents.a]\nkind = "scripted"\nscript = "none.json"\n{page}', "gateway")
    assert (fine, "if you started it with --port" in said) == (True, True), said


@pytest.mark.parametrize(("trouble", "runs"), [(NO_EVENTS, True), ("", True), (NO_EVENTS, False)])
async def test_what_a_running_gateway_has_found_out_is_told_without_a_page(tmp_path, monkeypatch, trouble, runs):
    """CH-12: events of Slack that never came; nobody has to configure the chat page to learn it."""

    async def running(_: str) -> str | None:
        return "process 7" if runs else None

    url = f"sqlite:{tmp_path / 'kept.db'}"
    store = open_store(url)
    await store.write(MoveCursor(StoredCursor("slack", f"{PLACE}{TROUBLE}", trouble)))
    await store.close()
    monkeypatch.setattr(doctor, "_gateway", running)
    async with FakePlatform("slack") as platform:
        agent = '[agents.a]\nkind = "scripted"\nscript = "none.json"\n'
        fine, said = await found(f"{agent}[channels.slack]\n{platform.config()}", "channels.slack", url)
    assert fine is not (bool(trouble) and runs)
    assert said.startswith("it is @testbot in Example, by Socket Mode")
    assert fine or said.endswith(f"the gateway that runs (process 7) says: {NO_EVENTS}")


# --- voice and links ------------------------------------------------------------------------------


async def test_voice_and_links_are_looked_at_where_they_are_configured(monkeypatch):
    """ME-1, ME-2: the program, the key, ffmpeg; each with what to do."""
    monkeypatch.setattr("rejoinder.media.sound.ffmpeg", lambda: "/usr/bin/ffmpeg")
    hears, speaks = "media.speech_to_text", "media.text_to_speech"
    assert [what for what in await findings("") if what.startswith("media.")] == ["media.documents"]
    ok, said = await found(f'[{hears}]\ncommand = ["{sys.executable}", "{{file}}"]\n', hears)
    assert (ok, said) == (True, f"{sys.executable} is there, and ffmpeg is there")
    ok, said = await found(f'[{speaks}]\ncommand = ["no-such-program"]\n', speaks)
    assert (ok, said.split(":")[0]) == (False, "there is no program 'no-such-program'")
    async with endpoint(401, {}) as url:
        ok, said = await found(f'[{hears}]\nbase_url = "{url}/v1"\napi_key = "sk-secret"\n', hears)
    assert not ok
    assert said.endswith("it refuses the key (status 401); set the right api_key")
    assert "sk-secret" not in said
    async with endpoint(200, {}) as url:
        assert (await found(f'[{speaks}]\nbase_url = "{url}/v1"\n', speaks))[0]
        monkeypatch.setattr("rejoinder.media.sound.ffmpeg", lambda: None)
        ok, said = await found(f'[{speaks}]\nbase_url = "{url}/v1"\n', speaks)
    assert (ok, said.partition(",")[0]) == (False, "ffmpeg is not installed")
    assert (await found("[media.links]\nenabled = true\n", "media.links"))[0]
    monkeypatch.setattr("rejoinder.media.check.find_spec", lambda _: None)
    ok, said = await found("[media.links]\nenabled = true\n", "media.links")
    assert (ok, "the extra 'documents'" in said, "html2text" in said) == (False, True, True)


async def test_each_account_is_a_finding_of_its_own():
    """CH-4, CH-12: a wrong token hides nothing of the others."""
    async with FakePlatform("discord") as platform:
        here = platform.people.config(platform.url)
        told = await findings(
            f"[channels.discord]\n{here}\n[channels.discord.accounts.old]\ntoken = 'revoked'\n"
            '[agents.a]\nkind = "tour"\n'
        )
    assert told["channels.discord"].ok
    assert told["channels.discord"].found.startswith("it is testbot")
    assert not told["channels.discord.accounts.old"].ok
    assert told["channels.discord.accounts.old"].found.startswith("Discord does not know this bot")


async def test_what_files_need_is_said_with_what_to_install(monkeypatch):
    """ME-11, ME-12: the extra is for who wants it, so that it is missing is no fault; pages cannot be read without."""
    ok, said = await found("", "media.documents")
    assert (ok, said.split(",")[0]) == (True, "PDF")
    monkeypatch.setattr("rejoinder.media.check.find_spec", lambda name: None)
    ok, said = await found("", "media.documents")
    assert ok
    assert said.startswith(
        "only plain text is read from files that people send, because pypdf is not installed; to read PDF, "
    )
    assert "pip install" in said
    ok, said = await found("[media.links]\nenabled = true\n", "media.links")
    assert not ok
    assert said.startswith("reading pages needs the extra 'documents', which is not installed: ")


async def test_a_model_that_a_command_names_has_to_be_there(tmp_path):
    """ME-1: and the program itself."""
    ok, said = await found(f'[media.text_to_speech]\ncommand = ["{tmp_path}/speak.sh"]\n', "media.text_to_speech")
    assert (ok, said.endswith("put it there and make it executable, or correct command")) == (False, True)
    command = f'["{sys.executable}", "-m", "{tmp_path}/model.bin", "{{file}}"]'
    ok, said = await found(f"[media.speech_to_text]\ncommand = {command}\n", "media.speech_to_text")
    assert not ok
    assert said.endswith(f"but the file {tmp_path}/model.bin in its command is not")


@pytest.mark.parametrize(
    ("processes", "lag", "ok", "words"),
    [
        ((), 0.0, True, "none runs"),
        (("worker", "front"), 0.0, True, "b:2: 60 shards, lease 7 s; 1 messages wait, for 2 s"),
        (("front",), 0.0, False, "only fronts run"),
        (("worker",), 90.0, False, "has waited for 90 s"),
    ],
)
async def test_the_processes_on_a_shared_store(processes, lag, ok, words):
    """SC-24: who serves it, and what is wrong where nobody answers."""
    known = {
        "front": ProcessState("a:1", False, 0, ("telegram",), 8.0, 0, 0.0),
        "worker": ProcessState("b:2", True, 60, (), 7.0, 1, 2.0),
    }
    deployment = Deployment(64, 4, lag, tuple(known[each] for each in processes))
    found = await doctor._looked("processes", lambda: doctor._processes(deployment))
    assert found.ok is ok
    assert words in found.found
