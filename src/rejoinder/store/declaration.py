"""The declaration of a store engine: a module with `STORE = StoreKind(...)`, named like the scheme of its address."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from rejoinder.store.base import OperatorStore, SharedStore, StoreReader

if TYPE_CHECKING:
    from rejoinder.store.sql.whole import WholeStore


class OpensWhole(Protocol):
    def __call__(self, url: str, *, new: bool = False) -> "AbstractContextManager[WholeStore]":
        """Opens one transaction, which is committed at the end. `new`: for a copy."""
        ...


class ShareOptions(Struct, frozen=True):
    """How several processes share a store; None: the engine's default."""

    shards: int | None = None
    lease_seconds: float | None = None


class StoreKind(Struct, frozen=True):
    """How to open the stores of one scheme, by the whole address from `gateway.store`."""

    open: Callable[[str], SharedStore]
    """For a gateway."""
    read: Callable[[str], StoreReader]
    """Opens a store for reading, also while a gateway runs on it."""
    operate: Callable[[str], OperatorStore]
    """Opens a store for an operator, also while a gateway runs on it."""
    show: Callable[[str], str] = str
    """Returns the address in a form that may be shown, without a password."""
    whole: OpensWhole | None = None
    """Opens a store for work on all of it while no gateway runs on it; None if it is copied with its own tools."""
    share: Callable[[str, ShareOptions], SharedStore] | None = None
    """Opens a store for a gateway beside others; None if a gateway has the store to itself."""
    extra: str = ""
    """The extra of rejoinder that installs its packages, if it needs any."""
    in_file: bool = False
    """Whether its addresses are `scheme:FILE`, or `scheme::memory:` without a file. The file is relative to the
    configuration's folder, the first gateway creates it, and the agents' outbox folders are in a folder beside it."""
    watches_sockets: bool = False
    """Whether the event loop watches a socket of the engine's own. The loop then has to be Python's, because uvloop
    stops watching a failed socket without telling the code that waits for it."""
