"""The chat page's own routes: its socket, uploads and downloads."""

import mimetypes
from typing import get_args
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from rejoinder.blobs import Quota, QuotaReached, Upload
from rejoinder.channels.web import UPLOAD_LIMIT
from rejoinder.channels.web.answers import file_of
from rejoinder.channels.web.browser_session import BrowserSession, Receive, WelcomeFacts
from rejoinder.channels.web.nouns import File, Person, Room, RoomKind
from rejoinder.channels.web.protocol import Command
from rejoinder.channels.web.sockets import LEFT
from rejoinder.events import MenuCommand
from rejoinder.web.guard import PERSON
from rejoinder.web.pages import not_found
from rejoinder.web.services import PageServices
from rejoinder.web.subagents import RoomSubagents
from rejoinder.web.writing import write_frames

SHOWN = frozenset(
    {
        *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"),
        *("audio/ogg", "audio/webm", "audio/mpeg", "audio/mp4", "audio/wav", "audio/flac"),
    }
)
"""Types of files that are served as what they are; all others are served as plain bytes."""
LONGEST_NAME = 200
KINDS = get_args(RoomKind)


def routes(services: PageServices, quota: Quota) -> list[BaseRoute]:
    channel = services.channel
    blobs = channel.journal.blobs
    subagents = RoomSubagents(services)

    async def socket(socket: WebSocket) -> None:
        greeting = WelcomeFacts(services.version, UPLOAD_LIMIT, channel.wake)
        talk = BrowserSession(channel.journal, channel.hub, greeting, commands, subagents)
        await socket.accept()
        receive = _frames_of(socket)
        greeted = await talk.greet(receive, socket.scope[PERSON])
        if isinstance(greeted, int):
            return await socket.close(greeted)
        services.start("socket", write_frames(socket, greeted))
        try:
            await talk.hear(greeted, receive)
        finally:
            channel.hub.leave(greeted)
            greeted.close(LEFT)

    async def commands(person: str, rooms: tuple[Room, ...]) -> tuple[Command, ...]:
        usable = await services.usable_commands(person, rooms)
        return tuple([_command(each, usable) for each in channel.menu])

    async def upload(request: Request) -> Response:
        name = _file_name(request.query_params.get("name", ""))
        mime = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
        if "/" not in mime:
            mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
        try:
            file = await keep(request, name, mime)
        except QuotaReached as problem:
            return JSONResponse({"error": _no_room(problem, quota)}, 507)
        if file is None:
            return JSONResponse({"error": "the file is empty"}, 400)
        return Response(msgspec.json.encode(file), 201, media_type="application/json")

    async def keep(request: Request, name: str, mime: str) -> File | None:
        person: Person | None = request.scope[PERSON]
        who = "" if person is None else person.id
        announced = int(length) if (length := request.headers.get("content-length", "0")).isdecimal() else 0
        upload = Upload(name=name, mime=mime, owner=who, announced=announced, quota=quota)
        blob = await blobs.keep(upload, request.stream())
        return file_of(blob) if blob.size else None

    async def download(request: Request) -> Response:
        file = await blobs.find(request.path_params["id"])
        if file is None:
            return not_found(request)
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
            "content-security-policy": "default-src 'none'; sandbox",
            # A browser may keep it, but has to ask each time whether it may still show it; after a logout it may not.
            "cache-control": "private, no-cache",
            "etag": f'"{file.id}"',
        }
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        media_type = file.mime if file.mime in SHOWN else "application/octet-stream"
        headers["content-length"] = str(file.size)
        return StreamingResponse(blobs.read(file.id), headers=headers, media_type=media_type)

    return [
        WebSocketRoute("/socket", socket),
        Route("/files", upload, methods=["POST"]),
        Route("/files/{id}", download),
    ]


def _command(entry: MenuCommand, usable: frozenset[tuple[str, bool]]) -> Command:
    """All are told, as the page draws every person's commands small."""
    not_in: tuple[RoomKind, ...] = tuple([kind for kind in KINDS if (entry.name, kind == "group") not in usable])
    return Command(entry.name, entry.help, entry.aliases, not_in)


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


def _no_room(problem: QuotaReached, quota: Quota) -> str:
    """The sentence that tells the person which limit was reached."""
    if problem.whose == "owner":
        return (
            f"your files here have reached the limit of {quota.owner >> 20} MB a person (channels.web.person_files_mb);"
            " delete messages with files that you no longer need"
        )
    return (
        f"the files here have reached the limit of {quota.all >> 20} MB; the owner can raise it (channels.web.files_mb)"
    )
