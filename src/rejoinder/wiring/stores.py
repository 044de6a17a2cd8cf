"""Opens the engine that a store's address names; light, since every short command that reads a store needs it."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rejoinder import plugins
from rejoinder.config.kinds import store_file, store_kind
from rejoinder.config.schema import GatewaySettings
from rejoinder.errors import BadConfiguration, BadUse, RejoinderError, StoreUnavailable
from rejoinder.store.base import OperatorStore, SharedStore, StoreReader
from rejoinder.store.declaration import ShareOptions, StoreKind

if TYPE_CHECKING:
    from rejoinder.store.sql.whole import WholeStore

T = TypeVar("T")

log = logging.getLogger(__name__)

WAITED_FOR = ("full", "locked", "away", "crowded", "no-files", "standby")
PAUSE = 1.0
"""Seconds between two attempts to open a store."""


def open_store(url: str, how: ShareOptions | None = None) -> SharedStore:
    """For a gateway."""

    def opened(kind: StoreKind) -> SharedStore:
        return kind.open(url) if kind.share is None else kind.share(url, how or ShareOptions())

    return _made(url, opened)


def opening(url: str, how: ShareOptions | None = None) -> asyncio.Future[SharedStore]:
    """A thread opens it; `opened_by` waits for that."""
    return asyncio.get_running_loop().run_in_executor(None, open_store, url, how)


async def opened_by(opening: asyncio.Future[SharedStore]) -> SharedStore:
    """If the caller is cancelled meanwhile, the thread goes on, so this function closes what the thread opens."""
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        with suppress(RejoinderError):
            await (await opening).close()
        raise


def share_options(settings: GatewaySettings) -> ShareOptions:
    return ShareOptions(settings.shards, settings.lease_seconds)


async def open_store_when_ready(
    url: str, how: ShareOptions | None = None, first: asyncio.Future[SharedStore] | None = None
) -> SharedStore:
    """Opens a store; while its fault is one that passes by itself, waits and tries again (DU-15).
    `first`: the first attempt, if it is under way."""
    is_logged = False
    while True:
        try:
            return await opened_by(first or opening(url, how))
        except StoreUnavailable as fault:
            if fault.fault not in WAITED_FOR:
                raise
            if not is_logged:
                log.error("%s Nothing is served before that.", fault)
            is_logged, first = True, None
        await asyncio.sleep(PAUSE)


def open_reader(url: str) -> StoreReader:
    return _made(url, lambda kind: kind.read(url))


def open_for_operator(url: str) -> OperatorStore:
    return _made(url, lambda kind: kind.operate(url))


def open_whole(url: str, *, new: bool = False) -> "AbstractContextManager[WholeStore]":
    """Opens a store for work on all of it while no gateway runs on it. `new`: it is the target of a copy."""
    opens = store_kind(url).whole
    if opens is None:
        raise BadUse(f"{shown(url)}: this kind of store is copied by its own tools")
    return _made(url, lambda _: opens(url, new=new))


def shown(url: str) -> str:
    """The address without secrets, for people."""
    return _made(url, lambda kind: kind.show(url))


def place_of(url: str) -> str:
    """Where the store is, for people and without secrets: a file by its path."""
    return store_file(url) or shown(url)


def outbox_beside(url: str) -> Path | None:
    """The folder beside a store's file for the files that agents send: `rejoinder.db` has `rejoinder.db.outbox`."""
    file = store_file(url)
    return None if file is None else Path(f"{file}.outbox")


def _made(url: str, make: Callable[[StoreKind], T]) -> T:
    """An engine imports its packages when it opens its first store; another package's engine may raise anything."""
    kind = store_kind(url)
    try:
        return make(kind)
    except RejoinderError:
        raise
    except Exception as problem:
        raise _in_words(problem, url.partition(":")[0], kind) from problem


def _in_words(problem: Exception, scheme: str, kind: StoreKind) -> RejoinderError:
    """The error does not repeat the address, which may hold a password."""
    if isinstance(problem, ModuleNotFoundError):
        error = plugins.missing_extra("store", scheme, problem, kind.extra)
        if isinstance(error, RejoinderError):
            return error
    return BadConfiguration(
        f"gateway.store: the {scheme} store cannot be opened: {plugins.raised(problem)}; check its address, "
        "and if that is right, tell whoever wrote this engine"
    )
