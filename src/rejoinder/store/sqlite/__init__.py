"""SQLite: the embedded store, one file with one writer. This declaration is read with every configuration, so the
engine is only imported once a store is opened.

address     parses its address
store       implements the contract: opening, writing, reading
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from rejoinder.store.base import OperatorStore
from rejoinder.store.declaration import StoreKind

if TYPE_CHECKING:
    from rejoinder.store.sql.whole import WholeStore
    from rejoinder.store.sqlite.store import SqliteReader, SqliteStore


def open_store(url: str) -> "SqliteStore":
    from rejoinder.store.sqlite.store import open_store  # noqa: PLC0415 - only loaded to open a store

    return open_store(url)


def open_reader(url: str) -> "SqliteReader":
    from rejoinder.store.sqlite.store import open_reader  # noqa: PLC0415 - only loaded to open a store

    return open_reader(url)


def open_for_operator(url: str) -> OperatorStore:
    from rejoinder.store.sqlite.operator import open_for_operator  # noqa: PLC0415 - only loaded to open a store

    return open_for_operator(url)


def open_whole(url: str, *, new: bool = False) -> "AbstractContextManager[WholeStore]":
    from rejoinder.store.sqlite.whole import open_whole  # noqa: PLC0415 - only loaded to open a store

    return open_whole(url, new=new)


STORE = StoreKind(open=open_store, read=open_reader, operate=open_for_operator, whole=open_whole, in_file=True)
