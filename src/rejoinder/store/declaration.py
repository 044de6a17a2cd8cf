"""What a store engine declares: a module with `STORE = StoreKind(...)`, named like the scheme of its address."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from rejoinder.store.base import OperatorStore, SharedStore, StoreReader

if TYPE_CHECKING:
    from rejoinder.store.sql.whole import WholeStore


class OpensWhole(Protocol):
    def __call__(self, url: str, *, new: bool = False) -> "AbstractContextManager[WholeStore]":
        """One transaction, which is committed at the end. `new`: for a copy."""
        ...


class ShareOptions(Struct, frozen=True):
    """How several processes share a store; None: as the engine has it."""

    shards: int | None = None
    lease_seconds: float | None = None


class StoreKind(Struct, frozen=True):
    """How the stores of one scheme are opened, each by its whole address, `gateway.store`."""

    open: Callable[[str], SharedStore]
    """For a gateway."""
    read: Callable[[str], StoreReader]
    """For reading, also while a gateway runs on it."""
    operate: Callable[[str], OperatorStore]
    """For an operator, also while a gateway runs on it."""
    show: Callable[[str], str] = str
    """The address as it may be shown, without a password."""
    whole: OpensWhole | None = None
    """For work on all of it while no gateway runs on it; None: it is copied by its own tools."""
    share: Callable[[str, ShareOptions], SharedStore] | None = None
    """For a gateway beside others; None: it has the store to itself."""
    in_file: bool = False
    """Its addresses are `scheme:FILE`, or `scheme::memory:` for none. The file is relative to the configuration's
    folder, the first gateway makes it, and what agents may send lies in a folder beside it."""
    watches_sockets: bool = False
    """Whether it has the event loop watch a socket of its own: then the loop has to be Python's, as uvloop stops
    watching one that has failed without telling who waits for it."""
