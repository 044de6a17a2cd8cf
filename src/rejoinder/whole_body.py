"""Requests of aiohttp whose body is there as a whole: it is written at once, behind the headers.

aiohttp writes every body in a task of its own, since some come bit by bit. For a few hundred bytes that task is a sixth
of what the request costs.
"""

from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from aiohttp.connector import Connection


class WholeBodyRequest(aiohttp.ClientRequest):
    """For `ClientSession(request_class=...)` where no redirect is followed: aiohttp would not find the body for another
    address. A body that is not bytes goes aiohttp's own way."""

    _whole: bytes | None = None

    def update_body_from_data(self, body: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(body, bytes):
            return super().update_body_from_data(body, *args, **kwargs)
        self._whole = body
        self.headers["Content-Length"] = str(len(body))

    async def send(self, conn: "Connection") -> aiohttp.ClientResponse:
        body, protocol, transport = self._whole, conn.protocol, conn.transport
        if body is None or protocol is None or transport is None:
            return await super().send(conn)
        if protocol.writing_paused:  # then aiohttp's task writes the headers too, later
            super().update_body_from_data(body)
            return await super().send(conn)
        try:
            response = await super().send(conn)
        except aiohttp.ClientConnectionResetError as closed:  # what that task would have made of it
            raise aiohttp.ClientOSError(closed.errno, f"Can not write request body for {self.url}") from closed
        transport.write(body)
        return response
