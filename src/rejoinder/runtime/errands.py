"""Goes and does what a command asks of the gateway itself: what is read or done beside words, sessions and turns."""

from collections.abc import Mapping, Sequence

from rejoinder.agents.base import Agent, CanTellMemory, Exchange
from rejoinder.events import ShowContext
from rejoinder.runtime.abilities import can
from rejoinder.runtime.asked import Asked
from rejoinder.runtime.briefing import next_parts, surroundings_of, system_part
from rejoinder.runtime.performed import Asking, Performed
from rejoinder.runtime.reminding import exchanges
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.work import Workers
from rejoinder.session import Session
from rejoinder.store.base import Store
from rejoinder.turns import context
from rejoinder.turns.context import Budget, Past


class Errands:
    def __init__(self, agents: Mapping[str, Agent], settings: RuntimeSettings, store: Store, workers: Workers) -> None:
        self._agents = agents
        self._settings = settings
        self._store = store
        self._workers = workers

    async def run(self, errand: ShowContext, asking: Asking) -> Performed:
        session = asking.session
        assert session is not None, "commands are read when their session is known"
        return Performed(says=await self._context(asking, session))

    async def _context(self, asking: Asking, session: Session) -> str:
        agent, conversation = self._agents[asking.agent], asking.conversation
        here = surroundings_of(asking.message, session, self._settings, agent)
        handle = conversation.messages.handle(asking.message.inbound.message_id)
        overheard = conversation.overheard(agent.name)
        specimen = Asked("", asking.event.id, asking.message, conversation, handle, overheard)
        sent, kept = await self._remembered(agent, session), None
        if sent is None:
            kept = context.together(_past(exchanges(await self._store.transcript(session.key, session.started))))
        budget = Budget(self._settings.compaction.budget, self._workers.compaction.context.get(session.key, 0))
        sizes = context.measure(system_part(here), sent or (), next_parts(here, specimen))
        return context.told(agent.name, sizes, budget, kept)

    async def _remembered(self, agent: Agent, session: Session) -> list[Past] | None:
        """What its model is told again with every turn; None: the agent keeps the conversation itself."""
        await self._workers.reminder.remind(session.key, agent, session.started)
        return _past(agent.remembered(session.key)) if can(agent, CanTellMemory) else None


def _past(told: Sequence[Exchange]) -> list[Past]:
    return [Past(each.parts, each.answer) for each in told]
