"""Which answers of a session are spoken, and how (ME-2): the session > the channel > the agent."""

from msgspec import Struct

from rejoinder.inbound.settings import SpeechSettings
from rejoinder.session import Session, TtsMode, held_by_session


class SpeechChoice(Struct, frozen=True):
    mode: TtsMode
    source: str
    """Where it was set."""
    voice: str = ""
    limit: int = 1500


def effective_speech(session: Session, speech: SpeechSettings, channel: str) -> SpeechChoice:
    """The mode in effect: off if nobody set it, or if there is no text-to-speech."""
    voice, limit = session.tts_voice or speech.voice, session.tts_limit or speech.limit
    if not speech.on:
        return SpeechChoice("off", "no text-to-speech is set up")
    choices: tuple[tuple[TtsMode | None, str], ...] = (
        (session.tts, held_by_session("tts")),
        (speech.by_channel.get(channel), f"channels.{channel}"),
        (speech.by_agent.get(session.agent), f"the agent {session.agent}"),
    )
    for mode, source in choices:
        if mode is not None:
            return SpeechChoice(mode, source, voice, limit)
    return SpeechChoice("off", "by default", voice, limit)


def speech_at(session: Session, speech: SpeechSettings, channel: str, *, can: frozenset[str]) -> SpeechChoice | None:
    """How answers are spoken on a channel; None if the channel takes no voice notes."""
    return effective_speech(session, speech, channel) if "voice" in can else None
