"""A stage for the page: a server that speaks the web channel's protocol and plays what a test tells it.

It keeps the protocol's promises (numbers, resume, one `say` per `client`) in memory and nothing else: no gateway, no
agent. Tests of the page alone and the README's pictures use it, because every word and every moment is theirs.
Run alone, it shows a room full of messages: `python -m tests.browser.stage`.
"""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

import rejoinder.web
from rejoinder.channels.web import nouns as n
from rejoinder.channels.web import protocol as p

STATIC = Path(rejoinder.web.__path__[0]) / "static"
YOU = n.Member("you", "You", n.Avatar(265, "Y"))
COMMANDS = (
    p.Command("help", "what I understand"),
    p.Command("new", "begin a new session"),
    p.Command("status", "how things stand"),
    p.Command("stop", "stop what is running"),
    p.Command("think", "how hard the agent thinks: off, low, medium, high"),
    p.Command("why", "what each stage decided on your last message"),
)
# Like the real guard: a test notices when the page needs more than it may.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

Answer = Callable[["Stage", n.Message], Awaitable[None]]


class Stage:
    """Rooms and what happened in them. `answer` is played for each message that a person says."""

    def __init__(self, agents: tuple[n.Member, ...], rooms: tuple[n.Room, ...], answer: Answer | None = None) -> None:
        self.agents = agents
        self.people: dict[str, n.Member] = {"": YOU}
        self.rooms = {room.id: room for room in rooms}
        self.answer = answer
        self.messages: dict[str, n.Message] = {}
        self.done: dict[str, str] = {}
        self.files: dict[str, tuple[n.File, bytes]] = {}
        self.log: list[Any] = []
        self.sockets: dict[WebSocket, n.Member] = {}
        self.read: dict[tuple[str, str], int] = {}
        self.heard: list[Any] = []
        self.refuse: str | None = None
        self.deaf = False
        """Takes no hello: what a browser sees while the server restarts."""
        self.gone: set[WebSocket] = set()
        """Nothing that is sent here arrives any more, and nobody is told: a network that went away."""
        self.api: dict[str, Any] = {}
        self.commands = COMMANDS
        self.kept: dict[str, str] = {}
        """What is kept of messages that grow."""
        self.posted: list[str] = []
        self.console: set[WebSocket] = set()
        self.flow: list[Any] = []
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self.seq = 0
        self.wake = "lead"

    # --- what happens -------------------------------------------------------------------------------

    async def happen(self, event: Any, only: n.Member | None = None) -> None:
        self.log.append(event)
        self.seq = event.seq
        await self.live(event, only)

    async def live(self, frame: Any, only: n.Member | None = None) -> None:
        for socket, person in list(self.sockets.items()):
            if only is None or only.id == person.id:
                await _send(socket, frame)

    def number(self) -> int:
        return next(self._numbers)

    async def post(self, room: str, author: str, text: str, *, ago: float = 0, **rest: Any) -> n.Message:
        seq = self.number()
        reply = rest.pop("reply_to", None)
        quoted = self.messages.get(reply) if reply else None
        if reply:
            quote = n.Quoted(reply, quoted.author, " ".join(quoted.text.split())[:120]) if quoted else n.Quoted(reply)
            rest["reply_to"] = quote
        at = int((time.time() - ago) * 1000)
        message = n.Message(f"w{seq}", room, author, at, seq, text, **rest)
        self.messages[message.id] = message
        if (thread := rest.get("thread")) and thread in self.messages:
            root = self.messages[thread]
            replies = root.under.replies if root.under else 0
            self.messages[thread] = replace(root, under=n.Thread(replies + 1, at))
        only = next((m for m in self.people.values() if m.id == rest.get("only_for")), None)
        await self.happen(p.Posted(seq, message), only)
        return message

    async def stream(self, room: str, author: str, pieces: list[str], pause: float = 0.03, **rest: Any) -> n.Message:
        message = await self.post(room, author, "", growing=True, **rest)
        for piece in pieces:
            grown = self.messages[message.id]
            at = len(grown.text.encode("utf-16-le")) // 2
            self.messages[message.id] = replace(grown, text=grown.text + piece)
            await self.live(p.Delta(room, message.id, at, piece))
            await asyncio.sleep(pause)
        await self.edit(message.id, self.messages[message.id].text)
        return self.messages[message.id]

    async def edit(self, message: str, text: str, *, edited: bool = False) -> None:
        old = self.messages[message]
        self.messages[message] = replace(old, text=text, growing=False, edited=old.edited or edited)
        await self.happen(p.Edited(self.number(), old.room, message, text, edited, old.choices))

    async def mark(self, message: str, *, outdated: bool = False, stopped: bool = False) -> None:
        self.messages[message] = kept = replace(self.messages[message], outdated=outdated, stopped=stopped)
        await self.happen(p.Marked(self.number(), kept.room, message, outdated, stopped))

    async def react(self, message: str, who: str, emoji: str, *, remove: bool = False) -> None:
        old = self.messages[message]
        given = {reaction.emoji: list(reaction.who) for reaction in old.reactions}
        if remove:
            given[emoji] = [other for other in given.get(emoji, []) if other != who]
        elif who not in given.setdefault(emoji, []):
            given[emoji].append(who)
        reactions = tuple(n.Reaction(emoji, tuple(by)) for emoji, by in given.items() if by)
        self.messages[message] = replace(old, reactions=reactions)
        await self.happen(p.Reacted(self.number(), old.room, message, reactions))

    async def show(self, frame: Any) -> None:
        self.flow.append(frame)
        for socket in list(self.console):
            await _send(socket, frame)

    async def drop(self, code: int = 1001) -> None:
        for socket in list(self.sockets):
            self.sockets.pop(socket)
            await socket.close(code)

    # --- what browsers ask --------------------------------------------------------------------------

    def welcome(self, me: n.Member, hello: p.Hello) -> p.Welcome:
        rooms: list[n.Room] = []
        for room in self.rooms.values():
            here = [m for m in self.messages.values() if m.room == room.id]
            read = self.read.get((me.id, room.id), 0)
            unread = sum(1 for m in here if m.seq > read and m.author != me.id)
            latest = max((m for m in here if m.thread is None), key=lambda m: m.seq, default=None)
            if latest is not None and latest.id in self.kept:
                latest = replace(latest, text=self.kept[latest.id])
            rooms.append(replace(room, read=read, unread=unread, latest=latest))
        growing = tuple(m for m in self.messages.values() if m.growing)
        resumed = hello.seq is not None and hello.journal == "stage"
        rest = (self.commands, growing, 1_000_000, self.wake)
        people = tuple(self.people.values())
        return p.Welcome(p.PROTOCOL, "0", "stage", self.seq, resumed, me, self.agents, people, tuple(rooms), *rest)

    def page(self, ask: p.AskHistory) -> p.Page:
        here = [m for m in self.messages.values() if m.room == ask.room and m.thread == ask.thread]
        here.sort(key=lambda m: m.seq)
        if ask.around is not None:
            at = next((i for i, m in enumerate(here) if m.id == ask.around), 0)
            start = max(0, at - ask.limit // 2)
            return p.Page(ask.client, tuple(here[start : start + ask.limit]), start > 0)
        older = [m for m in here if ask.before is None or m.seq < ask.before]
        return p.Page(ask.client, tuple(older[-ask.limit :]), len(older) > ask.limit)

    async def ask(self, socket: WebSocket, me: n.Member, frame: Any) -> None:
        if socket in self.gone:
            return
        self.heard.append(frame)
        match frame:
            case p.Ping():
                await _send(socket, p.Pong())
            case p.AskHistory():
                await _send(socket, self.page(frame))
            case p.AskSubagents():
                await _send(socket, p.Subagents(frame.client, frame.room, ()))
            case p.Search():
                words = frame.query.casefold().split()
                hits = [m for m in self.messages.values() if all(word in m.text.casefold() for word in words)]
                hits = [m for m in hits if frame.room in (None, m.room) and m.seq < (frame.before or m.seq + 1)]
                await _send(socket, p.Page(frame.client, tuple(hits[::-1][: frame.limit]), len(hits) > frame.limit))
            case p.StillTyping():
                await self.live(p.TypingNow(frame.room, me.id, frame.thread))
            case p.MarkRead():
                self.read[me.id, frame.room] = frame.seq
                await self.live(p.WasRead(self.seq, frame.room, frame.seq), me)
            case _ if self.refuse:
                await _send(socket, p.Refused(frame.client, self.refuse))
            case _ if frame.client in self.done:
                await _send(socket, p.Done(frame.client, self.done[frame.client]))
            case _:
                self.done[frame.client] = made = await self._do(me, frame)
                await _send(socket, p.Done(frame.client, made))

    async def _do(self, me: n.Member, frame: Any) -> str:
        match frame:
            case p.Say(client, room, text, thread, reply_to, files):
                rest = {"thread": thread, "reply_to": reply_to, "client": client}
                message = await self.post(room, me.id, text, files=tuple(self.files[f][0] for f in files), **rest)
                if self.answer is not None:
                    task = asyncio.create_task(self.answer(self, message))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
                return message.id
            case p.Edit(_, message, text):
                await self.edit(message, text, edited=True)
            case p.Delete(_, message):
                gone = self.messages.pop(message)
                if gone.under is not None:
                    self.messages[message] = n.Message(
                        gone.id, gone.room, gone.author, gone.at, gone.seq, "", under=gone.under, gone=True
                    )
                for other in [m for m in self.messages.values() if m.reply_to and m.reply_to.id == message]:
                    self.messages[other.id] = replace(other, reply_to=n.Quoted(message, gone.author))
                await self.happen(p.Deleted(self.number(), gone.room, message, gone.under is not None))
            case p.React(_, message, emoji, remove):
                await self.react(message, me.id, emoji, remove=remove)
            case p.Press(_, message, says):
                self.messages[message] = replace(self.messages[message], choices=())
                await self.edit(message, f"{self.messages[message].text}\n\nYou chose **{says}**.")
            case p.Stop(_, room):
                return room
            case p.MakeRoom(_, title, agents):
                everybody = tuple(a.id for a in self.agents)
                room = n.Room(title.casefold(), "group", title, agents or everybody)
                self.rooms[room.id] = room
                await self.happen(p.RoomMade(self.number(), room))
                return room.id
        return frame.message

    # --- the server ---------------------------------------------------------------------------------

    async def _socket(self, socket: WebSocket) -> None:
        if self.deaf:
            return await socket.close()
        await socket.accept()
        try:
            hello = p.decode(await socket.receive_text())
            assert isinstance(hello, p.Hello)
            me = await self._person(hello.name)
            await _send(socket, self.welcome(me, hello))
            if hello.seq is not None and hello.journal == "stage":
                for event in [event for event in self.log if event.seq > hello.seq]:
                    await _send(socket, event)
            self.sockets[socket] = me
            while True:
                await self.ask(socket, me, p.decode(await socket.receive_text()))
        except (WebSocketDisconnect, RuntimeError):
            self.sockets.pop(socket, None)

    async def _person(self, name: str) -> n.Member:
        if name not in self.people:
            member = n.Member(name.casefold(), name, n.Avatar(sum(map(ord, name)) * 37 % 360, name[:2].upper()))
            self.people[name] = member
            await self.happen(p.PersonJoined(self.number(), member))
        return self.people[name]

    async def _console(self, socket: WebSocket) -> None:
        await socket.accept()
        for frame in self.flow:
            await _send(socket, frame)
        self.console.add(socket)
        try:
            await socket.receive_text()
        except WebSocketDisconnect:
            self.console.discard(socket)

    async def _upload(self, request: Request) -> Response:
        body = await request.body()
        name = request.query_params["name"]
        file_id = f"f{len(self.files) + 1}"
        mime = request.headers["content-type"]
        file = n.File(file_id, name, mime, len(body), f"/files/{file_id}")
        self.files[file_id] = (file, body)
        return Response(msgspec.json.encode(file), media_type="application/json")

    async def _download(self, request: Request) -> Response:
        file, body = self.files[request.path_params["id"]]
        return Response(body, media_type=file.mime, headers={"content-disposition": "attachment"})

    async def _api(self, request: Request) -> Response:
        path = request.url.path.removeprefix("/api/")
        if request.method == "POST":
            self.posted.append(path)
            return JSONResponse({"ok": True})
        if path not in self.api:
            return JSONResponse({"error": f"no message has the id {path.partition('/')[2].partition('/')[0]}"}, 404)
        return Response(msgspec.json.encode(self.api[path]), media_type="application/json")

    def app(self) -> Starlette:
        def page(name: str) -> Callable[[Request], Awaitable[Response]]:
            async def serve(_: Request) -> Response:
                return FileResponse(STATIC / name, headers={"content-security-policy": POLICY})

            return serve

        return Starlette(
            routes=[
                Route("/", page("index.html")),
                Route("/console", page("console.html")),
                Route("/login", page("login.html")),
                Route("/files", self._upload, methods=["POST"]),
                Route("/files/{id}", self._download),
                Route("/api/{path:path}", self._api, methods=["GET", "POST"]),
                WebSocketRoute("/socket", self._socket),
                WebSocketRoute("/console/socket", self._console),
                Mount("/static", StaticFiles(directory=STATIC)),
            ]
        )


async def _send(socket: WebSocket, frame: Any) -> None:
    try:
        await socket.send_text(msgspec.json.encode(frame).decode())
    except (WebSocketDisconnect, RuntimeError):
        return  # it left; its own loop notices


def server(stage: Stage, port: int) -> uvicorn.Server:
    config = uvicorn.Config(stage.app(), port=port, log_level="warning", ws="websockets-sansio", lifespan="off")
    return uvicorn.Server(config)


if __name__ == "__main__":
    from tests.browser.scenes import review

    async def main() -> None:
        await server(await review(), 8799).serve()

    asyncio.run(main())
