"""Gives agents back what they knew of a session if they may have lost it, for example after a restart (TU-33)."""

from datetime import datetime

from rejoinder.agents.base import Agent, BoundToMachine, CanLoad, CanRecall, Exchange
from rejoinder.bounded import Bounded
from rejoinder.events import PromptPart, PromptText
from rejoinder.runtime.abilities import can
from rejoinder.store.base import AgentSession, StoreReader, TranscriptEntry


def noted(saved: str, agent: object, machine: str) -> AgentSession:
    """The record of a session that the agent has saved; it names the machine if that matters (SC-7)."""
    return AgentSession(saved, machine if can(agent, BoundToMachine) and agent.is_bound() else "")


class SessionRestorer:
    def __init__(self, store: StoreReader, restored: Bounded[str, tuple[object, Agent]], machine: str = "") -> None:
        """`restored`: shared by the engines of the process. `machine`: the name of this machine; empty if there is only
        one."""
        self._store = store
        self._machine = machine
        self._restored = restored

    async def restore(self, session: str, agent: Agent, since: datetime) -> None:
        """Gives the agent its own id of the session, or what was said in it, unless this was done recently."""
        # An agent that was reopened is another object; so is this restorer if another process had the session
        # meanwhile.
        known = self._restored.get(session) == (self, agent)
        self._restored.renew(session, (self, agent))
        if known:
            return
        if can(agent, CanLoad):
            saved = await self._store.agent_session(session)
            if saved is not None and not self._loses(agent, session, saved):
                agent.load_session(session, saved.id)
        if can(agent, CanRecall) and (past := await self._store.transcript(session, since)):
            agent.recall(session, exchanges(past))

    def forget(self) -> None:
        """Forgets all sessions, because other processes continue them."""
        for session in [session for session, (who, _) in self._restored.items() if who is self]:
            del self._restored[session]

    @property
    def has_bound(self) -> bool:
        """Whether a session that was used here lately has files that exist only on this machine (SC-7)."""
        return any(
            who is self and can(agent, BoundToMachine) and agent.is_bound() for who, agent in self._restored.values()
        )

    def _loses(self, agent: object, session: str, saved: AgentSession) -> bool:
        """Tells the agent if it saved the session on another machine."""
        is_here = not saved.machine or saved.machine == self._machine or not self._machine
        if is_here or not can(agent, BoundToMachine) or not agent.is_bound():
            return False
        agent.lose_session(session, saved.id)
        return True


def exchanges(entries: tuple[TranscriptEntry, ...]) -> tuple[Exchange, ...]:
    """A transcript as questions and answers; consecutive questions are joined.

    A transcript may begin in the middle. An answer without its question is left out: models do not accept one.
    """
    found: list[Exchange] = []
    question: tuple[PromptPart, ...] = ()
    for entry in entries:
        if entry.stands_for_all:
            found, question = [], ()
        if entry.role == "user":
            question += entry.parts
        elif question:
            found.append(Exchange(question, "".join(p.text for p in entry.parts if isinstance(p, PromptText))))
            question = ()
    return (*found, Exchange(question)) if question else tuple(found)
