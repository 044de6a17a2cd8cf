"""Handles edits and deletions by people (CH-8).

Rule 1: a message that waits for its turn is changed or removed, in the store and in its lane.
Rule 2: an agent that has already received the message is told of an edit with its next turn, and no turn is started for
        that. It is not told of a deletion, because it cannot forget.
Rule 3: a message that was only overheard is passed on with its new words, or not at all if it was deleted.
"""

from msgspec import MsgspecError
from msgspec.structs import replace

from rejoinder.events import ReviseMessage
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.place.effects import EffectResult
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.payloads import StoredInput, message_of, repack, unpack
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import with_event
from rejoinder.store.base import DropInputs, ForgetMessage, Input, ReviseInput

DELETED = "deleted by its sender"
EDITED = "{name} edited an earlier message ({id}); it now says: {text}"
LONGEST = 2000


class MessageEdits:
    def __init__(self, services: Services, lanes: Lanes, sessions: Sessions) -> None:
        self._store = services.store
        self._clock = services.clock
        self._lanes = lanes
        self._sessions = sessions

    async def revise(self, revision: ReviseMessage, conversation: Conversation) -> EffectResult:
        done = [EffectResult(then=lambda: conversation.reword(revision.message, revision.text))]
        for event in await self._store.events_of(revision.message):
            if event.inbound.route != conversation.route or event.inbound.entry in ("edit", "delete"):
                continue
            for put in await self._store.inputs_of(event.id):
                done.append(await self._revise(put, revision, conversation))
        if revision.text is None:
            done.append(EffectResult((ForgetMessage(conversation.route, revision.message),)))

        def then() -> None:
            for each in done:
                each.then()

        return EffectResult(tuple(verb for each in done for verb in each.verbs), then)

    async def _revise(self, put: Input, revision: ReviseMessage, conversation: Conversation) -> EffectResult:
        lane = self._lanes.get(put.session)
        waiting = None if lane is None or put.state != "waiting" else lane.waiting_input(put.event.id)
        if lane is None or waiting is None:
            if revision.text is not None and put.state in ("taken", "steered"):
                await self._tell(put, revision, conversation)
            return EffectResult()
        if revision.text is None:
            verb = DropInputs(put.session, (put.event.id,), DELETED)
            return EffectResult((verb,), lambda: lane.revise(waiting, None))
        stored = unpack(put.payload)
        inbound = replace(stored.inbound or put.event.inbound, text=revision.text)
        revised = replace(stored, text=revision.text, around=None, prompt=None, taken=(), inbound=inbound)
        message = message_of(revised, put.event.inbound)
        return EffectResult(
            (ReviseInput(put.session, put.event.id, repack(revised)),), lambda: lane.revise(waiting, message)
        )

    async def _tell(self, put: Input, revision: ReviseMessage, conversation: Conversation) -> None:
        try:
            stored: StoredInput = unpack(put.payload)
        except MsgspecError:  # written by another version: the agent is not told
            return
        handle = conversation.messages.handle(revision.message) or revision.message
        text = (revision.text or "")[:LONGEST]
        note = EDITED.format(name=put.event.inbound.sender.shown_name or "The sender", id=handle, text=text)
        async with self._sessions.changing(put.session, stored.agent, self._clock()) as held:
            session = with_event(held.session, note)
            await WriteBatch(*held.put_verbs(session)).write(self._store)
            held.mark_stored(session)
