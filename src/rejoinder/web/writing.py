"""Writes waiting frames to a browser's socket, for the chat and the console."""

from starlette.websockets import WebSocket, WebSocketDisconnect

from rejoinder.channels.web.sockets import LEFT, BrowserConnection


async def write_frames(socket: WebSocket, connection: BrowserConnection) -> None:
    """Runs until either side closes the connection."""
    try:
        await socket.close(await connection.write(socket.send_text))
    except (WebSocketDisconnect, RuntimeError, OSError):  # the browser left; the reading side notices that, too
        connection.close(LEFT)
