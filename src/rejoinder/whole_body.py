"""Requests of aiohttp whose body is there as a whole: it is written at once, behind the headers.

aiohttp writes every body in a task of its own, since some come bit by bit. For a few hundred bytes that task is a sixth
of what the request costs.

Rule 1: only a small body, which the socket takes at once. A large one may still be under way when the answer comes, and
        aiohttp's task keeps the connection from being used again until it is not.
Rule 2: only where no redirect is followed: aiohttp would not find the body for another address.
"""

from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.hdrs import CONTENT_LENGTH, EXPECT

if TYPE_CHECKING:
    from aiohttp.connector import Connection

SMALL = 65_536


class WholeBodyRequest(aiohttp.ClientRequest):
    """For `ClientSession(request_class=...)`. Every other body goes aiohttp's own way."""

    _whole: bytes | None = None

    def update_body_from_data(self, body: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(body, bytes) or len(body) > SMALL:
            return super().update_body_from_data(body, *args, **kwargs)
        self._whole = body
        self.headers[CONTENT_LENGTH] = str(len(body))

    async def send(self, conn: "Connection") -> aiohttp.ClientResponse:
        body, protocol, transport = self._whole, conn.protocol, conn.transport
        if body is None or protocol is None or transport is None:
            return await super().send(conn)
        if protocol.writing_paused or EXPECT in self.headers:  # then aiohttp's task writes the headers too, later
            super().update_body_from_data(body)
            return await super().send(conn)
        try:
            response = await super().send(conn)
        except aiohttp.ClientConnectionResetError as closed:  # what that task would have made of it
            raise aiohttp.ClientOSError(closed.errno, f"Can not write request body for {self.url}") from closed
        transport.write(body)
        return response
