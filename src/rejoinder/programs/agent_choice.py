"""Which agent answers where none was chosen: one that is found on this machine, or the one of the configuration."""

import os
import shutil
from importlib.util import find_spec

from msgspec.structs import replace

from rejoinder import plugins
from rejoinder.agents.discover import PROGRAMS, Offer, discover, offers
from rejoinder.config import schema
from rejoinder.errors import BadConfiguration
from rejoinder.extras import how_to_install


def discovered() -> tuple[str, schema.Agent, str]:
    """The agent for a person who chose none: its name, its settings, and a sentence that says which it is and why."""
    missing = "" if _can_acp() else how_to_install("acp")
    choice = discover(_programs(), os.environ, to_get_acp=missing)
    return choice.name, schema.Agent(choice.kind, choice.settings), choice.sentence


def offered() -> tuple[Offer, ...]:
    """The agents a person may choose from here."""
    return offers(_programs(), os.environ, can_acp=_can_acp())


def _can_acp() -> bool:
    return find_spec("acp") is not None


def _programs() -> list[str]:
    return [program.command[0] for program in PROGRAMS if shutil.which(program.command[0])]


def with_agent(settings: schema.Settings, wanted: str | None) -> tuple[schema.Settings, str, str]:
    """The settings with the agent that answers, its name, and a sentence if nobody chose it.

    `wanted` is the name of a configured agent, or a kind that needs no settings.
    """
    if wanted is not None and wanted not in settings.agents:
        if settings.agents and wanted not in plugins.names("agent"):
            there = ", ".join(sorted({*settings.agents, *plugins.names("agent")}))
            raise BadConfiguration(f"no agent called {wanted!r}; there are: {there}")
        plugins.find("agent", wanted)
        agent = schema.Agent(wanted, {})
        return replace(settings, agents={**settings.agents, wanted: agent}), wanted, ""
    if wanted is not None:
        return settings, wanted, ""
    if settings.agents:
        terminal = settings.channels.get("terminal")
        chosen = terminal.common.agent if terminal is not None else None
        return settings, chosen or next(iter(settings.agents)), ""
    name, agent, sentence = discovered()
    return replace(settings, agents={name: agent}), name, sentence
