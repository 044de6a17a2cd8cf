"""Shortens conversations: by itself when one is full, and at somebody's word (TU-23, TU-29)."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from datetime import datetime

from msgspec import Struct

from rejoinder.agents.base import Agent, CanAnswer, CanCompact, Failed, Question
from rejoinder.events import PromptText, Turn
from rejoinder.runtime.abilities import can
from rejoinder.runtime.sessions import Sessions
from rejoinder.session import with_event
from rejoinder.turns.compaction import FLUSH_PROMPT, Fullness, after_compaction, plan

log = logging.getLogger(__name__)


class CompactionSettings(Struct, frozen=True, kw_only=True):
    budget: int = 0
    flushes: bool = True
    startup_notes: Mapping[str, str] = {}
    """What each agent is told again, by its name."""


class Compaction:
    """Remembers how full each session is, as far as its agent tells, and which have been shortened."""

    def __init__(self, settings: CompactionSettings, sessions: Sessions, clock: Callable[[], datetime]) -> None:
        self.context: dict[str, int] = {}
        self._settings = settings
        self._sessions = sessions
        self._clock = clock
        self._flushed: set[str] = set()
        self._untold: set[str] = set()  # shortened, and the people have not been told

    async def after_turn(self, session: str, agent: Agent, system: str, seen: Callable[[], None]) -> None:
        """Makes room when the turn has filled the context; `seen` hears the agent's signs of life."""
        if not self._settings.budget:
            return
        compacts = isinstance(agent, CanCompact)
        fullness = Fullness(self.context.get(session, 0), self._settings.budget, session in self._flushed)
        todo = plan(fullness, can_compact=compacts, flushes=self._settings.flushes)
        if todo.flush:
            self._flushed.add(session)
            await self._flush(agent, Turn(session, (PromptText(FLUSH_PROMPT),), system), seen)
        if todo.compact:
            seen()
            if await self.compact(session, agent):
                self._untold.add(session)
            else:
                log.warning("%s: %s could not shorten the conversation", session, agent.name)

    async def compact(self, session: str, agent: Agent) -> bool:
        """False when it cannot be done; else the next turn is told of it."""
        name = agent.name
        if not can(agent, CanCompact) or not await agent.compact(session):
            return False
        self.context.pop(session, None)
        self._flushed.discard(session)
        known = await self._sessions.find(session, name, self._clock())
        notes = self._settings.startup_notes.get(name, "")
        await self._sessions.save(with_event(known, after_compaction(notes)))
        return True

    def untold(self, session: str) -> bool:
        """Whether people are still to be told that this session was shortened; asked once."""
        told = session in self._untold
        self._untold.discard(session)
        return told

    async def _flush(self, agent: Agent, turn: Turn, seen: Callable[[], None]) -> None:
        """A turn whose words reach nobody. Nobody is there to answer a question either."""
        name, events = agent.name, agent.run(turn)
        try:
            async for event in events:
                seen()
                if isinstance(event, Question) and can(agent, CanAnswer):
                    await agent.answer(event.id, None)
                elif isinstance(event, Failed):
                    log.warning("%s: %s wrote nothing down: %s", turn.session, name, event.detail)
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
