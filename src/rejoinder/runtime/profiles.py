"""What the inbound floor has to know about an agent, from the agent's own declarations (IN-59)."""

from collections.abc import Mapping

from rejoinder.agents.base import (
    Agent,
    CanAnswer,
    CanSetModel,
    CanShowThoughts,
    CanSteer,
    CanThink,
    HasAliases,
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
        short: Mapping[str, str] = agent.aliases if isinstance(agent, HasAliases) else {}
        aliases = {**{name: name for name in agent.models[1:]}, **short}
        models = Models(default, agent.fallbacks, aliases, profiles=profiles)
    return AgentProfile(
        agent.name,
        models,
        think_levels=agent.think_levels if isinstance(agent, CanThink) else (),
        shows_thoughts=isinstance(agent, CanShowThoughts) and agent.shows_thoughts,
        takes_exec=agent.takes_exec if isinstance(agent, TakesExec) else (),
        has_allowlist=isinstance(agent, HasAllowList),
        changes_model=isinstance(agent, CanSetModel),
        asks_permission=isinstance(agent, CanAnswer),
        steers=isinstance(agent, CanSteer),
    )
