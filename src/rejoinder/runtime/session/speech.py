"""How the answers of a turn are spoken: what its session, channel and agent say, and who shortens them (ME-2)."""

import asyncio
import logging

from rejoinder.agents.base import Agent, Failed
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.speech import effective_speech
from rejoinder.runtime.answer.speaking import Speech
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.session.completions import CompletionMessage, completed
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.session import Session

log = logging.getLogger(__name__)

SHORTEN = (
    "Shorten this text, so that it can be read out to somebody: at most {most} characters, plain sentences, no list, "
    "no code, no address, the same language. Answer with the shorter text alone.\n\n{text}"
)
PATIENCE = 30.0
"""Seconds that the agent has for it; the answer waits."""
VOICE = frozenset(("voice",))


def speech_of(
    message: InboundMessage, session: Session, settings: RuntimeSettings, here: Conversation, agent: Agent
) -> Speech | None:
    if settings.speech is None or "voice" not in here.settings.can:
        return None
    spoken = effective_speech(session, settings.rules.settings.speech, message.inbound.channel)

    async def shorten(text: str, most: int) -> str | None:
        return await _fewer_words(agent, text, most)

    return Speech(
        settings.speech,
        spoken.mode,
        message.inbound.transcript is not None,
        spoken.voice,
        spoken.limit,
        here.settings.voice_form,
        shorten if settings.speech.asks_agent else None,
    )


def granted_with(speech: Speech | None, granted: frozenset[str]) -> frozenset[str]:
    """Where answers may be spoken, `<voice>` is granted as well (OD-52)."""
    return granted | VOICE if speech is not None and speech.mode != "off" else granted


async def _fewer_words(agent: Agent, text: str, most: int) -> str | None:
    try:
        async with asyncio.timeout(PATIENCE):
            words = await completed(agent, CompletionMessage("user", SHORTEN.format(most=most, text=text)))
    except TimeoutError:
        log.warning("%s did not shorten its answer within %.0f s", agent.name, PATIENCE)
        return None
    if isinstance(words, Failed):
        log.warning("%s did not shorten its answer: %s", agent.name, words.detail or words.sentence)
        return None
    return words or None
