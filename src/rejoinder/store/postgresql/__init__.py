"""PostgreSQL: a store that several processes share (SC-20, SC-22, SC-23).

translate   the schema and the statements in PostgreSQL's words
connection  one connection that waits for each answer
wire        one connection that sends without waiting, on the event loop
fibers      functions that wait without being `async`
pipelined   what verbs and reads ask of a connection, over a wire
writer      what waits together is committed together
pipelined_reader  what is read for each message
migrate     the schema, under a lock
faults      the server's errors in the words of the operator
store       the contract
whole       all of it, while no gateway runs on it
"""

from rejoinder.store.base import OperatorStore, SharedStore, StoreReader
from rejoinder.store.declaration import ShareOptions, StoreKind
from rejoinder.store.postgresql.faults import address
from rejoinder.store.postgresql.store import LEASE, PostgresOperator, PostgresReader, PostgresStore, open_store
from rejoinder.store.postgresql.whole import open_whole


def share(url: str, how: ShareOptions) -> SharedStore:
    return open_store(url, shards=how.shards, lease_seconds=how.lease_seconds or LEASE)


def open_reader(url: str) -> StoreReader:
    return PostgresReader(url)


def open_for_operator(url: str) -> OperatorStore:
    return PostgresOperator(url)


__all__ = ["PostgresOperator", "PostgresReader", "PostgresStore", "open_for_operator", "open_reader", "open_store"]

STORE = StoreKind(open_store, open_reader, open_for_operator, address, open_whole, share, watches_sockets=True)
