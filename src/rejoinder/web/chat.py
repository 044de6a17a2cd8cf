"""The chat page's own doors: its socket, and files up and down."""

import mimetypes
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from rejoinder.channels.web import UPLOAD_LIMIT, reading
from rejoinder.channels.web.journal import Journal
from rejoinder.channels.web.protocol import Command
from rejoinder.channels.web.sockets import LEFT
from rejoinder.channels.web.talk import Greeting, Receive, Talk
from rejoinder.web.house import House
from rejoinder.web.pages import lost
from rejoinder.web.writing import write_frames

SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
"""Kinds that are served under their own name; everything else is served as plain bytes."""
LONGEST_NAME = 200


def routes(house: House) -> list[BaseRoute]:
    channel = house.channel

    async def socket(socket: WebSocket) -> None:
        commands = tuple(Command(name, help, channel.aliases.get(name, ())) for name, help in channel.menu)
        talk = Talk(channel.keeper, channel.hub, Greeting(house.version, commands, UPLOAD_LIMIT, channel.wake))
        await socket.accept()
        receive = _frames_of(socket)
        greeted = await talk.greet(receive)
        if isinstance(greeted, int):
            return await socket.close(greeted)
        house.start("socket", write_frames(socket, greeted))
        try:
            await talk.hear(greeted, receive)
        finally:
            channel.hub.leave(greeted)
            greeted.close(LEFT)

    async def upload(request: Request) -> Response:
        name = _file_name(request.query_params.get("name", ""))
        mime = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
        if "/" not in mime:
            mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
        content = await request.body()
        if not content:
            return JSONResponse({"error": "the file is empty"}, 400)
        file = await channel.keeper.change(Journal.keep_file, name, mime, content)
        return Response(msgspec.json.encode(file), 201, media_type="application/json")

    async def download(request: Request) -> Response:
        found = await channel.keeper.ask(reading.content, request.path_params["id"])
        if found is None:
            return lost(request)
        file, content = found
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
            "content-security-policy": "default-src 'none'; sandbox",
            "cache-control": "private, max-age=31536000, immutable",
        }
        media_type = file.mime if file.mime in SHOWN else "application/octet-stream"
        return Response(content, headers=headers, media_type=media_type)

    return [
        WebSocketRoute("/socket", socket),
        Route("/files", upload, methods=["POST"]),
        Route("/files/{id}", download),
    ]


def _frames_of(socket: WebSocket) -> Receive:
    async def receive() -> str | None:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text")
        return text if text is not None else message["bytes"].decode("utf-8", "replace")

    return receive


def _file_name(wanted: str) -> str:
    """The last part of a path, without characters that mean something to a file system or in a header."""
    name = wanted.replace("\\", "/").rpartition("/")[2]
    plain = "".join(sign for sign in name if sign.isprintable()).strip(" .")
    return plain[-LONGEST_NAME:] or "file"
