"""Shortens conversations: automatically when one is full, and on command (TU-23, TU-29)."""

import logging
from collections.abc import AsyncGenerator, Callable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents.base import Agent, CanAnswer, CanCompact, Exchange, Failed, Question
from rejoinder.bounded import Bounded
from rejoinder.events import PromptText, Turn
from rejoinder.runtime.abilities import can
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.session_restorer import SessionRestorer
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import with_event
from rejoinder.store.base import AppendTranscript, TranscriptEntry
from rejoinder.turns.compaction import FLUSH_PROMPT, Fullness, after_compaction, plan

log = logging.getLogger(__name__)

SESSIONS = 10_000


class CompactionResult(Struct, frozen=True):
    """What the next turn is told about a compaction, and the verbs that keep a restart from undoing it."""

    note: str
    kept: tuple[AppendTranscript, ...] = ()


class Compaction:
    """Remembers how full each session is, if its agent reports it, and which have been shortened."""

    def __init__(self, services: Services, sessions: Sessions, restorer: SessionRestorer) -> None:
        self.context: Bounded[str, int] = Bounded(SESSIONS)
        self._settings = services.settings
        self._sessions = sessions
        self._store = services.store
        self._clock = services.clock
        self._restorer = restorer
        self._flushed: Bounded[str, bool] = Bounded(SESSIONS)
        self._untold: Bounded[str, bool] = Bounded(SESSIONS)  # shortened sessions people were not told of

    async def after_turn(self, agent: Agent, turn: Turn, seen: Callable[[], None]) -> None:
        """Makes room if this turn has filled the context; `seen` is called at each sign of life of the agent."""
        settings, session = self._settings.now.compaction, turn.session
        if not settings.budget:
            return
        compacts = isinstance(agent, CanCompact)
        fullness = Fullness(self.context.get(session, 0), settings.budget, session in self._flushed)
        todo = plan(fullness, can_compact=compacts, flushes=settings.flushes)
        if todo.flush:
            self._flushed[session] = True
            await self._flush(agent, replace(turn, parts=(PromptText(FLUSH_PROMPT),)), seen)
        if todo.compact:
            seen()
            if await self.compact(session, agent):
                self._untold[session] = True
            else:
                log.warning("%s: %s could not shorten the conversation", session, agent.name)

    async def shorten(self, session: str, agent: Agent, instructions: str = "") -> CompactionResult | None:
        """Shortens what the agent remembers; the caller writes the result. None if it cannot be done.

        `instructions`: what a person wants the summary to keep.
        """
        name = agent.name
        since = (await self._sessions.find(session, name, self._clock())).started
        await self._restorer.restore(session, agent, since)
        wishes = (instructions,) if instructions else ()
        kept = await agent.compact(session, *wishes) if can(agent, CanCompact) else False
        if kept is False:
            return None
        self.context.pop(session, None)
        self._flushed.pop(session, None)
        note = after_compaction(self._settings.now.compaction.startup_notes.get(name, ""))
        return CompactionResult(note, () if kept is True else (_summary(session, kept, self._clock()),))

    async def compact(self, session: str, agent: Agent) -> bool:
        """Shortens the session and has the next turn told of it; False if it cannot be done."""
        name, shortened = agent.name, await self.shorten(session, agent)
        if shortened is None:
            return False
        async with self._sessions.changing(session, name, self._clock()) as held:
            changed = with_event(held.session, shortened.note)
            await WriteBatch(*held.put_verbs(changed), *shortened.kept).insist(self._store)
            held.mark_stored(changed)
        return True

    def untold(self, session: str) -> bool:
        """Whether people still have to be told that this session was shortened; returns True only once."""
        return self._untold.pop(session, False)

    async def _flush(self, agent: Agent, turn: Turn, seen: Callable[[], None]) -> None:
        """Runs a turn without any person: its words are not shown, and its questions are declined."""
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


def _summary(session: str, kept: Exchange, now: datetime) -> AppendTranscript:
    answer = (TranscriptEntry("agent", (PromptText(kept.answer),), now),) if kept.answer else ()
    return AppendTranscript(session, (TranscriptEntry("user", kept.parts, now, stands_for_all=True), *answer))
