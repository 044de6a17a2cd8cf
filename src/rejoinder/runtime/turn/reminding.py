"""Tells agents what they knew of a session, where they cannot know it any more: after a restart, for one (TU-33)."""

from datetime import datetime

from rejoinder.agents.base import REMEMBERED, Agent, CanLoad, CanRecall, Exchange
from rejoinder.bounded import Bounded
from rejoinder.events import PromptPart, PromptText
from rejoinder.runtime.abilities import can
from rejoinder.store.base import Entry, StoreReader


class Reminder:
    def __init__(self, store: StoreReader) -> None:
        self._store = store
        # Half of them: a session that is not among these may have fallen out of an agent's memory, or soon will.
        self._reminded: Bounded[str, Agent] = Bounded(REMEMBERED // 2)

    async def remind(self, session: str, agent: Agent, since: datetime) -> None:
        """Under which name the agent kept the session, or what was said in it; who was here lately knows it."""
        known = self._reminded.get(session) is agent  # one that was opened anew meanwhile knows nothing of it
        self._reminded.renew(session, agent)
        if known:
            return
        if can(agent, CanLoad) and (saved := await self._store.agent_session(session)) is not None:
            agent.load_session(session, saved)
        if can(agent, CanRecall) and (past := await self._store.transcript(session, since)):
            agent.recall(session, exchanges(past))


def exchanges(entries: tuple[Entry, ...]) -> tuple[Exchange, ...]:
    """A transcript as questions and answers; a question that was followed by another has none.

    It may begin in the middle: an answer whose question is out of reach is left out: a model takes none without one.
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
