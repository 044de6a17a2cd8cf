"""What was decided about an event, and where."""

from datetime import datetime

from msgspec import Struct

from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.outcome import StageResult
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.place.effects import EffectContext
from rejoinder.store.base import InboxEvent


class Decision(Struct, frozen=True):
    """What was decided about an event, and where."""

    event: InboxEvent
    before: tuple[InboxEvent, ...]
    """Events that its sender typed just before it, decided together with it as one message."""
    conversation: Conversation
    """Where the message was said."""
    answered_in: Conversation
    """Where its turn is answered; this differs if the answer opens a thread (CH-2)."""
    agent: str
    members: tuple[str, ...]
    """Our agents in this conversation: one, or those of a room."""
    now: datetime
    result: StageResult
    bot_turns: BotTurns
    """The bot turns of the place, including this message."""
    ours: bool
    """Whether one of the members said it."""


def asking(decision: Decision) -> EffectContext:
    result, here = decision.result, decision.conversation
    who = (here, decision.agent, decision.members, decision.now)
    return EffectContext(decision.event, result.message, result.session, *who)
