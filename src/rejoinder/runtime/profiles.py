"""What the inbound floor has to know about an agent, taken from what the agent declares (IN-59)."""

from rejoinder.agents.base import (
    Agent,
    CanAnswer,
    CanSetModel,
    CanShowThoughts,
    CanThink,
    HasAllowList,
    HasProfiles,
    TakesExec,
)
from rejoinder.inbound.directives.model import Models
from rejoinder.inbound.rules import AgentProfile


def profile_of(agent: Agent) -> AgentProfile:
    models = Models()
    if isinstance(agent, CanSetModel):
        default = agent.models[0] if agent.models else None
        profiles = agent.profiles if isinstance(agent, HasProfiles) else ()
        models = Models(default, agent.fallbacks, {name: name for name in agent.models[1:]}, profiles=profiles)
    return AgentProfile(
        agent.name,
        models,
        think_levels=agent.think_levels if isinstance(agent, CanThink) else (),
        shows_thoughts=isinstance(agent, CanShowThoughts) and agent.shows_thoughts,
        takes_exec=agent.takes_exec if isinstance(agent, TakesExec) else (),
        has_allowlist=isinstance(agent, HasAllowList),
        changes_model=isinstance(agent, CanSetModel),
        asks_permission=isinstance(agent, CanAnswer),
    )
