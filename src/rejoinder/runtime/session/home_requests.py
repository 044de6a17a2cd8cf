"""Carries out requests from owners of other homes to the sessions here (SC-1, SC-15).

Each request is removed in the commit of its effects, so it is carried out once, even if its shard moves.
"""

import asyncio
import logging
from typing import Final

from rejoinder.errors import StoreUnavailable, Superseded
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import agent_of, with_event
from rejoinder.store.base import AnswerAgent, EndHomeRequest, StopWork, StoredHomeRequest, TellSession

log = logging.getLogger(__name__)

DAMAGED: Final = "%s: a request of another home is damaged and cannot be carried out; it was removed"


class HomeRequests:
    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._store = parts.services.store
        self._clock = parts.services.clock
        self._tasks = parts.services.tasks
        self._looking: asyncio.Task[None] | None = None
        self._failed: set[int] = set()
        """Requests that failed and whose failure is in the log. They are tried again at each look."""

    def look(self) -> None:
        """Returns at once, because a run may take its time to stop. Requests that arrive during a look are found by the
        next one, within a second."""
        if self._looking is None or self._looking.done():
            self._looking = self._tasks.start("home requests", self._look())

    async def _look(self) -> None:
        try:
            requests = await self._store.home_requests()
            self._failed &= {request.id for request in requests}
            for request in requests:
                try:
                    await self._carry_out(request)
                except Superseded as lost:  # the session was changed meanwhile: the next look tries again
                    log.debug("%s", lost)
                except StoreUnavailable:
                    raise
                except Exception:  # one request must not hold up those behind it
                    if request.id not in self._failed:
                        log.exception("%s: a request of another home could not be carried out", request.session)
                    self._failed.add(request.id)
        except StoreUnavailable as fault:
            log.debug("skipped for now: %s", fault)  # the store has logged it already

    async def _carry_out(self, stored: StoredHomeRequest) -> None:
        match stored.request:
            case TellSession(event=event):
                await self._tell(stored, event)
            case AnswerAgent():
                await self._answer(stored.id, stored.request)
            case StopWork():
                await self._stop(stored.request)
                await self._store.write(EndHomeRequest(stored.id))
            case None:
                await self._store.write(EndHomeRequest(stored.id))
                log.error(DAMAGED, stored.session)

    async def _stop(self, stop: StopWork) -> None:
        """Stops only what began before the request: this may be carried out late, or again."""
        await self._parts.subagents.stop(stop.route, stop.asked)
        lanes = [each for each in self._parts.queue.lanes.at(stop.route) if each.has_from_before(stop.asked)]
        await self._parts.queue.lanes.stop(lanes, stop.asked)

    async def _tell(self, asked: StoredHomeRequest, event: str) -> None:
        async with self._parts.sessions.changing(asked.session, agent_of(asked.session), self._clock()) as held:
            if held.is_new:  # the session was forgotten and nobody has begun it again
                await self._store.write(EndHomeRequest(asked.id))
                return
            session = with_event(held.session, event)
            await WriteBatch(EndHomeRequest(asked.id), *held.put_verbs(session)).write(self._store)
            held.mark_stored(session)

    async def _answer(self, id: int, given: AnswerAgent) -> None:
        answered = self._parts.questions.answer(given.question, given.words, given.route, given.sender, given.pressed)
        batch = WriteBatch(EndHomeRequest(id), *answered.verbs)
        conversation = self._parts.conversations.at(given.route)
        if answered.says is not None and conversation is not None:
            await conversation.open(self._clock())
            batch.add_all((conversation.parts_to_say((answered.says,), self._clock()),))
        await batch.write(self._store)
        answered.then()
        if conversation is not None:
            conversation.sender.wake(rows=True)
