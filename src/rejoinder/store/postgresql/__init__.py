"""PostgreSQL: a store that several processes share (SC-20, SC-22, SC-23). This declaration is read with every
configuration, so the engine and its packages are only imported once a store is opened.

translate   the schema and the statements in PostgreSQL's words
connection  one connection that waits for each answer
wire        one connection that sends without waiting, on the event loop
fibers      functions that wait without being `async`
pipelined   the connection of verbs and reads, over a wire
writer      carries out and commits waiting writes together
pipelined_reader  the reads for each message
migrate     the schema, under a lock
faults      the server's errors in the words of the operator
store       implements the contract
whole       work on the whole store, while no gateway runs on it
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from rejoinder.store.base import OperatorStore, StoreReader
from rejoinder.store.declaration import ShareOptions, StoreKind

if TYPE_CHECKING:
    from rejoinder.store.postgresql.store import PostgresStore
    from rejoinder.store.sql.whole import WholeStore


def open_store(url: str) -> "PostgresStore":
    return share(url, ShareOptions())


def share(url: str, how: ShareOptions) -> "PostgresStore":
    from rejoinder.store.postgresql.store import LEASE, open_store  # noqa: PLC0415 - only loaded to open a store

    return open_store(url, shards=how.shards, lease_seconds=how.lease_seconds or LEASE)


def open_reader(url: str) -> StoreReader:
    from rejoinder.store.postgresql.store import PostgresReader  # noqa: PLC0415 - only loaded to open a store

    return PostgresReader(url)


def open_for_operator(url: str) -> OperatorStore:
    from rejoinder.store.postgresql.store import PostgresOperator  # noqa: PLC0415 - only loaded to open a store

    return PostgresOperator(url)


def open_whole(url: str, *, new: bool = False) -> "AbstractContextManager[WholeStore]":
    from rejoinder.store.postgresql.whole import open_whole  # noqa: PLC0415 - only loaded to open a store

    return open_whole(url, new=new)


def shown(url: str) -> str:
    from rejoinder.store.postgresql.faults import address  # noqa: PLC0415 - it needs the package of the driver

    return address(url)


STORE = StoreKind(
    open=open_store,
    read=open_reader,
    operate=open_for_operator,
    show=shown,
    whole=open_whole,
    share=share,
    extra="postgres",
    watches_sockets=True,
)
