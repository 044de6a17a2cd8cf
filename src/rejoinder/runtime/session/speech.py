"""How the answers of a turn are spoken (`inbound/speech.py` decides), and who shortens them (ME-2)."""

import asyncio
import logging

from rejoinder.agents.base import Agent, Failed
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.speech import speech_at
from rejoinder.outbound.speech import shortening_prompt
from rejoinder.runtime.answer.speaking import Speech
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.session.completions import CompletionMessage, completed
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.session import Session

log = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds that the agent has to shorten an answer; the answer waits for it."""


def speech_of(
    message: InboundMessage, session: Session, settings: RuntimeSettings, here: Conversation, agent: Agent
) -> Speech | None:
    if (options := settings.media.speech) is None:
        return None
    choice = speech_at(session, settings.rules.settings.speech, message.inbound.channel, can=here.settings.can)
    if choice is None:
        return None

    async def shorten(text: str, most: int) -> str | None:
        return await _fewer_words(agent, text, most)

    return Speech(
        options,
        choice.mode,
        message.inbound.transcript is not None,
        choice.voice,
        choice.limit,
        here.settings.voice_form,
        shorten if options.asks_agent else None,
    )


async def _fewer_words(agent: Agent, text: str, most: int) -> str | None:
    try:
        async with asyncio.timeout(PATIENCE):
            words = await completed(agent, CompletionMessage("user", shortening_prompt(text, most)))
    except TimeoutError:
        log.warning("%s did not shorten its answer within %.0f s", agent.name, PATIENCE)
        return None
    if isinstance(words, Failed):
        log.warning("%s did not shorten its answer: %s", agent.name, words.detail or words.sentence)
        return None
    return words or None
