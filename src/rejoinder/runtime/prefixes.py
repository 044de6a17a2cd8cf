"""The prefix of what is said in an agent's name: its answers, and the gateway's own replies about it (DE-5)."""

from collections.abc import Callable
from typing import Any

from rejoinder.inbound.directives.effective import chosen_model, effective_level
from rejoinder.inbound.message import Message
from rejoinder.outbound.prefix import Speaker, prefixed
from rejoinder.outbound.template import fill, values_of
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.session import Session, is_untouched

LONGEST_FILLED = 500

Prefix = Callable[[str], str]
"""Puts the prefix before a text."""


def no_prefix(text: str) -> str:
    return text


def filled(words: str, message: Message, session: Session) -> str:
    """The operator's template, filled from the message that is answered (DE-5). Each value is put on one line, so that
    a user's chosen name cannot begin a new paragraph of the system prompt."""
    if "{{" not in words:
        return words
    values = values_of(message.inbound, session.key, stripped=message.agent_text, is_new=is_untouched(session))
    return fill(words, {name: " ".join(value.split())[:LONGEST_FILLED] for name, value in values.items()})


def speaker_of(agent: str, choices: dict[str, Any], session: Session, settings: RuntimeSettings) -> Speaker:
    """The agent as `/status` describes it."""
    rules = settings.rules
    profile = rules.agents[agent]
    thinking = effective_level("think", choices, session, rules, profile).value
    return Speaker(agent, chosen_model(choices, session, profile) or "", thinking)


def prefix_of(message: Message, session: Session, settings: RuntimeSettings) -> Prefix:
    """The prefix of what the gateway itself replies to a message. `session`: that of the agent it is about."""
    words = settings.channel(message.inbound.channel).speech.prefix
    if not words:
        return no_prefix
    speaker = speaker_of(session.agent, message.choices, session, settings)
    return lambda text: prefixed(text, filled(words, message, session), speaker)
