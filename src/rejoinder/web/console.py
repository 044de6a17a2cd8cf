"""The console's socket: one way, from the house to the operator."""

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from rejoinder.channels.web.sockets import Connection
from rejoinder.web.flow import Flow
from rejoinder.web.house import House


def routes(house: House, flow: Flow) -> list[BaseRoute]:
    async def socket(socket: WebSocket) -> None:
        await socket.accept()
        connection = Connection("")
        for frame in flow.recent:
            connection.put(frame)
        flow.watching.add(connection)
        house.start("console", _write(socket, connection))
        try:
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass  # nothing is expected, and nothing is obeyed
        finally:
            flow.watching.discard(connection)
            connection.close(1000)

    return [WebSocketRoute("/console/socket", socket)]


async def _write(socket: WebSocket, connection: Connection) -> None:
    try:
        await socket.close(await connection.write(socket.send_text))
    except (WebSocketDisconnect, RuntimeError, OSError):  # it left; who reads has noticed too
        connection.close(1000)
