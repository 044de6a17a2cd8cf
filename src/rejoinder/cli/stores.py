"""Opens the store for a command: it is found through the configuration, even while a gateway runs on it."""

from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from rejoinder.cli.options import configuration

if TYPE_CHECKING:
    from rejoinder.store.base import OperatorStore, StoreReader

T = TypeVar("T")


def finish(work: Coroutine[Any, Any, T]) -> T:
    import asyncio  # importing it costs a tenth of a short command, so only here

    return asyncio.run(work)


@asynccontextmanager
async def store_to_read(file: str | None) -> "AsyncGenerator[StoreReader]":
    from rejoinder.wiring.stores import open_reader

    store = open_reader(store_url(file))
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def store_to_write(file: str | None) -> "AsyncGenerator[OperatorStore]":
    from rejoinder.wiring.stores import open_for_operator

    store = open_for_operator(store_url(file))
    try:
        yield store
    finally:
        await store.close()


def store_url(file: str | None) -> str:
    """The store of the named configuration, or of the one in this folder, or the default one."""
    import os

    from rejoinder.config.kinds import no_such_store
    from rejoinder.config.load import load_gateway, mistakes
    from rejoinder.config.schema import GatewaySettings
    from rejoinder.errors import BadConfiguration

    found = configuration(file)
    if found is None:
        return GatewaySettings().store
    gateway = load_gateway(found, os.environ)
    if (why := no_such_store(gateway.store)) is not None:
        raise BadConfiguration(*mistakes(found, [(("gateway", "store"), why)]))
    return gateway.store


def who_acts(runs: str | None, does: str) -> str:
    """The sentence that says when a write takes effect; `runs` is the gateway on the store, if any."""
    if runs is None:
        return f"No gateway runs on this store; the next one that starts {does}."
    return f"The running gateway ({runs}) {does} within about a second."
