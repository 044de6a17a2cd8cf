"""Limits the bodies of requests: their size, their slowness, and the memory that all of them together take."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

PAUSE = 20.0
"""Seconds between two pieces of a body."""
HELD_SECONDS, STREAMED_SECONDS = 60.0, 600.0
"""Seconds for a whole body: short if anybody may send one (`/login`), long for a file."""
MOST_HELD = 128 << 20
"""Bytes of all bodies that are held in memory; a body that goes to disk piece by piece does not count."""
STREAMED = "/files"


class Bodies:
    def __init__(self) -> None:
        self.held = 0

    def read(self, path: str, receive: Receive, limit: int) -> "Body":
        return Body(self, receive, limit, is_held=path != STREAMED)


class Body:
    """The body of one request, which closes it at its end. Reading it raises if something is wrong with it."""

    def __init__(self, bodies: Bodies, receive: Receive, limit: int, *, is_held: bool) -> None:
        self._bodies = bodies
        self._receive = receive
        self._limit = limit
        self._is_held = is_held
        self._until = asyncio.get_running_loop().time() + (HELD_SECONDS if is_held else STREAMED_SECONDS)
        self._taken = 0
        self._is_whole = False

    async def receive(self) -> Message:
        if self._is_whole:  # the next message is the end of the connection, whenever that comes
            return await self._receive()
        try:
            async with asyncio.timeout_at(min(self._until, asyncio.get_running_loop().time() + PAUSE)):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, "the rest of this request did not arrive", {"connection": "close"}) from None
        self._is_whole = not message.get("more_body", False)
        self._take(len(message.get("body", b"")))
        return message

    def _take(self, count: int) -> None:
        self._taken += count
        if self._is_held:
            self._bodies.held += count
        if self._taken > self._limit:
            raise HTTPException(413, larger(self._limit), {"connection": "close"})
        if self._bodies.held > MOST_HELD and self._is_held:
            raise HTTPException(503, "too much data is being sent at once; try again", {"retry-after": "10"})

    def close(self) -> None:
        if self._is_held:
            self._bodies.held -= self._taken


def larger(limit: int) -> str:
    return f"this is larger than {limit} bytes"
