"""Every kind of agent and channel that a configuration may name: ours, what other packages bring, what is to come."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct

from rejoinder import plugins
from rejoinder.agents.settings import AGENT_KINDS
from rejoinder.channels.settings import CHANNEL_KINDS
from rejoinder.config.schema import Kinds, Settings
from rejoinder.config.to_come import CHANNELS, channel_to_come, store_to_come
from rejoinder.errors import BadConfiguration


def kinds() -> Kinds:
    return Kinds(_Records("agent", AGENT_KINDS), _Records("channel", CHANNEL_KINDS, CHANNELS))


def to_come(settings: Settings) -> Iterator[tuple[tuple[str, ...], str]]:
    """Which keys of a file that could be read do not work yet, and what to do instead."""
    if (why := store_to_come(settings.gateway.store)) is not None:
        yield ("gateway", "store"), why
    for name, said in settings.channels.items():
        if (why := channel_to_come(said.kind, kinds().channels)) is not None:
            yield ("channels", name), why


class _Records(Mapping[str, type[Struct]]):
    """The record of each kind by its name. That of another package is imported when it is asked for."""

    def __init__(
        self, of: str, ours: Mapping[str, type[Struct]], later: Mapping[str, type[Struct]] = MappingProxyType({})
    ) -> None:
        self._of = of
        self._ours = ours
        self._later = later  # ours to come: a package that provides the kind comes first

    def __getitem__(self, name: str) -> type[Struct]:
        if name in self._ours:
            return self._ours[name]
        if name not in plugins.theirs(self._of):
            return self._later[name]
        module = plugins.find(self._of, name)
        record = getattr(module, "Settings", None)
        if not isinstance(record, type) or not issubclass(record, Struct):
            raise BadConfiguration(f"{module.__name__} is no {self._of}: its Settings are no msgspec.Struct")
        return record

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self._later or name in plugins.theirs(self._of)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._ours, *self._later, *plugins.theirs(self._of))))

    def __len__(self) -> int:
        return len(list(iter(self)))
