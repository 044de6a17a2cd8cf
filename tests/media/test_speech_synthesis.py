"""Text to speech by programs and endpoints."""

import pytest
from aiohttp import web

from rejoinder.errors import NotUnderstood
from rejoinder.media import sound
from rejoinder.media.settings import TextToSpeech
from rejoinder.media.speech_synthesis import SpeechSynthesizer
from rejoinder.media_services import Recording
from tests.media.test_transcription import KEY, served
from tests.speech import SENTENCE, recognised, silence, speaker, spoken, words


async def unspoken(voice: SpeechSynthesizer) -> str:
    with pytest.raises(NotUnderstood) as caught:
        await voice.speak("hello", "", "opus")
    return str(caught.value)


@pytest.mark.parametrize(("form", "mime"), [("opus", "audio/ogg"), ("mp3", "audio/mpeg")])
async def test_a_program_speaks_in_the_form_that_is_asked_for(form, mime, tmp_path):
    """ME-3: and how long it is and how it looks is known."""
    made = await SpeechSynthesizer(TextToSpeech(command=tuple(speaker()))).speak(SENTENCE, "", form)
    assert made.mime == mime
    assert 1.5 < made.seconds < 4
    assert len(made.waveform) == sound.BARS
    assert max(made.waveform) == 255
    if form == "mp3":
        assert words(recognised(made.content, tmp_path)) == words(SENTENCE)


async def test_speech_that_was_kept_is_measured_again(monkeypatch):
    """ME-3: as long and with the waveform that it had when it was made; what is no sound has neither."""
    voice = SpeechSynthesizer(TextToSpeech(command=tuple(speaker())))
    made = await voice.speak(SENTENCE, "", "opus")
    again = await voice.measure(made.content, made.mime)
    assert again.seconds == pytest.approx(made.seconds, abs=0.1)
    assert len(again.waveform) == sound.BARS
    assert await voice.measure(b"no sound", "audio/ogg") == Recording(b"no sound", "audio/ogg")
    monkeypatch.setattr(sound, "ffmpeg", lambda: None)
    assert await voice.measure(made.content, "audio/ogg") == Recording(made.content, "audio/ogg")


async def test_words_come_by_input_and_sound_by_output(tmp_path):
    """ME-2: a program that knows no files; words that look like options are words."""
    (tmp_path / "spoken.wav").write_bytes(spoken(form="wav"))
    script = tmp_path / "speak"
    script.write_text(f'#!/bin/sh\ncat > {tmp_path}/input\necho "$1" > {tmp_path}/voice\ncat {tmp_path}/spoken.wav\n')
    script.chmod(0o700)
    voice = SpeechSynthesizer(TextToSpeech(command=(str(script), "{voice}"), voice="usual"))
    assert (await voice.speak("--help; $(x)", "slt", "opus")).mime == "audio/ogg"
    assert (tmp_path / "input").read_text() == "--help; $(x)"
    assert (tmp_path / "voice").read_text() == "slt\n"


async def test_an_endpoint_is_asked_as_openai_is():
    """ME-2: what is in the right form already stays as it is."""
    asked = []

    async def answer(request):
        asked.append((await request.json(), request.headers["Authorization"]))
        return web.Response(body=spoken(), content_type="audio/ogg")

    async with served("/v1/audio/speech", answer) as url:
        settings = TextToSpeech(base_url=url, api_key=KEY, model="tts-x", voice="nova")
        assert (await SpeechSynthesizer(settings).speak("Hello.", "", "opus")).content == spoken()
    body = {"model": "tts-x", "voice": "nova", "input": "Hello.", "response_format": "opus"}
    assert asked == [(body, "Bearer sk-secret")]


@pytest.mark.parametrize(
    ("body", "why"),
    [(b"<html>", "the result is not audio"), (b"", "the result is not audio"), (silence, "nothing was spoken")],
)
async def test_what_is_no_speech_is_a_sentence(body, why):
    """ME-3: the answer goes out as text."""

    async def answer(_):
        return web.Response(body=body() if callable(body) else body)

    async with served("/v1/audio/speech", answer) as url:
        assert await unspoken(SpeechSynthesizer(TextToSpeech(base_url=url))) == why


async def test_a_program_that_writes_no_file():
    assert await unspoken(SpeechSynthesizer(TextToSpeech(command=("true", "{file}")))) == "the program for it failed"


async def test_without_ffmpeg_it_goes_out_as_it_came(monkeypatch):
    monkeypatch.setattr(sound, "ffmpeg", lambda: None)
    made = await SpeechSynthesizer(TextToSpeech(command=tuple(speaker()))).speak("Hello.", "", "opus")
    assert (made.mime, made.content[:4]) == ("audio/wav", b"RIFF")
