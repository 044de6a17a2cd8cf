"""The prefix of messages in an agent's name: its answers, and the gateway's own replies about it (DE-5)."""

from collections.abc import Callable
from typing import Any

from rejoinder.events import Inbound
from rejoinder.inbound.directives.effective import chosen_model, effective_level
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.finalise import undecided_message
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rooms import whose_message
from rejoinder.inbound.rules import channel_rules
from rejoinder.outbound.prefix import Speaker, prefixed
from rejoinder.outbound.template import fill, values_of
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.session import Session, is_untouched, session_key

LONGEST_FILLED = 500

Prefix = Callable[[str], str]
"""Puts the prefix before a text."""


def no_prefix(text: str) -> str:
    return text


def filled(words: str, message: InboundMessage, session: Session) -> str:
    """The operator's template, filled from the message that is answered (DE-5). Each value is put on one line, so that
    a user cannot choose a name that begins a new paragraph of the system prompt."""
    if "{{" not in words:
        return words
    values = values_of(message.inbound, session.key, stripped=message.agent_text, is_new=is_untouched(session))
    return fill(words, {name: " ".join(value.split())[:LONGEST_FILLED] for name, value in values.items()})


def speaker_of(agent: str, choices: dict[str, Any], session: Session, settings: RuntimeSettings) -> Speaker:
    """The agent with its model and thinking level, as `/status` shows them."""
    rules = settings.rules
    profile = rules.agents[agent]
    thinking = effective_level("think", choices, session, rules, profile).value
    return Speaker(agent, chosen_model(choices, session, profile) or "", thinking)


def prefix_of(message: InboundMessage, session: Session, settings: RuntimeSettings) -> Prefix:
    """The prefix of the gateway's own replies to a message. `session`: the session of the agent concerned."""
    words = settings.channel(message.inbound.channel).delivery.prefix
    if not words:
        return no_prefix
    speaker = speaker_of(session.agent, message.choices, session, settings)
    return lambda text: prefixed(text, filled(words, message, session), speaker)


class Prefixes:
    """The prefixes of what the gateway says about messages that have no run yet or any more."""

    def __init__(self, services: Services, sessions: Sessions) -> None:
        self._settings = services.settings
        self._sessions = sessions
        self._clock = services.clock

    async def of(self, message: InboundMessage, session: str, agent: str) -> Prefix:
        if not self._words(message.inbound.channel):
            return no_prefix
        return prefix_of(message, await self._sessions.find(session, agent, self._clock()), self._settings.now)

    async def of_undecided(self, inbound: Inbound) -> Prefix:
        """In the name of the agent that would get the message."""
        rules = self._settings.now.rules
        agent = whose_message(inbound, channel_rules(rules, inbound.channel))
        return await self.of(
            undecided_message(inbound, Facts(OwnIdentity(agent))),
            session_key(inbound, rules.settings.session, agent),
            agent,
        )

    async def of_unreadable(self, channel: str, session: str) -> Prefix:
        """Nothing is known of the message, so the operator's template is filled without values."""
        words = self._words(channel)
        found = await self._sessions.find(session, "", self._clock()) if words else None
        if found is None or found.agent not in self._settings.now.rules.agents:
            return no_prefix
        speaker = speaker_of(found.agent, {}, found, self._settings.now)
        return lambda text: prefixed(text, fill(words, {}), speaker)

    def _words(self, channel: str) -> str:
        return self._settings.now.channel(channel).delivery.prefix
