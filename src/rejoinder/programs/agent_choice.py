"""Decides which agent answers if none was chosen: one that is found on this machine, or the configured one."""

import os
import shutil
from importlib.util import find_spec

from msgspec.structs import replace

from rejoinder import plugins
from rejoinder.agents.declaration import AgentOffer
from rejoinder.agents.discover import Declared, discover, offers, programs
from rejoinder.config import schema
from rejoinder.config.kinds import agent_kinds
from rejoinder.errors import BadConfiguration
from rejoinder.extras import how_to_install


def discovered() -> tuple[str, schema.ConfiguredAgent, str]:
    """The agent for a person who chose none: its name, its settings, and a sentence that says which agent it is and
    why."""
    kinds = agent_kinds()
    choice = discover(kinds, _installed(kinds), os.environ, _missing(kinds))
    return choice.name, schema.ConfiguredAgent(choice.kind, choice.settings), choice.sentence


def offered() -> tuple[AgentOffer, ...]:
    """The agents that a person may choose."""
    kinds = agent_kinds()
    return offers(kinds, _installed(kinds), os.environ, _missing(kinds))


def _missing(kinds: Declared) -> dict[str, str]:
    """The kinds that cannot be opened here, with the command that installs what each needs."""
    return {name: how_to_install(name) for name, kind in kinds.items() if kind.needs and find_spec(kind.needs) is None}


def _installed(kinds: Declared) -> list[str]:
    return [program.command[0] for _, program in programs(kinds) if shutil.which(program.command[0])]


def with_agent(settings: schema.Settings, wanted: str | None) -> tuple[schema.Settings, str, str]:
    """The settings with the agent that answers, its name, and a sentence if nobody chose it.

    `wanted` is the name of a configured agent, or a kind that needs no settings.
    """
    if wanted is not None and wanted not in settings.agents:
        if settings.agents and wanted not in plugins.names("agent"):
            there = ", ".join(sorted({*settings.agents, *plugins.names("agent")}))
            raise BadConfiguration(f"no agent called {wanted!r}; there are: {there}")
        plugins.find("agent", wanted)
        agent = schema.ConfiguredAgent(wanted, {})
        return replace(settings, agents={**settings.agents, wanted: agent}), wanted, ""
    if wanted is not None:
        return settings, wanted, ""
    if settings.agents:
        terminal = settings.channels.get("terminal")
        chosen = terminal.common.agent if terminal is not None else None
        return settings, chosen or next(iter(settings.agents)), ""
    name, agent, sentence = discovered()
    return replace(settings, agents={name: agent}), name, sentence


def absent_programs(settings: schema.Settings) -> list[str]:
    """A sentence for each agent whose program is not on this machine. So the operator learns of it at the start, and
    not the first person who writes."""
    return [
        f"agents.{name}: there is no program {program} on the PATH. Install it; until then {name} cannot answer."
        for name, agent in settings.agents.items()
        if (program := _program_of(agent)) and shutil.which(program) is None
    ]


def _program_of(agent: schema.ConfiguredAgent) -> str | None:
    """None if only a start could tell: it has a path relative to its folder, or its own PATH."""
    command: tuple[str, ...] = getattr(agent.settings, "command", ())
    if not command or "PATH" in getattr(agent.settings, "env", {}):
        return None
    program = command[0]
    return program if os.path.isabs(program) or os.sep not in program else None
