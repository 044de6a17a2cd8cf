"""Finds every kind of agent, channel and store that a configuration may name: ours and those of other packages.

A kind is found by its name and imported when it is needed, so a file is checked without loading kinds it does not name.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeVar

from rejoinder import plugins
from rejoinder.agents.declaration import AgentKind
from rejoinder.channels.declaration import ChannelKind
from rejoinder.config.schema import Settings
from rejoinder.errors import BadConfiguration
from rejoinder.identity import ANYBODY, Identity
from rejoinder.store.declaration import StoreKind

Kind = TypeVar("Kind")


class Kinds(NamedTuple):
    """All kinds of agents and channels, each with its declaration."""

    agents: Mapping[str, AgentKind]
    channels: Mapping[str, ChannelKind]


def channel_kind(name: str) -> ChannelKind:
    """The declaration of a kind of channel. If ours has no connection yet, another package's takes precedence."""
    module = plugins.find("channel", name)
    kind = module.CHANNEL
    if plugins.gives_way(module) and name in plugins.from_packages("channel"):
        module = plugins.find_other("channel", name)
        kind = module.CHANNEL
    if not isinstance(kind, ChannelKind):
        raise BadConfiguration(f"{module.__name__} is not a channel: its CHANNEL is not a ChannelKind")
    return kind


def identity_on(kind: str) -> Identity:
    """What ids look like on this kind of channel; a channel made by hand need not be of a kind that is installed."""
    return channel_kind(kind).identity if plugins.exists("channel", kind) else ANYBODY


def waits_on(kind: str) -> Mapping[str, str]:
    """The keys, among those of all channels, whose changes wait for a restart on this kind, and why."""
    return channel_kind(kind).waits if plugins.exists("channel", kind) else {}


def channel_kinds() -> dict[str, ChannelKind]:
    """Every kind of channel that can be loaded, by name. The others are left out, since nobody asked for them."""
    kinds: dict[str, ChannelKind] = {}
    for name in plugins.names("channel"):
        with suppress(BadConfiguration):
            kinds[name] = channel_kind(name)
    return kinds


def agent_kind(name: str) -> AgentKind:
    """The declaration of a kind of agent."""
    module = plugins.find("agent", name)
    if not isinstance(module.AGENT, AgentKind):
        raise BadConfiguration(f"{module.__name__} is not an agent: its AGENT is not an AgentKind")
    return module.AGENT


def agent_kinds() -> dict[str, AgentKind]:
    """Every kind of agent that can be loaded, ours first. The others are left out, since nobody asked for them."""
    kinds: dict[str, AgentKind] = {}
    for name in sorted(plugins.names("agent"), key=lambda name: (name in plugins.from_packages("agent"), name)):
        with suppress(BadConfiguration):
            kinds[name] = agent_kind(name)
    return kinds


class _Installed(Mapping[str, Kind]):
    """The declaration of each kind, by its name."""

    def __init__(self, of: str, declared: Callable[[str], Kind]) -> None:
        self._of = of
        self._declared = declared

    def __getitem__(self, name: str) -> Kind:
        if name not in self:
            raise KeyError(name)
        return self._declared(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and plugins.exists(self._of, name)

    def __iter__(self) -> Iterator[str]:
        return iter(plugins.names(self._of))

    def __len__(self) -> int:
        return len(plugins.names(self._of))


INSTALLED = Kinds(_Installed("agent", agent_kind), _Installed("channel", channel_kind))
"""The kinds that are installed here."""


def unsupported_keys(settings: Settings) -> Iterator[tuple[tuple[str, ...], str]]:
    """Keys of a readable file that do not work yet, and what to do instead."""
    for name, channel in settings.channels.items():
        if (why := channel_to_come(channel.kind)) is not None:
            yield ("channels", name), why


def channel_to_come(kind: str) -> str | None:
    """Why this channel cannot be served; None if it can."""
    if channel_kind(kind).open is not None:
        return None
    here = [name for name, each in channel_kinds().items() if each.open and each.opened_by != "command"]
    return f"the channel {kind} does not exist yet; remove this section (there are: {', '.join(here)})"


def store_kind(url: str) -> StoreKind:
    """The declaration of the engine for this address."""
    if (why := no_such_store(url)) is not None:
        raise BadConfiguration(f"gateway.store: {why}")
    module = plugins.find("store", url.partition(":")[0])
    if not isinstance(module.STORE, StoreKind):
        raise BadConfiguration(f"{module.__name__} is not a store: its STORE is not a StoreKind")
    return module.STORE


def shared_stores() -> str:
    """For people: the beginnings of store addresses that several processes can share."""
    found: list[str] = []
    for name in plugins.names("store"):
        with suppress(BadConfiguration):  # nobody asked for this kind, so it may fail
            found += [f"{name}:..."] if store_kind(f"{name}:").share is not None else []
    return " or ".join(found)


def store_file(url: str) -> str | None:
    """The file that the address of a store names; None if the engine has no file, or keeps it in memory."""
    return None if is_in_memory(url) or not _is_in_file(url) else url.partition(":")[2]


def is_in_memory(url: str) -> bool:
    """Whether the store is gone when its gateway ends."""
    return url.partition(":")[2] == ":memory:" and _is_in_file(url)


def _is_in_file(url: str) -> bool:
    """Also False if there is no such engine: opening the store reports that."""
    return no_such_store(url) is None and store_kind(url).in_file


def no_such_store(url: str) -> str | None:
    """Why no engine can open this address; None if one can."""
    scheme = url.partition(":")[0]
    if plugins.exists("store", scheme):
        return None
    return f"there is no store {scheme}; there are: {', '.join(plugins.names('store'))}"
