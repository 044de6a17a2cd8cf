"""Carries out what owners of other homes ask of the sessions here (SC-1, SC-15).

Each request is removed by the commit of what it has led to, so it is carried out once, also when its shard moves.
"""

import asyncio
from contextlib import suppress

from rejoinder.errors import Superseded
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import agent_of, with_event
from rejoinder.store.base import AnswerAgent, EndHomeRequest, StopWork, StoredHomeRequest, TellSession


class HomeRequests:
    def __init__(self, parts: SessionParts) -> None:
        self._parts = parts
        self._store = parts.services.store
        self._clock = parts.services.clock
        self._looking = asyncio.Lock()

    async def look(self) -> None:
        async with self._looking:
            for each in await self._store.home_requests():
                with suppress(Superseded):  # somebody has changed the session meanwhile: the next look finds it again
                    await self._carry_out(each)

    async def _carry_out(self, asked: StoredHomeRequest) -> None:
        match asked.request:
            case TellSession(event=event):
                await self._tell(asked, event)
            case AnswerAgent():
                await self._answer(asked.id, asked.request)
            case StopWork(route=route):
                await self._parts.subagents.stop(route)
                await self._parts.queue.lanes.stop(self._parts.queue.lanes.at(route))
                await self._store.write(EndHomeRequest(asked.id))

    async def _tell(self, asked: StoredHomeRequest, event: str) -> None:
        async with self._parts.sessions.changing(asked.session, agent_of(asked.session), self._clock()) as held:
            if held.is_new:  # nobody has begun it since it was forgotten
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
