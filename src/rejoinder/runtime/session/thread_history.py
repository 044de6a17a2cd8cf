"""What an agent is told about a thread in its first turn there (TU-31): the message the thread hangs under and the
earlier messages, fetched from the platform if possible.

All of it goes into the index, so that the agent can reply and react to it (OD-52).
"""

import asyncio
import logging
from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from rejoinder.channels.base import CanReadThread
from rejoinder.events import EarlierMessage, Inbound
from rejoinder.inbound.groups import MOST_OVERHEARD
from rejoinder.runtime.abilities import can
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.turn_inputs import TurnInput
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, is_untouched

log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that the platform may take; after that the turn begins without the history."""


async def with_thread(run: Run, session: Session, now: datetime) -> tuple[TurnInput, ...]:
    """The messages of the run. In the first turn of a thread, the first message includes the thread's root and
    history; in later turns none does."""
    first, *others = run.inputs
    conversation, inbound = run.conversation, first.message.inbound
    if conversation.route.thread is None or first.message.background or inbound.opened_thread is not None:
        return run.inputs
    if is_untouched(session) or await _is_first(run):
        completed = await _told(inbound, conversation, now)
    else:
        completed = replace(inbound, thread_starter=None, thread_history=())
    return (replace(first, message=replace(first.message, inbound=completed)), *others)


async def _is_first(run: Run) -> bool:
    """Whether no earlier turn of this session was in this thread. A thread may share the session of its chat."""
    return await run.conversation.store.first_turn(run.session, run.conversation.route) == run.claim.turn


async def _told(inbound: Inbound, conversation: Conversation, now: datetime) -> Inbound:
    starter = await _starter(inbound, conversation)
    before = inbound.thread_history or await _fetched(inbound, conversation)
    met = [said for said in (starter, *before) if said is not None and said.message_id]
    if strangers := conversation.unknown_messages_to_index(met, now):
        batch = WriteBatch()
        noted = batch.add(strangers)
        await batch.insist(conversation.store)
        conversation.add_to_index(noted())
    starter, *before = _with_handles((starter or EarlierMessage("", ""), *before), conversation)
    return replace(inbound, thread_starter=starter if starter.text else None, thread_history=tuple(before))


async def _starter(inbound: Inbound, conversation: Conversation) -> EarlierMessage | None:
    """The thread's root as the platform reports it; otherwise from the index of the chat, if the thread has the id of
    its root."""
    if isinstance(inbound.thread_starter, str):
        return EarlierMessage("", "", text=inbound.thread_starter)
    return inbound.thread_starter or await conversation.root()


async def _fetched(inbound: Inbound, conversation: Conversation) -> tuple[EarlierMessage, ...]:
    channel, name = conversation.channel, conversation.channel.name
    if not can(channel, CanReadThread):
        return ()
    conversation.sender.check()
    try:
        async with asyncio.timeout(PATIENCE):
            return await guarded(channel.thread_before(conversation.route, inbound.message_id, MOST_OVERHEARD))
    except Exception:  # a channel may be third-party code; the agent is asked anyway
        log.exception("%s failed while reading what was said in %s", name, conversation.route.thread)
        return ()


def _with_handles(told: Iterable[EarlierMessage], conversation: Conversation) -> list[EarlierMessage]:
    return [replace(said, handle=conversation.messages.handle(said.message_id) or "") for said in told]
