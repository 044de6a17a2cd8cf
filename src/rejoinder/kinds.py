"""Every kind of agent and channel that a configuration may name: ours, what other packages bring, what is to come."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from rejoinder import plugins
from rejoinder.config.schema import BUILT_IN, GatewaySettings, Kinds, Settings
from rejoinder.errors import BadConfiguration


def kinds() -> Kinds:
    return Kinds(_Records("agent", BUILT_IN.agents), _Records("channel", BUILT_IN.channels))


def to_come(settings: Settings) -> Iterator[tuple[tuple[str, ...], str]]:
    """What may be configured already and does not work yet: which key, and what to do instead."""
    yield from store_to_come(settings.gateway)
    for name, said in settings.channels.items():
        if (why := channel_to_come(said.kind)) is not None:
            yield ("channels", name), why


def channel_to_come(kind: str) -> str | None:
    here = plugins.names("channel")
    if kind in here:
        return None
    there = ", ".join(each for each in here if each != "terminal")
    return f"the channel {kind} is not written yet; take this section out (there are: {there})"


def store_to_come(gateway: GatewaySettings) -> Iterator[tuple[tuple[str, ...], str]]:
    if gateway.store.startswith("postgresql:"):
        yield ("gateway", "store"), 'PostgreSQL is not written yet; write "sqlite:FILE"'


class _Records(Mapping[str, type[Struct]]):
    """The record of each kind by its name. That of another package is imported when it is asked for."""

    def __init__(self, of: str, ours: Mapping[str, type[Struct]]) -> None:
        self._of = of
        self._ours = ours

    def __getitem__(self, name: str) -> type[Struct]:
        if name in self._ours:
            return self._ours[name]
        if name not in self:
            raise KeyError(name)
        module = plugins.find(self._of, name)
        record = getattr(module, "Settings", None)
        if not isinstance(record, type) or not issubclass(record, Struct):
            raise BadConfiguration(f"{module.__name__} is no {self._of}: its Settings are no msgspec.Struct")
        return record

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in plugins.theirs(self._of)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._ours, *plugins.theirs(self._of))))

    def __len__(self) -> int:
        return len(list(iter(self)))
