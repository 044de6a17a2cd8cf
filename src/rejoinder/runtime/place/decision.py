"""What was decided about an event, and what that alone says: its reason, its replies, what hooks are told of it."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from rejoinder.events import MessageDecided
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.outcome import Answer, Continue, Drop, StageResult
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.place.effects import EffectContext, EffectResult
from rejoinder.store.base import InboxEvent

NOT_YOURS = "Nothing was done: you may not do this here."


class Decision(Struct, frozen=True):
    """What was decided about an event, and where."""

    event: InboxEvent
    before: tuple[InboxEvent, ...]
    """What its sender typed just before it, decided together with it as one message."""
    conversation: Conversation
    """Where it was said."""
    answered_in: Conversation
    """Where its turn is answered: another one if the answer opens a thread (CH-2)."""
    agent: str
    members: tuple[str, ...]
    """Our agents in this conversation: one, or those of a room."""
    now: datetime
    result: StageResult
    bot_turns: BotTurns
    """Those of the place, this message included."""
    ours: bool
    """One of the members said it."""


def asking(decision: Decision) -> EffectContext:
    result, here = decision.result, decision.conversation
    who = (here, decision.agent, decision.members, decision.now)
    return EffectContext(decision.event, result.message, result.session, *who)


def is_owners(decision: Decision) -> bool:
    """An owner said it, in a direct chat."""
    message = decision.result.message
    return message.actor.role == "owner" and not message.in_group


def replies(decision: Decision, performed: Sequence[EffectResult]) -> Sequence[str]:
    """What the effects say replaces the decision's own replies."""
    said = [each.says for each in performed if each.says is not None] if performed else ()
    said = said or decision.result.replies
    inbound = decision.event.inbound
    if said or inbound.entry not in ("native", "button") or not isinstance(decision.result.outcome, Drop):
        return said
    # The platform shows the person that something is under way until they get an answer; nobody else sees it.
    alone = inbound.reply_context is not None and inbound.reply_context.private
    return (NOT_YOURS,) if alone and inbound.chat.kind != "direct" else ()


def reason(result: StageResult, *, overheard: bool) -> str:
    """The recorded end of an event that gets no turn, for people."""
    outcome = result.outcome
    how = "overheard" if overheard else "answered" if isinstance(outcome, Answer) else "dropped"
    return f"{how}: {outcome.reason}" if outcome.reason else how


def told_of(decision: Decision) -> MessageDecided:
    """What hooks are told of it."""
    match decision.result.outcome:
        case Continue():
            outcome = "turn"
        case Answer():
            outcome = "answer"
        case _:
            outcome = "drop"
    return MessageDecided(decision.event.inbound, outcome, decision.result.trace)
