"""Voice notes, from what a person says to what an agent reads."""

import asyncio
import json

import pytest

from rejoinder.config.schema import Settings
from rejoinder.events import Attachment, PromptAudio, PromptText
from rejoinder.media.settings import MediaSettings, SpeechToText
from rejoinder.media.sound import format_of
from rejoinder.runtime.place.consequences import Consequences
from rejoinder.runtime.place.understanding import LARGE_AT_ONCE
from rejoinder.testing import FakeChannel, FakeMessenger, ScriptedAgent, conversation
from rejoinder.testing.patience import until
from tests.conversations.agents import said
from tests.conversations.restarting import Machine
from tests.conversations.test_telegram import telegram
from tests.conversations.test_telegram_files import files
from tests.speech import SENTENCE, filmed, recogniser, silence, spoken

PRINTS = ["printf", SENTENCE, "{file}"]
"""A listener that always hears the same."""


def hearing(command: list[str]) -> str:
    return f"[media.speech_to_text]\ncommand = {json.dumps(command)}"


async def test_a_voice_note_is_heard_and_answered():
    """ME-1: its words are the text of its sender, and the agent is told that they were spoken."""
    agent = ScriptedAgent("I will.")
    async with telegram(agent, hearing(recogniser())) as platform:
        await platform.says("ann", "ann", "", voice=(spoken(), 3))
        await platform.hears("ann", "I will.")
    (turn,) = agent.turns
    assert said(turn) == [SENTENCE]
    (note,) = files(turn)
    assert "the text of this message is a transcript of it" in note["missing"]


async def test_silence_is_said_to_the_person_and_to_the_agent():
    """ME-1: once, in a sentence; the agent still learns that there was something."""
    agent = ScriptedAgent("Say it again, please.")
    async with telegram(agent, hearing(PRINTS)) as platform:
        await platform.says("ann", "ann", "", voice=(silence(), 2))
        await platform.hears("ann", "Your voice message could not be heard: nothing can be heard in it.")
        await platform.hears("ann", "Say it again, please.")
    (note,) = files(agent.turns[0])
    assert note["missing"] == "it could not be heard: nothing can be heard in it"


async def test_in_a_group_only_what_is_for_the_agent_is_fetched():
    """ME-1: what nobody said to it is left on the platform; who answers it with a question has it listened to."""
    agent = ScriptedAgent("Buy milk.")
    async with telegram(agent, hearing(PRINTS), reads_everything=True) as platform:
        voice = await platform.says("#team", "bob", "", voice=(spoken(), 3))
        await platform.says("#team", "ann", "@testbot what does he want?", reply_to=voice)
        await platform.hears("#team", "Buy milk.")
        assert len([call for call in platform.truth.calls if call.name == "getFile"]) == 1
    (note,) = files(agent.turns[0])
    assert note["text"] == SENTENCE
    assert said(agent.turns[0])[-1] == "@testbot what does he want?"


async def test_nothing_is_fetched_for_a_stranger():
    """ME-1."""
    async with telegram(ScriptedAgent(), hearing(PRINTS)) as platform:
        await platform.says("eve", "eve", "", voice=(spoken(), 3))
        await platform.truth.until(
            lambda: any(frame.chat == "eve" and frame.by == "bot" for frame in platform.truth.frames)
        )
        assert not [call for call in platform.truth.calls if call.name == "getFile"]


class Hearing(ScriptedAgent):
    hears_audio = True


async def test_an_agent_that_hears_gets_the_recording_with_its_transcript():
    """ME-1: as MP3, which models take; the transcript of its past has no recordings."""
    agent = Hearing("I will.", "Yes.")
    async with telegram(agent, hearing(PRINTS)) as platform:
        await platform.says("ann", "ann", "", voice=(spoken(), 3))
        await platform.hears("ann", "I will.")
        await platform.says("ann", "ann", "", file=("talk.ogg", spoken()))
        await platform.hears("ann", "Yes.")
    for turn in agent.turns:
        (sound,) = [part for part in turn.parts if isinstance(part, PromptAudio)]
        assert sound.mime == "audio/mpeg"
        assert format_of(sound.data) == "mp3"
    assert SENTENCE in [part.text for part in agent.turns[0].parts if isinstance(part, PromptText)]
    assert files(agent.turns[1])[0]["note"] == "you get the recording as well"


async def test_without_a_listener_it_gets_the_recording_alone():
    """ME-1: what is no recording at all is only told of."""
    agent = Hearing("I hear.", "I cannot.")
    async with telegram(agent, "") as platform:
        await platform.says("ann", "ann", "", voice=(spoken(), 3))
        await platform.hears("ann", "I hear.")
        await platform.says("ann", "ann", "", voice=(b"no sound at all", 3))
        await platform.hears("ann", "I cannot.")
    kinds = [[part.mime for part in turn.parts if isinstance(part, PromptAudio)] for turn in agent.turns]
    assert kinds == [["audio/mpeg"], []]


# --- with a listener that says what the test wants -------------------------------------------------


def listening(*command: str, **more) -> Settings:
    """`printf` prints its first argument, whatever it is given besides."""
    return Settings(media=MediaSettings(speech_to_text=SpeechToText(command=(*command, "{file}"), **more)))


def voice(content: bytes | None = None, **more) -> Attachment:
    return Attachment("1", "voice", "audio/ogg", kind="voice", content=spoken() if content is None else content, **more)


async def test_spoken_commands_are_commands():
    """DE-36, IN-6: also for whoever owns the bot; what only an owner may do is not done by voice."""
    async with conversation(ScriptedAgent(), settings=listening("printf", "Slash status.")) as chat:
        await chat.channel.says("", attachments=(voice(),))
        assert "scripted" in (await chat.hears()).text
    async with conversation(ScriptedAgent(), settings=listening("printf", "slash restart")) as chat:
        await chat.channel.says("", attachments=(voice(),))
        await chat.hears("/restart is for the owner.")


async def test_a_caption_is_the_text_and_the_voice_stands_beside_it():
    agent = ScriptedAgent("Fine.")
    async with conversation(agent, settings=listening("printf", "buy milk")) as chat:
        await chat.channel.says("for tomorrow", attachments=(voice(),))
        await chat.hears("Fine.")
    texts = said(agent.turns[0])
    assert texts[-1] == "for tomorrow"
    assert any(
        '"buy milk"' in part.text for part in agent.turns[0].parts if part.text.startswith("<untrusted_transcript")
    )


@pytest.mark.parametrize("problem", [ZeroDivisionError, SystemExit, asyncio.CancelledError])
async def test_a_transcript_that_cannot_be_shown_costs_no_answer(problem, caplog):
    """ME-4: a channel may be anybody's code."""

    class Clumsy(FakeMessenger):
        async def show_transcript(self, route, message, words):
            raise problem("by nought")

    async with conversation(ScriptedAgent("Fine.", "Yes."), Clumsy(), listening("printf", "buy milk")) as chat:
        await chat.channel.says("", attachments=(voice(),))
        await chat.hears("Fine.")
        await chat.says("sure?")
        await chat.hears("Yes.")
    assert "fake failed to show what was heard" in caplog.text


class Slow(FakeMessenger):
    """A platform that gives its files only when it may."""

    def __init__(self):
        super().__init__()
        self.asked = []
        self.may = asyncio.Event()

    async def fetch(self, file, limit):
        self.asked.append(file.id)
        await self.may.wait()
        return spoken()


async def test_few_large_recordings_are_in_memory_at_a_time():
    """ME-1: one that is small, as voice notes are, does not wait for them."""
    agent, channel = ScriptedAgent(*["Heard."] * 8), Slow()
    async with conversation(agent, channel, listening("printf", "hello")) as chat:
        for number in range(7):
            talk = Attachment(f"large {number}", "talk", "audio/ogg", 20_000_000, kind="voice")
            await channel.says("", sender=f"p{number}", chat=f"c{number}", attachments=(talk,))
        note = Attachment("small", "note", "audio/ogg", 5000, kind="voice")
        await channel.says("", sender="bob", chat="bobs", attachments=(note,))
        await until(lambda: len(channel.asked) == LARGE_AT_ONCE + 1, "those that may be fetched")
        assert "small" in channel.asked
        channel.may.set()
        for _ in range(8):
            await chat.hears("Heard.")


async def test_a_video_note_is_heard():
    """ME-1, ME-11: on Telegram it is spoken as a voice note is."""
    agent = ScriptedAgent("I will.")
    note = {"file_id": "n", "file_unique_id": "u", "duration": 3, "length": 240, "file_size": len(filmed())}
    async with telegram(agent, hearing(PRINTS)) as platform:
        platform.people.methods.files["n"] = filmed()
        await platform.says("ann", "ann", "", video_note=note)
        await platform.hears("ann", "I will.")
    assert said(agent.turns[0]) == [SENTENCE]


async def test_others_are_answered_while_somebody_is_listened_to():
    """ME-1: also where the listener never ends; who asked can stop it."""
    agent = ScriptedAgent("Hello.", "Hello again.")
    async with conversation(agent, settings=listening("sleep", "600")) as chat:
        await chat.channel.says("", attachments=(voice(),))
        await chat.channel.says("hi", chat="elsewhere", sender="bob")
        await chat.hears("Hello.")
        await chat.channel.says("stop")
        await chat.hears("Your voice message could not be heard: you asked to stop.")
        await chat.hears("Agent was aborted.")


async def test_a_restart_does_not_listen_again(tmp_path, monkeypatch):
    """ME-1: what was heard is kept with the message, before anything else is done with it."""
    count = tmp_path / "count"
    script = tmp_path / "listen"
    script.write_text(f"#!/bin/sh\necho once >> {count}\nprintf 'buy milk'\n")
    script.chmod(0o700)
    machine = Machine(tmp_path, listening(str(script)))
    understood = asyncio.Event()

    async def never(*_):
        understood.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(Consequences, "of", never)
        async with machine.running(ScriptedAgent(), killed=True):
            await machine.channel.says("", attachments=(voice(),))
            await understood.wait()
    agent = ScriptedAgent("I will.")
    async with machine.running(agent):
        await machine.chat.hears("I will.")
    assert said(agent.turns[0]) == ["buy milk"]
    assert count.read_text() == "once\n"


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (voice(b"\x00\x01nothing anybody has"), "its format is not supported"),
        (voice(b"OggS" + bytes(300)), "the program for it failed"),
        (voice(b"", size=3_000_000_000), "it has more than 25 MB"),
        (voice(b"", seconds=10_800), "it is longer than 10 minutes"),
        (Attachment("1", "voice", "audio/ogg", kind="voice"), "it could not be fetched"),
    ],
    ids=["garbage", "broken", "huge", "three hours", "gone"],
)
async def test_what_cannot_be_heard_is_a_sentence(file, why):
    """ME-1."""
    agent = ScriptedAgent("Pardon?")
    async with conversation(agent, FakeChannel(), listening("printf", "never asked")) as chat:
        await chat.channel.says("", attachments=(file,))
        await chat.hears(f"Your voice message could not be heard: {why}.")
        await chat.hears("Pardon?")
    assert [note["missing"] for note in files(agent.turns[0])] == [f"it could not be heard: {why}"]
