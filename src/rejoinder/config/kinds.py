"""Every kind of agent and channel that a configuration may name: ours and those of other packages.

A kind is found by its name and imported when it is asked for, so a file is checked without loading what it does not
name.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct

from rejoinder import plugins
from rejoinder.agents.declaration import AgentKind
from rejoinder.channels.declaration import ChannelKind
from rejoinder.config.schema import Settings
from rejoinder.errors import BadConfiguration


class Kinds(NamedTuple):
    """The kinds of agent and channel there are, each with the record of its section."""

    agents: Mapping[str, type[Struct]]
    channels: Mapping[str, type[Struct]]


def channel_kind(name: str) -> ChannelKind:
    """What a kind of channel declares. One of ours without a connection gives way to that of another package."""
    module = plugins.find("channel", name)
    kind = module.CHANNEL
    if isinstance(kind, ChannelKind) and kind.open is None and name in plugins.theirs("channel"):
        module = plugins.find_other("channel", name)
        kind = module.CHANNEL
    if not isinstance(kind, ChannelKind):
        raise BadConfiguration(f"{module.__name__} is no channel: its CHANNEL is no ChannelKind")
    return kind


def agent_kind(name: str) -> AgentKind:
    """What a kind of agent declares."""
    module = plugins.find("agent", name)
    if not isinstance(module.AGENT, AgentKind):
        raise BadConfiguration(f"{module.__name__} is no agent: its AGENT is no AgentKind")
    return module.AGENT


def agent_kinds() -> dict[str, AgentKind]:
    """Every kind of agent that can be loaded, ours first: one that nobody named need not work."""
    kinds: dict[str, AgentKind] = {}
    for name in sorted(plugins.names("agent"), key=lambda name: (name in plugins.theirs("agent"), name)):
        with suppress(BadConfiguration):
            kinds[name] = agent_kind(name)
    return kinds


class _Records(Mapping[str, type[Struct]]):
    """The record of each kind, by its name."""

    def __init__(self, of: str, record: Callable[[str], type[Struct]]) -> None:
        self._of = of
        self._record = record

    def __getitem__(self, name: str) -> type[Struct]:
        if name not in self:
            raise KeyError(name)
        return self._record(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and plugins.exists(self._of, name)

    def __iter__(self) -> Iterator[str]:
        return iter(plugins.names(self._of))

    def __len__(self) -> int:
        return len(plugins.names(self._of))


INSTALLED = Kinds(
    agents=_Records("agent", lambda name: agent_kind(name).settings),
    channels=_Records("channel", lambda name: channel_kind(name).settings),
)
"""What is installed here."""


def to_come(settings: Settings) -> Iterator[tuple[tuple[str, ...], str]]:
    """Which keys of a file that could be read do not work yet, and what to do instead."""
    if (why := store_to_come(settings.gateway.store)) is not None:
        yield ("gateway", "store"), why
    for name, said in settings.channels.items():
        if (why := channel_to_come(said.kind)) is not None:
            yield ("channels", name), why


def channel_to_come(kind: str) -> str | None:
    """Why this channel cannot be served; None where it can."""
    if channel_kind(kind).open is not None:
        return None
    here = [name for name in plugins.names("channel") if channel_kind(name).open and name != "terminal"]
    return f"the channel {kind} is not written yet; take this section out (there are: {', '.join(here)})"


def store_to_come(url: str) -> str | None:
    return 'PostgreSQL is not written yet; write "sqlite:FILE"' if _is_to_come(url) else None


def _is_to_come(url: str) -> bool:
    return url.startswith("postgresql:") and not plugins.exists("store", "postgresql")


def no_such_store(url: str) -> str | None:
    """Why there will be no engine for this address; None where there is one, or is to come."""
    scheme = url.partition(":")[0]
    if plugins.exists("store", scheme) or _is_to_come(url):
        return None
    return f"there is no store {scheme}; there are: {', '.join(plugins.names('store'))}"
