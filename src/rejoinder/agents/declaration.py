"""The declaration of a kind of agent, in its own file or folder and nowhere else (CH-1).

An agent kind is a module with `AGENT = AgentKind(...)`. Reading a declaration loads no SDK: configuration, docs and the
search for an agent on this machine use it without opening anything, so `open` imports what it needs when it is called.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from rejoinder.agents.base import Agent
from rejoinder.agents.settings import AgentSettings
from rejoinder.setup import SetupQuestion


class Program(Struct, frozen=True):
    """A program on PATH that is an agent of this kind, and the variables it signs in with.

    The settings of such a kind have `command` and `pass_env`.
    """

    command: tuple[str, ...]
    title: str
    keys: tuple[str, ...] = ()


class ApiKeyVariable(Struct, frozen=True):
    """A variable that holds a key, and the models it opens: the newest we know, then fallbacks for when it is gone.

    Providers retire a name within a year or two; where they have a name for the latest model, that one is used. The
    settings of such a kind have `base_url`, `model`, `fallbacks` and `api_key`.
    """

    variable: str
    title: str
    models: tuple[str, ...]
    base_url: str
    well_known: bool = False
    """Whether it is suggested to people who have no key yet."""


class AgentOffer(Struct, frozen=True):
    """An agent that a person may choose: what it is, and its section with API keys as `${VARIABLE}`."""

    title: str
    section: Mapping[str, Any]
    """The keys of its section, without `kind`, which is that of the declaration."""
    asks: tuple[SetupQuestion, ...] = ()
    """The keys whose values only the person knows."""


class AgentKind(Struct, frozen=True, kw_only=True):
    """All that is known of a kind of agent before one is opened."""

    open: Callable[..., Agent]
    """Makes the agent, given its name and its settings."""
    settings: type[Struct] = AgentSettings
    """The record of its section, `[agents.NAME]`, besides the keys that all agents have."""
    needs: str = ""
    """A module of another package that it needs; the extra with the name of the kind installs it."""
    programs: tuple[Program, ...] = ()
    """Programs to look for on PATH when no agent was chosen; the first that is installed is used."""
    keys: tuple[ApiKeyVariable, ...] = ()
    """Keys to look for in the environment when no agent was chosen and no program was found."""
    offers: tuple[AgentOffer, ...] = ()
    """More choices that `rejoinder init` offers besides the programs and keys that were found."""
    last_resort: bool = False
    """Whether it is used if neither a program nor a key was found; it then needs no settings."""
    reads_files: bool = False
    """Whether it works in a folder, `cwd`, and reads the notes there itself."""
    machine_bound: bool = False
    """Whether its memory of a session is on the machine it runs on (SC-7)."""
