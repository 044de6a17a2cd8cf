"""ME-2: who says whether answers are spoken."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from rejoinder.inbound.settings import SpeechSettings
from rejoinder.inbound.speech import SpeechChoice, effective_speech, speech_at
from rejoinder.session import Session

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SESSION = Session("s", "helper", NOON, NOON)
SPEECH = SpeechSettings(on=True, voice="slt", limit=900, by_channel={"web": "tagged"}, by_agent={"helper": "always"})


@pytest.mark.parametrize(
    ("session", "channel", "mode", "source"),
    [
        ({"tts": "inbound"}, "web", "inbound", "set here, kept by /new"),
        ({}, "web", "tagged", "channels.web"),
        ({}, "telegram", "always", "the agent helper"),
        ({"agent": "other"}, "telegram", "off", "by default"),
        ({"tts": "off"}, "telegram", "off", "set here, kept by /new"),
    ],
)
def test_the_session_then_the_channel_then_the_agent(session, channel, mode, source):
    """ME-2, DE-36."""
    made = replace(SESSION, **session)
    assert effective_speech(made, SPEECH, channel) == SpeechChoice(mode, source, "slt", 900)


def test_voice_and_limit_are_the_sessions_first():
    """ME-2: `/tts voice`, `/tts limit`."""
    made = replace(SESSION, tts_voice="nova", tts_limit=200)
    chosen = effective_speech(made, SPEECH, "web")
    assert (chosen.voice, chosen.limit) == ("nova", 200)


def test_where_nothing_speaks_all_is_off():
    assert effective_speech(replace(SESSION, tts="always"), SpeechSettings(), "web").mode == "off"


@pytest.mark.parametrize(("can", "mode"), [({"voice", "files"}, "tagged"), ({"files"}, None), (set(), None)])
def test_only_where_voice_notes_are_taken(can, mode):
    """ME-2: a channel without voice notes speaks nothing, whatever is configured."""
    choice = speech_at(SESSION, SPEECH, "web", can=frozenset(can))
    assert (None if choice is None else choice.mode) == mode
