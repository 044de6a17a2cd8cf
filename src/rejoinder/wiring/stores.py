"""The engine that an address of a store names; light, since every short command that reads a store needs it."""

from rejoinder import plugins
from rejoinder.config.kinds import no_such_store
from rejoinder.errors import BadConfiguration
from rejoinder.store.base import Store, StoreBeside, StoreReader
from rejoinder.store.declaration import StoreKind


def open_store(url: str) -> Store:
    """For this gateway alone."""
    return _kind(url).open(url)


def open_reader(url: str) -> StoreReader:
    return _kind(url).read(url)


def open_beside(url: str) -> StoreBeside:
    return _kind(url).beside(url)


def _kind(url: str) -> StoreKind:
    scheme = url.partition(":")[0]
    if (why := no_such_store(url)) is not None:
        raise BadConfiguration(f"gateway.store: {why}")
    kind = plugins.find("store", scheme).STORE
    if not isinstance(kind, StoreKind):
        raise BadConfiguration(f"gateway.store: the STORE of {scheme} is no StoreKind")
    return kind
