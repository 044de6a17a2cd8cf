"""Tells agents what they knew of a session if they may have lost it, for example after a restart (TU-33)."""

from datetime import datetime

from rejoinder.agents.base import REMEMBERED, Agent, CanLoad, CanRecall, Exchange
from rejoinder.bounded import Bounded
from rejoinder.events import PromptPart, PromptText
from rejoinder.runtime.abilities import can
from rejoinder.store.base import StoreReader, TranscriptEntry


class Reminder:
    def __init__(self, store: StoreReader) -> None:
        self._store = store
        # Half of what agents remember: a session missing here may be missing from the agent's memory, or soon will be.
        self._reminded: Bounded[str, Agent] = Bounded(REMEMBERED // 2)

    async def remind(self, session: str, agent: Agent, since: datetime) -> None:
        """Gives the agent its own id of the session, or what was said in it, unless it was reminded lately."""
        known = self._reminded.get(session) is agent  # an agent that was reopened is another object
        self._reminded.renew(session, agent)
        if known:
            return
        if can(agent, CanLoad) and (saved := await self._store.agent_session(session)) is not None:
            agent.load_session(session, saved)
        if can(agent, CanRecall) and (past := await self._store.transcript(session, since)):
            agent.recall(session, exchanges(past))


def exchanges(entries: tuple[TranscriptEntry, ...]) -> tuple[Exchange, ...]:
    """A transcript as questions and answers; consecutive questions are joined.

    A transcript may begin in the middle. An answer without its question is left out: models do not accept one.
    """
    found: list[Exchange] = []
    asked: tuple[PromptPart, ...] = ()
    for entry in entries:
        if entry.stands_for_all:
            found, asked = [], ()
        if entry.role == "user":
            asked += entry.parts
        elif asked:
            found.append(Exchange(asked, "".join(p.text for p in entry.parts if isinstance(p, PromptText))))
            asked = ()
    return (*found, Exchange(asked)) if asked else tuple(found)
