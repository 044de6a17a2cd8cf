"""The agents of a gateway: opened from its settings, lent, replaced when their section changes, closed when unused."""

import asyncio
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager

from rejoinder.agents import base as agent_base
from rejoinder.agents.base import Agent, CanClose, TakesTools, ToolSource
from rejoinder.config import schema
from rejoinder.runtime.abilities import learn
from rejoinder.runtime.engine import Engine
from rejoinder.runtime.foreign_calls import close_foreign
from rejoinder.wiring.opening import open_agents, open_changed_agents


class AgentPool:
    """`given`: agents opened elsewhere, used instead of those of the settings; they are never replaced."""

    def __init__(self, settings: schema.Settings, given: Mapping[str, Agent] | None) -> None:
        self.agents = dict(given) if given is not None else open_agents(settings)
        self._is_ours = given is None
        self._lent: dict[asyncio.Event, Agent] = {}
        learn(self.agents.values(), agent_base)

    def offer_tools(self, source: ToolSource) -> None:
        """From their next session on, agents that speak MCP are told where the gateway's tools are."""
        for agent in self.agents.values():
            if isinstance(agent, TakesTools):
                agent.take_tools(source)

    def open_changed(self, before: schema.Settings, after: schema.Settings) -> dict[str, Agent]:
        """Opens the agents whose section has changed, with the new section; they are not in use yet."""
        opened = open_changed_agents(before, after) if self._is_ours else {}
        learn(opened.values(), agent_base)
        return opened

    def replace(self, opened: Mapping[str, Agent]) -> list[Agent]:
        """Puts these in use. Returns the agents that they replace, each of which must be given to `retire`."""
        replaced = [self.agents[name] for name in opened]
        self.agents.update(opened)
        return replaced

    @contextmanager
    def lend(self, name: str) -> Generator[Agent]:
        """Lends an agent for work other than chat turns; it is not closed meanwhile."""
        agent, back = self.agents[name], asyncio.Event()
        self._lent[back] = agent
        try:
            yield agent
        finally:
            del self._lent[back]
            back.set()

    async def retire(self, agent: Agent, engines: Iterable[Engine]) -> None:
        """Closes a replaced agent when its turns and loans have ended."""
        try:
            for engine in engines:
                for run in engine.turn_runner.turns_of(agent):
                    await run.ended.wait()
            for back in [back for back, lent in self._lent.items() if lent is agent]:
                await back.wait()
        finally:
            await close(agent)

    async def close(self) -> None:
        for agent in reversed(self.agents.values()):
            await close(agent)


async def close(agent: Agent) -> None:
    if isinstance(agent, CanClose):
        await close_foreign(agent.name, agent.close)
