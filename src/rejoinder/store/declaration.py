"""What a store engine declares: a module with `STORE = StoreKind(...)`, named like the scheme of its address."""

from collections.abc import Callable

from msgspec import Struct

from rejoinder.store.base import OperatorStore, SharedStore, StoreReader


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
    share: Callable[[str, ShareOptions], SharedStore] | None = None
    """For a gateway beside others; None: it has the store to itself."""
    show: Callable[[str], str] = str
    """The address as it may be shown, without a password."""
