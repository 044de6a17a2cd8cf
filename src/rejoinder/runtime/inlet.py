"""The callable into which a channel, or one of its accounts, delivers its messages."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from rejoinder.channels.base import DEFAULT_ACCOUNT
from rejoinder.errors import NotStored, StoreUnavailable
from rejoinder.events import Inbound
from rejoinder.runtime.intake import InboxIntake
from rejoinder.runtime.tasks import Tasks
from rejoinder.runtime.write_batch import until_available
from rejoinder.store.base import NamedLease, Store, StoredCursor

T = TypeVar("T")

READ = "read"
"""The name under which the store keeps how far a channel has been read."""
PLACE = "place "
"""The prefix of such a name for a single place."""


class ChannelInlet:
    """Calls do not return while the store is unavailable (DU-15): a message that is not durable is not acknowledged."""

    def __init__(
        self,
        channel: str,
        account: str,
        intake: InboxIntake,
        store: Store,
        tasks: Tasks,
        lease: NamedLease | None = None,
    ) -> None:
        """`lease`: the one under which the channel listens, if other processes could listen instead."""
        self._lease = lease
        self._channel = channel
        self._account = account
        self._intake = intake
        self._store = store
        self._tasks = tasks

    async def __call__(
        self,
        *messages: Inbound,
        cursor: str | None = None,
        places: Mapping[str, str] | None = None,
        within: float | None = None,
    ) -> None:
        read = None if cursor is None else self._cursor(READ, cursor)
        single = tuple([self._cursor(PLACE + name, value) for name, value in places.items()]) if places else ()
        if self._account != DEFAULT_ACCOUNT:
            messages = tuple(replace(message, account=self._account) for message in messages)

        accept = partial(self._intake.accept, *messages, cursor=read, places=single)
        if within is not None:
            return await self._in_time(accept, within)
        await self._insist(accept)

    async def _in_time(self, accept: Callable[[], Coroutine[Any, Any, None]], within: float) -> None:
        """Limits the time for accepting. A write that has begun is not cancelled, because it may be committed already.
        While the store is unavailable no write has begun, so nothing is left behind."""
        try:
            async with asyncio.timeout(within):
                while True:
                    storing = self._tasks.start(f"accept:{self._channel}", accept())
                    await self._tasks.wait(storing)
                    match storing.exception():
                        case None:
                            return
                        case StoreUnavailable() as fault:
                            await until_available(self._store, fault)
                        case problem:
                            raise problem
        except TimeoutError:
            raise NotStored(f"{self._channel}: not stored within {within:g} s") from None

    async def cursor(self) -> str | None:
        return await self._insist(partial(self._store.cursor, self._channel, READ, self._account))

    async def suggest(self, typed: Inbound, option: str) -> tuple[str, ...]:
        return await self._intake.suggest(replace(typed, account=self._account), option)

    async def places(self) -> dict[str, str]:
        return await self._insist(partial(self._store.cursors, self._channel, PLACE, self._account))

    async def _insist(self, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Waits while the store is unavailable, so that this does not end a channel that has just begun to listen."""
        while True:
            try:
                return await ask()
            except StoreUnavailable as fault:
                await until_available(self._store, fault)

    def _cursor(self, name: str, value: str) -> StoredCursor:
        return StoredCursor(self._channel, name, value, self._account, self._lease)
