"""What a channel is handed to put its messages into. How far it was read is in memory, until the store keeps it."""

from collections.abc import Awaitable, Callable

from rejoinder.events import Inbound


class ChannelInlet:
    def __init__(self, accept: Callable[[Inbound], Awaitable[None]]) -> None:
        self._accept = accept
        self._cursor: str | None = None

    async def __call__(self, *messages: Inbound, cursor: str | None = None) -> None:
        for message in messages:
            await self._accept(message)
        self._cursor = cursor or self._cursor

    async def cursor(self) -> str | None:
        return self._cursor
