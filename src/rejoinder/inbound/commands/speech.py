"""Spoken answers: tts (ME-2)."""

import re
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from rejoinder.events import SpeakText
from rejoinder.inbound.commands.command import Arg, Command, CommandCall
from rejoinder.inbound.outcome import Answer
from rejoinder.inbound.speech import effective_speech
from rejoinder.session import Session, TtsMode

if TYPE_CHECKING:
    from rejoinder.inbound.rules import Rules

MODES: tuple[TtsMode, ...] = get_args(TtsMode)
OPTIONS = (
    "off, always, inbound (answers to voice), tagged (what the agent marks), voice NAME, limit N, or words to speak"
)
NOBODY = "No text-to-speech is set up; the owner can add [media.text_to_speech] to the configuration."
LEAST, MOST = 50, 20_000
_VOICE = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}", re.ASCII)
_TOLD: dict[TtsMode, str] = {
    "off": "No answer is spoken.",
    "always": "Every answer is spoken.",
    "inbound": "Answers to voice messages are spoken.",
    "tagged": "What the agent marks is spoken.",
}


def speech_line(session: Session, rules: "Rules", channel: str) -> str:
    """The present settings in one line."""
    spoken = effective_speech(session, rules.settings.speech, channel)
    voice = f", voice {spoken.voice}" if spoken.voice else ""
    return f"{spoken.mode} ({spoken.source}){voice}, up to {spoken.limit} characters"


def _tts(call: CommandCall) -> Answer:
    what, more = call.args.get("what", "status"), call.args.get("more", "")
    if not call.rules.settings.speech.on:
        return Answer((NOBODY,))
    word = what.lower()
    if word == "status" and not more:
        return Answer((f"Speech: {_line(call)}. Options: {OPTIONS}",))
    if word == "voice":
        return _choose_voice(call, more)
    if word == "limit":
        return _choose_limit(call, more)
    if not more and word in (*MODES, "default"):
        mode = next((each for each in MODES if each == word), None)
        changed = replace(call.session, tts=mode)
        told = _TOLD[effective_speech(changed, call.rules.settings.speech, call.message.inbound.channel).mode]
        return Answer((told,), session=changed)
    return Answer((), effects=(SpeakText(f"{what} {more}".strip()),))


def _choose_voice(call: CommandCall, name: str) -> Answer:
    if name.lower() in ("", "default"):
        return Answer(("The default voice speaks.",), session=replace(call.session, tts_voice=None))
    if not _VOICE.fullmatch(name):
        return Answer(("The name of a voice is one word of letters, digits, '.', '_', '+' and '-'.",))
    return Answer((f"{name} speaks.",), session=replace(call.session, tts_voice=name))


def _choose_limit(call: CommandCall, number: str) -> Answer:
    if number.lower() in ("", "default"):
        return Answer(
            ("Answers are read out up to the default length.",), session=replace(call.session, tts_limit=None)
        )
    if not (number.isdecimal() and len(number) < 10 and LEAST <= int(number) <= MOST):
        return Answer((f"The limit is a number of characters from {LEAST} to {MOST}.",))
    changed = replace(call.session, tts_limit=int(number))
    return Answer((f"Answers are read out up to {int(number)} characters.",), session=changed)


def _line(call: CommandCall) -> str:
    return speech_line(call.session, call.rules, call.message.inbound.channel)


COMMANDS = (
    Command(
        "tts",
        "Whether answers are spoken; with other words, speak them.",
        "session",
        args=(Arg("what", told="status|off|always|inbound|tagged|voice NAME|limit N|TEXT"), Arg("more", rest=True)),
        handle=_tts,
    ),
)
