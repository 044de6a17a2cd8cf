"""What waits for a browser, written to its socket: the same for the chat and the console."""

from starlette.websockets import WebSocket, WebSocketDisconnect

from rejoinder.channels.web.sockets import LEFT, Connection


async def write_frames(socket: WebSocket, connection: Connection) -> None:
    """Until the connection is closed, by either side."""
    try:
        await socket.close(await connection.write(socket.send_text))
    except (WebSocketDisconnect, RuntimeError, OSError):  # it left; who reads has noticed too
        connection.close(LEFT)
