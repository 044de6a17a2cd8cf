"""Spoken answers, from what an agent writes to what people hear."""

import asyncio
import json
import sys

import pytest
from msgspec.structs import replace

from rejoinder.channels.base import RetryAfter
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, DirectivesSettings, Settings
from rejoinder.events import Attachment
from rejoinder.media.settings import MediaSettings, SpeechToText, TextToSpeech
from rejoinder.outbound.directives.declaration import Declaration, Tag
from rejoinder.outbound.directives.effects import Speak
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.testing.fake_channel import FakeFiles, FakeMessenger
from rejoinder.testing.patience import until
from tests.conversations.restarting import Machine
from tests.conversations.test_plugged_in import plug_in
from tests.conversations.test_telegram import telegram
from tests.speech import SENTENCE, recognised, recogniser, speaker, spoken, words

ANSWER = "Please **remind** me to buy `milk` tomorrow\n\n```\nmilk()\n```\nhttps://example.org/milk"
CALLS = (
    "import shutil, sys; shutil.copy({wav!r}, sys.argv[2]); open({log!r}, 'a').write(open(sys.argv[1]).read() + '|')"
)


class Mouth:
    """A program that writes down what it is to say, and says always the same."""

    def __init__(self, folder):
        (folder / "spoken.wav").write_bytes(spoken(form="wav"))
        self.log = folder / "said"
        self.log.touch()
        code = CALLS.format(wav=str(folder / "spoken.wav"), log=str(self.log))
        self.command = (sys.executable, "-c", code, "{text}", "{file}", "{voice}")

    @property
    def said(self) -> list[str]:
        return self.log.read_text().split("|")[:-1]


@pytest.fixture
def mouth(tmp_path):
    return Mouth(tmp_path)


def speaking(mouth, tts="always", text="with", allow=(), streaming="off", **more) -> Settings:
    media = MediaSettings(tts_text=text, text_to_speech=TextToSpeech(command=mouth.command, **more))
    common = CommonChannelSettings(dm="open", groups="open", tts=tts, streaming=streaming)
    return Settings(
        media=media,
        channels={"fake": ConfiguredChannel("fake", common, {})},
        directives=DirectivesSettings(allow=allow),
    )


class Hanging(FakeFiles):
    """A platform that takes nothing yet: what was planned is not sent."""

    hangs = True

    def __init__(self):
        super().__init__()
        self.called = asyncio.Event()

    async def send(self, part):
        self.called.set()
        return RetryAfter(0.05, "not now") if self.hangs else await super().send(part)


def shown(chat) -> list[str]:
    """All messages of the bot that are there, with what their files are."""
    files = {file.message: file.kind for file in chat.channel.files}
    there = [each for each in chat.channel.messages.values() if each.author == "bot" and not each.deleted]
    return [files.get(each.id, each.text) for each in there]


async def test_a_voice_note_is_answered_by_one_with_the_same_words(tmp_path):
    """ME-2, ME-3, DE-36: what the agent writes is heard, recognised by a program that nobody here wrote; neither marks
    nor code nor addresses are read out, and the form is Telegram's own."""
    more = "\n".join(
        [
            'tts = "inbound"',
            f"[media.speech_to_text]\ncommand = {json.dumps(recogniser())}",
            f"[media.text_to_speech]\ncommand = {json.dumps(speaker())}",
        ]
    )
    agent = ScriptedAgent("Written.", ANSWER)
    async with telegram(agent, more) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Written.")
        await platform.says("ann", "ann", "", voice=(spoken(), 3))
        await platform.truth.until(lambda: any(call.name == "sendVoice" for call in platform.truth.calls))
        await platform.truth.until(lambda: bool(platform.people.methods.sent))
        (note,) = platform.people.methods.sent.values()
        content = note.file.content
    assert content[:4] == b"OggS"
    assert b"OpusHead" in content[:100]
    assert words(recognised(content, tmp_path)) == words(SENTENCE)


async def test_the_text_comes_first_and_stays(mouth):
    """ME-2: one message to read and one to hear, for every answer."""
    async with conversation(ScriptedAgent("Hello **you**."), FakeFiles(), speaking(mouth)) as chat:
        await chat.says("hi")
        await chat.hears("Hello **you**.")
        await chat.hears("")
        assert shown(chat) == ["Hello **you**.", "voice"]
    assert mouth.said == ["Hello you."]


async def test_the_text_may_be_left_out(mouth):
    """ME-2: `tts_text = "without"`."""
    async with conversation(ScriptedAgent("Hello."), FakeFiles(), speaking(mouth, text="without")) as chat:
        await chat.says("hi")
        await chat.hears("")
        assert shown(chat) == ["voice"]


@pytest.mark.parametrize("text", ["with", "without"])
async def test_a_failure_is_text_once(text):
    """ME-2, ME-3."""
    broken = Settings(
        media=MediaSettings(tts_text=text, text_to_speech=TextToSpeech(command=("false",))),
        channels={
            "fake": ConfiguredChannel("fake", CommonChannelSettings(dm="open", tts="always", streaming="off"), {})
        },
    )
    agent = ScriptedAgent("Hello.", "Again.")
    async with conversation(agent, FakeFiles(), broken) as chat:
        await chat.says("hi")
        await chat.hears("Hello.")
        await chat.rests()
        await chat.says("hi")
        await chat.hears("Again.")
        assert shown(chat) == ["Hello.", "Again."]
    told = [part.text for part in agent.turns[1].parts if part.text.startswith("<system_events")]
    assert "voice: failed (the program for it failed)" in told[0]


TAGGED = "Before.\n<actions><voice>Good **morning**.</voice></actions>\nAfter."


@pytest.mark.parametrize(
    ("streaming", "answer", "seen"),
    [
        ("off", TAGGED, ["Before.\nAfter.", "voice"]),
        ("edits", TAGGED, ["Before.\nAfter.", "voice"]),
        ("blocks", TAGGED, ["Before.", "voice", "After."]),
        ("off", TAGGED.removeprefix("Before."), ["voice", "After."]),
        ("edits", TAGGED.removeprefix("Before."), ["voice", "After."]),
        ("blocks", TAGGED.removeprefix("Before."), ["voice", "After."]),
        ("blocks", TAGGED.removesuffix("After."), ["Before.", "voice"]),
    ],
)
async def test_what_stands_in_the_tag_is_spoken_in_its_place(mouth, streaming, answer, seen):
    """ME-2, ME-3, OD-50: `tagged` grants it. Behind the words before it, and before those of the next message."""
    agent = ScriptedAgent(answer, "Told.")
    async with conversation(agent, FakeFiles(), speaking(mouth, "tagged", streaming=streaming)) as chat:
        await chat.says("hi")
        await until(lambda: len(shown(chat)) == len(seen), "all of it")
        await chat.rests()
        assert shown(chat) == seen
        await chat.says("and?")
        await chat.channel.until(lambda: shown(chat)[-1] == "Told.")
        for _ in shown(chat):
            await chat.hears()
    assert mouth.said == ["Good morning."]
    told = [part.text for part in agent.turns[1].parts if part.text.startswith("<system_events")]
    assert "voice: done" in told[0]


async def test_a_voice_note_of_a_plug_in_takes_its_place_too(mouth, monkeypatch):
    """OD-55: whatever the directive is called that speaks."""
    sing = Declaration("sing", "sings", tag=Tag("sing", body="required"), effect=lambda _, body: Speak(body))
    plug_in(monkeypatch, "rejoinder.directives", DIRECTIVE=sing)
    answer = "Before.\n<actions><sing>La.</sing></actions>\nAfter."
    async with conversation(ScriptedAgent(answer), FakeFiles(), speaking(mouth, "tagged", streaming="blocks")) as chat:
        await chat.says("hi")
        await until(lambda: len(shown(chat)) == 3, "all of it")
        assert shown(chat) == ["Before.", "voice", "After."]
        for _ in shown(chat):
            await chat.hears()
    assert mouth.said == ["La."]


@pytest.mark.parametrize(("tts", "command"), [("off", None), ("tagged", ("false",))], ids=["no grant", "a failure"])
async def test_the_tag_falls_back_to_its_text(mouth, tts, command):
    """OD-52, ME-3: in its place."""
    mouth.command = command or mouth.command
    async with conversation(ScriptedAgent(TAGGED), FakeFiles(), speaking(mouth, tts)) as chat:
        await chat.says("hi")
        assert (await chat.hears()).text.split() == ["Before.", "Good", "**morning**.", "After."]


async def test_an_answer_that_is_marked_is_spoken_whole(mouth):
    """ME-2: `[[audio_as_voice]]`, where speech is on."""
    agent = ScriptedAgent("[[audio_as_voice]]\nHello.", "Hello again.")
    async with conversation(agent, FakeFiles(), speaking(mouth, "tagged")) as chat:
        await chat.says("hi")
        await chat.hears("Hello.")
        await chat.hears("")
        await chat.says("hi")
        await chat.hears("Hello again.")
        assert shown(chat) == ["Hello.", "voice", "Hello again."]


async def test_speech_is_chosen_for_a_session(mouth):
    """ME-2: `/tts` tells and sets; `/status` says how things stand."""
    agent = ScriptedAgent("One. Two. Three.")
    async with conversation(agent, FakeFiles(), speaking(mouth, None)) as chat:
        for typed, told in [
            ("/tts", "Speech: off (by default), up to 1500 characters."),
            ("/tts always", "Every answer is spoken."),
            ("/tts voice slt", "slt speaks."),
            ("/tts voice -x", "The name of a voice is one word"),
            ("/tts limit 60", "Answers are read out up to 60 characters."),
            ("/tts limit 1", "The limit is a number of characters from 50 to 20000."),
            ("/tts inbound", "Answers to voice messages are spoken."),
            ("/tts tagged", "What the agent marks is spoken."),
            ("/tts default", "No answer is spoken."),
            ("/tts always", "Every answer is spoken."),
            ("/tts voice default", "The default voice speaks."),
            ("/tts limit default", "Answers are read out up to the default length."),
            ("/status", "Speech: always (set here, kept by /new), up to 1500 characters"),
            ("/tts voice slt", "slt speaks."),
            ("/tts limit 60", "Answers are read out up to 60 characters."),
            ("/status", "Speech: always (set here, kept by /new), voice slt, up to 60 characters"),
        ]:
            await chat.says(typed)
            assert told in (await chat.hears()).text
        await chat.says("hi")
        await chat.hears("One. Two. Three.")
        await chat.hears("")
        await chat.says("/tts off")
        await chat.hears("No answer is spoken.")
        await chat.says("/tts good morning everybody")
        await chat.hears("")
    assert mouth.said == ["One. Two. Three.", "good morning everybody."]


async def test_what_is_too_long_is_cut_at_a_sentence_or_shortened_by_the_agent(mouth):
    """ME-2."""
    long = "First sentence here. " + "And on and on it goes. " * 20
    async with conversation(ScriptedAgent(long), FakeFiles(), speaking(mouth, max_chars=50)) as chat:
        await chat.says("hi")
        await chat.hears(long.strip())
        await chat.hears("")
    agent = ScriptedAgent(long, "The short of it.")
    async with conversation(agent, FakeFiles(), speaking(mouth, max_chars=50, summarize=True)) as chat:
        await chat.says("hi")
        await chat.hears(long.strip())
        await chat.hears("")
    assert mouth.said == ["First sentence here. And on and on it goes.", "The short of it."]


async def test_secrets_are_not_spoken(mouth):
    """DE-35."""
    async with conversation(
        ScriptedAgent("It is sk-abcdefghijklmnopqrstuvwxyz0123456789 so."), FakeFiles(), speaking(mouth)
    ) as chat:
        await chat.says("hi")
        await chat.hears()
        await chat.hears("")
    assert "abcdefghij" not in mouth.said[0]


async def test_where_files_cannot_be_sent_nothing_is_spoken(mouth):
    """ME-3: the answer is text, as ever."""
    async with conversation(ScriptedAgent("Hello."), FakeMessenger(), speaking(mouth, text="without")) as chat:
        await chat.says("hi")
        await chat.hears("Hello.")
        await chat.says("/tts hello")
        await chat.hears("There are no voice notes here.")
    assert mouth.said == []


async def test_what_is_being_spoken_can_be_stopped(mouth, tmp_path):
    """ME-2: by whoever asked for it."""
    began = tmp_path / "began"
    settings = speaking(mouth)
    slow = TextToSpeech(command=("sh", "-c", f"touch {began}; sleep 600"))
    async with conversation(
        ScriptedAgent("Hello."), FakeFiles(), replace(settings, media=MediaSettings(text_to_speech=slow))
    ) as chat:
        await chat.says("/tts on and on")
        await until(began.exists)
        await chat.says("stop")
        await chat.hears("That is not spoken: you asked to stop.")
        await chat.hears("Nothing is running.")


async def test_silence_is_not_spoken(mouth):
    """OD-41: neither the token nor anything else."""
    async with conversation(ScriptedAgent("NO_REPLY", "Hello."), FakeFiles(), speaking(mouth)) as chat:
        await chat.says("hi")
        await chat.says("hi")
        await chat.hears("Hello.")
        await chat.hears("")
    assert mouth.said == ["Hello."]


async def test_with_blocks_an_answer_is_spoken_once_after_its_last(mouth):
    """ME-3."""
    settings = speaking(mouth)
    common = CommonChannelSettings(dm="open", tts="always", streaming="blocks")
    settings = Settings(media=settings.media, channels={"fake": ConfiguredChannel("fake", common, {})})
    paragraphs = "\n\n".join(f"Paragraph {number}. {'It goes on. ' * 60}".strip() for number in range(3))
    async with conversation(ScriptedAgent(paragraphs), FakeFiles(), settings) as chat:
        await chat.says("hi")
        await chat.channel.until(lambda: bool(chat.channel.files))
        assert shown(chat)[-1] == "voice"
        assert shown(chat).count("voice") == 1
        for _ in shown(chat):
            await chat.hears()
    assert len(mouth.said) == 1


async def test_a_spoken_answer_survives_a_crash(mouth, tmp_path):
    """ME-2, DE-30: text and voice are planned in one commit; the next process sends the voice note without asking
    anybody again."""
    channel = Hanging()
    machine = Machine(tmp_path, speaking(mouth), channel)
    async with machine.running(ScriptedAgent("Hello."), killed=True):
        await channel.says("hi")
        await channel.called.wait()
    channel.hangs = False
    async with machine.running(ScriptedAgent()):
        await machine.chat.hears("Hello.")
        await machine.chat.hears("")
    assert [file.kind for file in channel.files] == ["voice"]
    assert mouth.said == ["Hello."]


async def test_an_answer_to_voice_is_known_by_its_message(mouth):
    """ME-2: `inbound`."""
    settings = speaking(mouth, "inbound")
    hears = SpeechToText(command=("printf", "hello", "{file}"))
    media = MediaSettings(speech_to_text=hears, text_to_speech=settings.media.text_to_speech)
    settings = Settings(media=media, channels=settings.channels)
    async with conversation(ScriptedAgent("Written.", "Spoken."), FakeFiles(), settings) as chat:
        await chat.says("hi")
        await chat.hears("Written.")
        voice = Attachment("1", "voice", "audio/ogg", kind="voice", content=spoken())
        await chat.channel.says("", attachments=(voice,))
        await chat.hears("Spoken.")
        await chat.hears("")
    assert mouth.said == ["Spoken."]
