"""The chat page's own doors: its socket, and files up and down."""

import asyncio
import mimetypes
from collections.abc import AsyncIterator
from itertools import count
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from rejoinder.channels.web import UPLOAD_LIMIT, files
from rejoinder.channels.web.files import Quota, QuotaReached
from rejoinder.channels.web.journal import Journal
from rejoinder.channels.web.nouns import File, Person
from rejoinder.channels.web.protocol import Command
from rejoinder.channels.web.sockets import LEFT
from rejoinder.channels.web.talk import Greeting, Receive, Talk
from rejoinder.web.guard import PERSON
from rejoinder.web.house import House
from rejoinder.web.pages import lost
from rejoinder.web.writing import write_frames

SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
"""Kinds that are served under their own name; everything else is served as plain bytes."""
LONGEST_NAME = 200
MOST_UPLOADING = 2
"""Pieces of uploads in one commit: messages wait for the disk together with them."""


def routes(house: House, quota: Quota) -> list[BaseRoute]:
    channel = house.channel
    keeper = channel.keeper
    uploading = asyncio.Semaphore(MOST_UPLOADING)

    async def socket(socket: WebSocket) -> None:
        commands = tuple(Command(each.name, each.help, each.aliases) for each in channel.menu)
        talk = Talk(channel.keeper, channel.hub, Greeting(house.version, commands, UPLOAD_LIMIT, channel.wake))
        await socket.accept()
        receive = _frames_of(socket)
        greeted = await talk.greet(receive, socket.scope[PERSON])
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
        try:
            file = await keep(request, name, mime)
        except QuotaReached as problem:
            return JSONResponse({"error": str(problem)}, 507)
        if file is None:
            return JSONResponse({"error": "the file is empty"}, 400)
        return Response(msgspec.json.encode(file), 201, media_type="application/json")

    async def keep(request: Request, name: str, mime: str) -> File | None:
        person: Person | None = request.scope[PERSON]
        who = "" if person is None else person.id
        announced = int(length) if (length := request.headers.get("content-length", "0")).isdecimal() else 0
        id = await keeper.change(Journal.begin_file, name, mime, who, announced, quota)
        received = 0
        try:
            numbers = count()
            async for piece in _pieces(request):
                received += len(piece)
                async with uploading:
                    await keeper.ask(files.add, id, next(numbers), piece, received, quota)
            if received:
                return await keeper.ask(files.finish, id, received)
        except BaseException:
            await keeper.ask(files.drop, id)
            raise
        return await keeper.ask(files.drop, id)

    async def download(request: Request) -> Response:
        file = await keeper.ask(files.file, request.path_params["id"])
        if file is None:
            return lost(request)
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
            "content-security-policy": "default-src 'none'; sandbox",
            # A browser may keep it, and asks each time whether it may still show it: a logout ends that.
            "cache-control": "private, no-cache",
            "etag": f'"{file.id}"',
        }
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        media_type = file.mime if file.mime in SHOWN else "application/octet-stream"
        headers["content-length"] = str(file.size)
        return StreamingResponse(content_of(file.id), headers=headers, media_type=media_type)

    async def content_of(id: str) -> AsyncIterator[bytes]:
        for number in count():
            piece = await keeper.ask(files.piece, id, number)
            if piece is None:
                return
            yield piece

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


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """The body in pieces of about the same size, however it came."""
    waiting = bytearray()
    async for came in request.stream():
        waiting += came
        if len(waiting) >= files.PIECE:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)
