"""Speech to text by programs and endpoints, and all that can go wrong with them."""

import asyncio
import re
import resource
import shlex
import sys
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from rejoinder.errors import NotUnderstood
from rejoinder.media import sound
from rejoinder.media.recordings import Recordings
from rejoinder.media.settings import SpeechToText, TextToSpeech
from rejoinder.media.speech_synthesis import SpeechSynthesizer
from rejoinder.media.transcription import Transcriber
from rejoinder.secret import Secret
from rejoinder.testing.patience import PATIENCE, until
from tests.media.sounds import PLAYLIST
from tests.peers import program as program_path
from tests.speech import SENTENCE, recogniser, silence, speaker, spoken, words

KEY = Secret("sk-secret")


def program(code: str, **more) -> Transcriber:
    return Transcriber(
        SpeechToText(command=(sys.executable, "-c", code, "{file}"), timeout_s=more.pop("timeout_s", 30), **more)
    )


async def unheard(ear: Transcriber, content: bytes | None = None) -> NotUnderstood:
    with pytest.raises(NotUnderstood) as caught:
        await ear.hear("note", "audio/ogg", spoken() if content is None else content)
    return caught.value


@asynccontextmanager
async def served(path, answer):
    """A speech service; `answer` handles its one call. Gives the base of its address."""
    app = web.Application(client_max_size=1 << 26)
    app.router.add_post(path, answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1/"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def endpoint(answer, **more):
    async with served("/v1/audio/transcriptions", answer) as url:
        yield Transcriber(SpeechToText(base_url=url, api_key=KEY, **more))


async def test_what_a_browser_records_is_heard():
    """ME-1, ME-4: by a recogniser that nobody here wrote; Telegram's form is heard in the conversations."""
    ear = Transcriber(SpeechToText(command=tuple(recogniser())))
    assert words(await ear.hear("note", "", spoken(form="webm"))) == words(SENTENCE)


@pytest.mark.parametrize("form", ["ogg", "mp3", "wav"])
async def test_a_program_gets_plain_samples_whatever_came(form):
    """ME-1."""
    ear = program("import sys, wave; w = wave.open(sys.argv[1]); print(w.getframerate(), w.getnchannels())")
    assert await ear.hear("note", "", spoken(form=form)) == "16000 1"


async def test_an_endpoint_is_asked_as_openai_is():
    """ME-1: the recording as it came, the model, the key."""
    asked = {}

    async def answer(request):
        form = await request.post()
        asked.update(form, key=request.headers["Authorization"], content=form["file"].file.read())
        return web.json_response({"text": " Buy milk. ", "duration": 2})

    async with endpoint(answer, model="whisper-x", language="en") as ear:
        assert await ear.hear("note", "audio/ogg", spoken()) == "Buy milk."
    assert (asked["model"], asked["language"], asked["response_format"]) == ("whisper-x", "en", "json")
    assert (asked["key"], asked["content"], asked["file"].filename) == ("Bearer sk-secret", spoken(), "recording.ogg")


HUGE = b'{"text": "' + b"a" * (4 << 20) + b'"}'


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda: web.Response(status=500, text="down"), "the speech service failed"),
        (lambda: web.Response(status=401, text="bad key sk-secret"), "the speech service refused the request"),
        (
            lambda: web.Response(text="<html>hello</html>", content_type="text/html"),
            "the speech service gave no transcript",
        ),
        (lambda: web.json_response({"words": []}), "the speech service gave no transcript"),
        (lambda: web.json_response({"text": "  "}), "there are no words in it"),
        (lambda: web.Response(body=HUGE), "the answer of the speech service was too long"),
        (lambda: web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}), "the speech service failed"),
    ],
)
async def test_an_endpoint_that_fails_is_a_sentence(answer, why):
    """ME-1: for the person; the detail for the operator has no key in it."""

    async def answers(_):
        return answer()

    async with endpoint(answers) as ear:
        error = await unheard(ear)
    assert str(error) == why
    assert "sk-secret" not in error.detail


async def test_an_endpoint_that_hangs_is_given_up():
    async def hangs(_):
        await asyncio.Event().wait()

    async with asyncio.timeout(PATIENCE), endpoint(hangs, timeout_s=0.5) as ear:
        assert str(await unheard(ear)) in ("it took too long", "the speech service did not answer in time")


async def test_nobody_answers_there():
    ear = Transcriber(SpeechToText(base_url="http://127.0.0.1:9/v1"))
    assert str(await unheard(ear)) == "the speech service cannot be reached"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit('no model')", "the program for it failed"),
        ("import os; os.kill(os.getpid(), 9)", "the program for it failed"),
        ("print()", "there are no words in it"),
        ("import sys; [sys.stdout.write('a' * (1 << 20)) for _ in range(1000)]", "the program for it wrote too much"),
        ("import sys; [sys.stderr.write('a' * (1 << 20)) for _ in range(1000)]", "the program for it failed"),
    ],
    ids=["fails", "is killed", "says nothing", "prints a gigabyte", "complains a gigabyte"],
)
async def test_a_program_that_fails_is_a_sentence(code, why):
    """ME-1: and nothing it writes fills our memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert str(await unheard(program(code))) == why
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


async def test_a_program_that_never_ends_is_ended_with_all_it_started(tmp_path):
    """ME-1: its children too."""
    script = f"sleep 600 & echo $! > {shlex.quote(str(tmp_path / 'child'))}; wait"  # a shell starts in no time
    ear = Transcriber(SpeechToText(command=("/bin/sh", "-c", script, "{file}"), timeout_s=2))
    assert str(await unheard(ear)) == "it took too long"
    child = int((tmp_path / "child").read_text())
    await until(lambda: not _lives(child), "its end")


def _lives(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_a_program_sees_no_secret(monkeypatch):
    """ME-1: no secrets in its environment, no shell."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    heard = await program(
        "import os; print('key' if 'OPENAI_API_KEY' in os.environ else 'nothing', '$HOME; echo x')"
    ).hear("note", "", spoken())
    assert heard == "nothing $HOME; echo x"


async def test_there_is_no_such_program():
    ear = Transcriber(SpeechToText(command=("no-such-program", "{file}")))
    assert str(await unheard(ear)) == "the program for it could not be started"


async def test_three_hours_are_not_listened_to():
    """ME-1: also where the platform does not tell how long it is; no more than the limit is decoded."""
    hours = spoken(form="mp3") * (3 * 3600 // 2)  # one after the other they are one recording
    ear = program("print('never asked')", max_seconds=60, max_bytes=len(hours))
    assert str(await unheard(ear, hours)) == "it is longer than 60 seconds"


async def test_silence_is_not_sent_to_anybody():
    """ME-1: recognisers invent words for it."""
    assert str(await unheard(program("print('thanks for watching')"), silence())) == "nothing can be heard in it"


async def test_without_ffmpeg_the_recording_is_given_as_it_came(monkeypatch):
    monkeypatch.setattr(sound, "ffmpeg", lambda: None)
    assert await program("import sys; print(open(sys.argv[1], 'rb').read(4))").hear("note", "", spoken()) == "b'OggS'"


@pytest.mark.parametrize("content", [PLAYLIST, b"", b"\xff", b"ffconcat version 1.0\nfile /etc/passwd\n", b"RIFF"])
async def test_ffmpeg_guesses_nothing(content):
    """ME-1: a format that names other files is no recording, whatever it is called."""
    assert str(await unheard(program("print('x')"), content)) == "its format is not supported"


async def test_ffmpeg_is_told_the_format_and_opens_files_alone(tmp_path, monkeypatch):
    """ME-1: a forced format, and no protocol that leads elsewhere, for what is heard and for what is spoken."""
    spy = tmp_path / "ffmpeg"
    spy.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {program_path("ffmpeg")} "$@"\n')
    spy.chmod(0o700)
    monkeypatch.setattr(sound, "ffmpeg", lambda: str(spy))
    await program("print('x')").hear("note", "", spoken())
    await SpeechSynthesizer(TextToSpeech(command=tuple(speaker()))).speak("Hello.", "", "opus")
    await Recordings().prepare(spoken(), 1 << 20)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 4
    for call in calls:
        before, source = call.split(" -i ")
        assert "-protocol_whitelist file,pipe" in before
        assert re.search(r"-f (ogg|wav)$", before)
        assert source.startswith("/")


async def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    await program("print('x')").hear("note", "", spoken())
    await unheard(program("raise SystemExit(1)"))
    assert list(tmp_path.iterdir()) == []
