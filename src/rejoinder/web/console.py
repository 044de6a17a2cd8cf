"""The console's socket, which goes only one way: from the gateway to the operator."""

from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from rejoinder.channels.web.sockets import LEFT, BrowserConnection
from rejoinder.web.flow import Flow
from rejoinder.web.services import PageServices
from rejoinder.web.writing import write_frames


def routes(services: PageServices, flow: Flow) -> list[BaseRoute]:
    async def socket(socket: WebSocket) -> None:
        await socket.accept()
        connection = BrowserConnection("")
        for frame in flow.recent:
            connection.put(frame)
        flow.watching.add(connection)
        services.start("console", write_frames(socket, connection))
        try:
            while (await socket.receive())["type"] != "websocket.disconnect":
                pass  # the console sends no commands, so everything it sends is ignored
        finally:
            flow.watching.discard(connection)
            connection.close(LEFT)

    return [WebSocketRoute("/console/socket", socket)]
