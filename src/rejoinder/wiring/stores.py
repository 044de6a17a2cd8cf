"""The engine that an address of a store names; light, since every short command that reads a store needs it."""

import asyncio
import logging
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from rejoinder import plugins
from rejoinder.config.kinds import no_such_store
from rejoinder.config.schema import GatewaySettings
from rejoinder.errors import BadConfiguration, BadUse, RejoinderError, StoreUnavailable
from rejoinder.store.base import OperatorStore, SharedStore, StoreReader
from rejoinder.store.declaration import ShareOptions, StoreKind

if TYPE_CHECKING:
    from rejoinder.store.sql.whole import WholeStore

log = logging.getLogger(__name__)

WAITED_FOR = ("full", "locked", "away", "crowded", "no-files", "standby")
PAUSE = 1.0
"""Seconds between two attempts to open a store that is waited for."""


def open_store(url: str, how: ShareOptions | None = None) -> SharedStore:
    """For a gateway."""
    kind = _kind(url)
    with _told(url):
        return kind.open(url) if kind.share is None else kind.share(url, how or ShareOptions())


def sharing(settings: GatewaySettings) -> ShareOptions:
    return ShareOptions(settings.shards, settings.lease_seconds)


async def open_store_when_ready(url: str, how: ShareOptions | None = None) -> SharedStore:
    """Waits for a store that needs no more than time: its fault says that rejoinder goes on later (DU-15)."""
    told = False
    while True:
        try:
            return await asyncio.to_thread(open_store, url, how)
        except StoreUnavailable as fault:
            if fault.fault not in WAITED_FOR:
                raise
            if not told:
                log.error("%s Nothing is served until then.", fault)
            told = True
        await asyncio.sleep(PAUSE)


def open_reader(url: str) -> StoreReader:
    kind = _kind(url)
    with _told(url):
        return kind.read(url)


def open_for_operator(url: str) -> OperatorStore:
    kind = _kind(url)
    with _told(url):
        return kind.operate(url)


def open_whole(url: str, *, new: bool = False) -> "AbstractContextManager[WholeStore]":
    """For work on all of it while no gateway runs on it. `new`: for a copy."""
    opens = _kind(url).whole
    if opens is None:
        raise BadUse(f"{shown(url)}: this kind of store is copied by its own tools")
    return opens(url, new=new)


def shown(url: str) -> str:
    """The address as people may see it."""
    return _kind(url).show(url)


def watches_sockets(url: str) -> bool:
    """Whether it needs Python's own event loop."""
    return _kind(url).watches_sockets


@contextmanager
def _told(url: str) -> Generator[None]:
    """An engine of another package may raise anything; its address is left out, as it may hold a password."""
    scheme = url.partition(":")[0]
    try:
        yield
    except RejoinderError:
        raise
    except Exception as problem:
        raise BadConfiguration(
            f"gateway.store: the {scheme} store cannot be opened: {plugins.raised(problem)}; check its address, "
            "and if that is right, tell whoever wrote this engine"
        ) from problem


def _kind(url: str) -> StoreKind:
    scheme = url.partition(":")[0]
    if (why := no_such_store(url)) is not None:
        raise BadConfiguration(f"gateway.store: {why}")
    kind = plugins.find("store", scheme).STORE
    if not isinstance(kind, StoreKind):
        raise BadConfiguration(f"gateway.store: the STORE of {scheme} is not a StoreKind")
    return kind
