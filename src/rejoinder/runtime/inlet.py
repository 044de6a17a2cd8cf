"""The callable into which a channel, or one of its accounts, delivers its messages."""

from collections.abc import Mapping

from msgspec.structs import replace

from rejoinder.errors import StoreUnavailable
from rejoinder.events import Inbound
from rejoinder.runtime.engine import Engine
from rejoinder.runtime.serving import ONLY
from rejoinder.runtime.write_batch import until_good
from rejoinder.store.base import Cursor, Store

READ = "read"
"""The name under which the store keeps how far a channel has been read."""
PLACE = "place "
"""What such a name begins with for a single place."""


class ChannelInlet:
    """Does not return while the store is unavailable (DU-15): a message that is not durable is not acknowledged."""

    def __init__(self, channel: str, account: str, engine: Engine, store: Store) -> None:
        self._channel = channel
        self._account = account
        self._engine = engine
        self._store = store

    async def __call__(
        self, *messages: Inbound, cursor: str | None = None, places: Mapping[str, str] | None = None
    ) -> None:
        read = None if cursor is None else self._cursor(READ, cursor)
        single = tuple(self._cursor(PLACE + name, value) for name, value in (places or {}).items())
        if self._account != ONLY:
            messages = tuple(replace(message, account=self._account) for message in messages)
        while True:
            try:
                return await self._engine.accept(*messages, cursor=read, places=single)
            except StoreUnavailable as fault:
                await until_good(self._store, fault)

    async def cursor(self) -> str | None:
        return await self._store.cursor(self._channel, READ, self._account)

    async def places(self) -> dict[str, str]:
        return await self._store.cursors(self._channel, PLACE, self._account)

    def _cursor(self, name: str, value: str) -> Cursor:
        return Cursor(self._channel, name, value, self._account)
