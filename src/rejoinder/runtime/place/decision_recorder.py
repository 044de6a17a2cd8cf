"""Records a decision, whether it gets a turn or not: index entries, a trace, replies, and the verbs of its effects. All
of this is one batch, to which the caller may add; hooks and replies follow once it is written.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from rejoinder.channels.base import AcknowledgesPresses
from rejoinder.events import MessageDecided, ReplyContext, SessionStarted, Step
from rejoinder.inbound.outcome import told_of
from rejoinder.inbound.replies import only_for, replies_to
from rejoinder.runtime.abilities import can
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.place.decision import Decision, asking
from rejoinder.runtime.place.effects import EffectResult, Effects
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.prefixes import Prefix, prefix_of
from rejoinder.runtime.session.sessions import HeldSession
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session
from rejoinder.store.base import IndexedMessage, PutHookEvents, SettleEvent, Trace, said_about


class DecisionRecord(Struct, frozen=True):
    """A decision that is about to be stored."""

    batch: WriteBatch
    noted: Callable[[], tuple[IndexedMessage, ...]]
    """Returns its messages as the index has them, once the batch is written."""
    performed: Sequence[EffectResult]
    speaks: bool
    """Whether there are replies."""
    by_owner: bool


class DecisionRecorder:
    def __init__(self, services: Services, effects: Effects, owners: OwnerChats) -> None:
        self._settings = services.settings
        self._hooks = services.hooks
        self._tasks = services.tasks
        self._effects = effects
        self._owners = owners

    async def begin(self, decision: Decision) -> DecisionRecord:
        """Performs the effects; nothing is written yet."""
        batch, result, now, event = WriteBatch(), decision.result, decision.now, decision.event
        conversation, performed = decision.conversation, ()
        if result.effects:
            performed = [await self._effects.perform(effect, asking(decision)) for effect in result.effects]
        inbounds, readable = [event.inbound], result.message.refusal is None
        if decision.before:
            inbounds = [each.inbound for each in (*decision.before, event)]
        noted = batch.add(conversation.messages_to_index(inbounds, now, readable=readable, ours=decision.ours))
        for each in decision.before:
            joined = f"joined to {event.inbound.message_id}"
            batch.add_all((SettleEvent(each.id, joined), Trace(each.id, now, (Step("debounce", joined),))))
        batch.add_all((Trace(event.id, now, result.trace),))
        for each in performed:
            batch.add_all(each.verbs)
        effects_say = [each.says for each in performed if each.says is not None] if performed else ()
        if said := replies_to(event.inbound, result, effects_say):
            said = map(self._prefix(decision), said)
            context, one = event.inbound.reply_context, only_for(event.inbound, self._settings.now.rules.commands)
            stem = said_about(event.id)
            batch.add_all((conversation.parts_to_say(said, now, stem=stem, context=context, only_for=one),))
        if by_owner := result.message.is_owners_alone:
            batch.add_all(self._owners.to_keep(conversation.route))
        return DecisionRecord(batch, noted, performed, bool(said), by_owner)

    def settled(self, decision: Decision, record: DecisionRecord) -> None:
        """Makes the decision effective, after its commit."""
        conversation, inbound = decision.conversation, decision.event.inbound
        conversation.add_to_index(record.noted())
        conversation.set_bot_turns(decision.bot_turns)
        conversation.trace(inbound.message_id, decision.result.trace)
        if self._hooks.wants(MessageDecided):
            self._hooks.tell(told_of(inbound, decision.result))
        if record.by_owner:
            self._owners.wrote(conversation.route)
        for each in record.performed:
            each.then()
        if record.speaks:
            conversation.sender.wake(rows=True)
        elif inbound.entry == "button" and inbound.reply_context is not None:
            self._notice_press(conversation, inbound.reply_context)

    def keep(self, held: HeldSession, session: Session, conversation: Conversation) -> None:
        """Notes that the session has been written in this state."""
        self.started(held, session, conversation)
        held.mark_stored(session)

    def started(self, held: HeldSession, session: Session, conversation: Conversation) -> None:
        """Tells hooks of a new session: it starts with the first thing it has to remember, a choice or a turn."""
        if held.is_new:
            self._hooks.tell(_start(session, conversation), kept=True)

    def kept_start(self, held: HeldSession, session: Session, conversation: Conversation) -> tuple[PutHookEvents, ...]:
        return self._hooks.kept(_start(session, conversation)) if held.is_new else ()

    def _prefix(self, decision: Decision) -> Prefix:
        """The prefix of the replies. A message that was answered before its session was looked up is answered as in a
        new session."""
        session = decision.result.session or Session("", decision.agent, decision.now, decision.now)
        return prefix_of(decision.result.message, session, self._settings.now)

    def _notice_press(self, conversation: Conversation, context: ReplyContext) -> None:
        """Acknowledges a pressed button if there is nothing to say to the person (CH-10)."""
        if can(conversation.channel, AcknowledgesPresses):
            self._tasks.start("press", _acknowledge(conversation.channel, conversation, context))


async def _acknowledge(channel: AcknowledgesPresses, conversation: Conversation, context: ReplyContext) -> None:
    conversation.sender.check()
    await guarded(channel.acknowledge_press(context))


def _start(session: Session, conversation: Conversation) -> SessionStarted:
    return SessionStarted(session.key, session.agent, conversation.route, session.started)
