"""The server: who may call, which faults a call meets, and what people do on their side."""

import asyncio
import math
import re
import time
from collections.abc import Callable
from typing import Any, TypeGuard

import msgspec
from aiohttp import web

from rejoinder.testing.platform.discord.gateway import PATH, GatewayServer
from rejoinder.testing.platform.discord.interactions import Interactions
from rejoinder.testing.platform.discord.limits import Limit, Limits
from rejoinder.testing.platform.discord.rest import ROUTES, Call, Rest, Upload
from rejoinder.testing.platform.discord.strict import Refusal
from rejoinder.testing.platform.discord.world import (
    BOT_NAME,
    FORUM,
    GUILD,
    World,
    channel_id,
    now,
    role_id,
    token_of,
    user_id,
)
from rejoinder.testing.platform.faults import Fault, Verb
from rejoinder.testing.platform.noted_call import NotedCall, hang_up, json_answer
from rejoinder.testing.platform.personality import Stage
from rejoinder.testing.platform.truth import PATIENCE
from rejoinder.testing.platform.truth import Call as Noted

API = "/api/v10"
_FORM = {"content": {"_errors": [{"code": "BASE_TYPE_REQUIRED", "message": "This field is required"}]}}
_REFUSALS: dict[str, tuple[int, int, str]] = {
    "5xx": (502, 0, "502: Bad Gateway"),
    "400": (400, 50035, "Invalid Form Body"),
    "401": (401, 0, "401: Unauthorized"),
    "403": (403, 50001, "Missing Access"),
    "404": (404, 10003, "Unknown Channel"),
}
Perform = Callable[[Rest, Call], Any]
_ROUTES: tuple[tuple[str, re.Pattern[str], Verb, Perform], ...] = tuple(
    (method, re.compile(API + path), verb, perform) for method, path, verb, perform in ROUTES
)


class DiscordServer:
    name = "discord"

    def __init__(self, stage: Stage) -> None:
        self._truth = stage.truth
        self._faults = stage.faults
        self.world = World()
        self.gateway = GatewayServer(self.world, stage.faults, self._note_gateway)
        self.gateway.interval = float(stage.options.get("heartbeat", self.gateway.interval))
        self.gateway.spacing = float(stage.options.get("spacing", self.gateway.spacing))
        self.rest = Rest(self.world, stage.truth, self.gateway)
        self.interactions = Interactions(self.world, self.rest, self.gateway)
        self.limits = Limits(has_buckets=bool(stage.options.get("buckets", False)))

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(PATH, self.gateway.serve),
            web.get(PATH + "/", self.gateway.serve),
            web.get("/attachments/{channel}/{id}/{name}", self._give_file),
            web.route("*", API + "/{path:.*}", self._answer),
        ]

    def config(self, url: str, bot: str = BOT_NAME) -> str:
        return f'kind = "discord"\ntoken = "{token_of(bot)}"\napi_root = "{url}/api"\n'

    def id_of(self, name: str) -> str:
        """The id of a person or a bot; a name like `#team` is that of a channel."""
        return channel_id(name) if name.startswith("#") else user_id(name)

    def direct_of(self, person: str, bot: str = BOT_NAME) -> str:
        """The id of a direct chat."""
        return self.world.room(person, bot).id

    async def start(self, url: str) -> None:
        self.rest.url = url
        self.gateway.address = url.replace("http://", "ws://") + PATH

    async def stop(self) -> None:
        self.gateway.break_off()

    # --- calls of the bots ------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        method, path = request.method, request.raw_path.partition("?")[0]
        payload, files = await _read(request)
        found = _route(method, path)
        verb: Verb = found[1] if found is not None else self.interactions.verb_of(path)
        room = self.world.rooms.get(found[0].groups()[0]) if found is not None and found[0].groups() else None
        chat = self.world.chat_of(room) if room is not None else ""
        note = _Note(self._truth.note, verb, chat, f"{method} {path.removeprefix(API)}", payload)
        bot = self._bot(request)
        if bot is None and not self.interactions.handles(path.removeprefix(API)):
            return note.refuse(Refusal(401, 0, "401: Unauthorized"))
        if (limit := self.limits.met(bot or "", chat, verb)) is not None:
            return note.limit(limit)
        query = dict(request.query)

        def perform() -> Any:
            if found is None:
                return self.interactions.perform(method, path.removeprefix(API), payload, files)
            return found[2](self.rest, Call(bot or "", found[0].groups(), payload, query, files))

        fault = self._faults.draw(verb, chat)
        return await self._befall(fault, request, perform, note) if fault is not None else _perform(perform, note)

    async def _befall(self, fault: Fault, request: web.Request, perform: Any, note: "_Note") -> web.StreamResponse:
        match fault.kind:
            case "drop":
                return hang_up(request, note)
            case "accept-drop":
                _perform(perform, note)
                return hang_up(request)
            case "half-open":
                note.nothing()
                await asyncio.Event().wait()
                raise AssertionError
            case "slow":
                await asyncio.sleep(fault.seconds)
                return _perform(perform, note)
            case "429":
                self.limits.close(note.chat, fault.seconds)
                return note.limit(Limit(fault.seconds))
            case "400":
                return note.refuse(Refusal(400, 50035, "Invalid Form Body", errors=_FORM))
            case kind if kind in _REFUSALS:
                return note.refuse(Refusal(*_REFUSALS[kind]))
            case _:
                return _perform(perform, note)

    def _bot(self, request: web.Request) -> str | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        names = (self.world.names[id] for id in self.world.bots)
        return next((name for name in names if scheme == "Bot" and token_of(name) == token), None)

    async def _give_file(self, request: web.Request) -> web.Response:
        content = self.rest.files.get(request.path)
        if content is None:
            return web.Response(status=404)
        return web.Response(body=content, content_type="application/octet-stream")

    def _note_gateway(self, name: str, what: dict[str, Any]) -> None:
        self._truth.note(Noted(time.time(), "poll", "", 200, name, what))

    # --- what people do ---------------------------------------------------------------------------

    async def says(
        self,
        chat: str,
        person: str,
        text: str,
        *,
        reply_to: str | None = None,
        thread: str | None = None,
        file: tuple[str, bytes] | None = None,
        bot: str = BOT_NAME,
        **more: Any,
    ) -> str:
        """`file`: name and content of an attachment; `bot`: the bot of the direct chat; `more`: fields as Discord has
        them. Waits until a bot has connected for the first time: Discord tells bots nothing from before that."""
        async with asyncio.timeout(PATIENCE):
            await self.gateway.somebody_listens.wait()
        room = self.world.room(chat, bot) if thread is None else self.world.rooms[thread]
        stored = self.world.add(room, self.world.person(person), self.world.written(text), reply_to=reply_to, more=more)
        if file is not None:
            upload = Upload(file[0], file[1], "")
            stored.attachments = [self.rest.keep_file(room, str(int(stored.id) + 1), upload)]
        self.rest.show(room, stored, "message")
        fault = self._faults.draw("poll", chat)
        if fault is not None:
            self.gateway.break_off(refusing=1 if fault.kind == "5xx" else 0)
        self.gateway.tell("MESSAGE_CREATE", self.world.event(stored), room)
        return stored.id

    async def edits(self, chat: str, person: str, message: str, text: str) -> None:
        room, stored = self._find(message)
        stored.content, stored.edited = self.world.written(text), now()
        self.rest.show(room, stored, "edit")
        self.gateway.tell("MESSAGE_UPDATE", self.world.event(stored), room)

    async def deletes(self, chat: str, person: str, message: str) -> None:
        room, stored = self._find(message)
        self.rest.remove(room, stored, self.world.person(person))

    async def reacts(self, chat: str, person: str, message: str, emoji: str) -> None:
        room, stored = self._find(message)
        self.rest.react(room, stored, self.world.person(person), emoji)

    async def presses(self, chat: str, person: str, message: str, label: str) -> None:
        room, stored = self._find(message)
        self.interactions.press(room, stored, self.world.person(person), label)

    async def opens_thread(self, chat: str, person: str, message: str, title: str) -> str:
        """A person opens a thread under a message."""
        room, stored = self._find(message)
        thread = self.world.open_thread(room, stored.id, title)
        self.gateway.tell("THREAD_CREATE", self.world.channel(thread), room)
        return thread.id

    async def posts(self, forum: str, person: str, title: str, text: str) -> str:
        """A person opens a post in a forum; returns the id of its thread."""
        room = self.world.room(forum)
        room.type = FORUM
        thread = self.world.open_thread(room, self.world.new_id(), title)
        self.gateway.tell("THREAD_CREATE", self.world.channel(thread), room)
        await self.says(forum, person, text, thread=thread.id)
        return thread.id

    def add_forum(self, name: str, *tags: str, needs_tag: bool = False) -> str:
        """`tags`: names; a tag that ends with `!` may be set only by moderators. Returns the forum's id."""
        room = self.world.room(name)
        room.type, room.needs_tag = FORUM, needs_tag
        room.tags = {self.world.new_id(): tag for tag in tags}
        return room.id

    def add_bot(self, name: str) -> str:
        """Adds another bot to the server; returns its token."""
        self.world.add_bot(name)
        return token_of(name)

    def add_role(self, name: str) -> str:
        self.world.roles[name] = role_id(name)
        return self.world.roles[name]

    def boosts(self, level: int) -> None:
        """The server's level changes."""
        self.world.boosts = level
        self.gateway.tell("GUILD_UPDATE", self.world.guild(BOT_NAME))

    def archives(self, thread: str, *, locked: bool = False) -> None:
        """`locked`: only a moderator may write in it or reopen it."""
        self.rest.archive(self.world.rooms[thread], archived=True, locked=locked)

    def deletes_thread(self, thread: str) -> None:
        room = self.world.rooms.pop(thread)
        about = {"id": room.id, "parent_id": room.parent, "guild_id": GUILD, "type": room.type}
        self.gateway.tell("THREAD_DELETE", about)

    def removes_bot(self, bot: str = BOT_NAME) -> None:
        """The bot is removed from the server."""
        self.gateway.tell("GUILD_DELETE", {"id": GUILD}, only=bot)

    def closes(self, chat: str, code: int = 50001) -> None:
        """From now on, the bots have no access."""
        self.world.room(chat).closed = code

    def unfurls(self, message: str) -> None:
        """Discord shows a link of a message: an update without an edit."""
        room, stored = self._find(message)
        self.gateway.tell("MESSAGE_UPDATE", {**self.world.event(stored), "embeds": [{"type": "link"}]}, room)

    def _find(self, message: str) -> Any:
        return next((room, room.messages[message]) for room in self.world.rooms.values() if message in room.messages)


class _Note(NotedCall):
    """Records a call with its answer."""

    def grant(self, result: Any) -> web.Response:
        made = 201 if self.name.startswith("POST") and self.name.endswith("/threads") else 200
        status = 204 if result is None else made
        self.write(status)
        return web.Response(status=204) if result is None else json_answer(status, result)

    def refuse(self, refusal: Refusal) -> web.Response:
        self.write(refusal.status, f"{refusal.code}: {refusal}")
        return json_answer(refusal.status, refusal.body)

    def limit(self, limit: Limit) -> web.Response:
        headers = {"Retry-After": str(math.ceil(limit.seconds))}
        said = "error code: 1015" if limit.whose == "address" else "You are being rate limited."
        self.write(429, said, too_early=limit.too_early)
        if limit.whose == "address":  # these are the words of the proxy in front of Discord
            return web.Response(status=429, text=said, headers=headers)
        seconds = round(max(limit.seconds, 0.001), 3)
        body = {"message": said, "code": 0, "retry_after": seconds, "global": limit.whose == "bot"}
        return json_answer(429, body, {**headers, "Via": "1.1 google"})


def _route(method: str, path: str) -> tuple[re.Match[str], Verb, Perform] | None:
    for how, pattern, verb, perform in _ROUTES:
        if how == method and (found := pattern.fullmatch(path)):
            return found, verb, perform
    return None


def _perform(perform: Any, note: _Note) -> web.Response:
    try:
        return note.grant(perform())
    except Refusal as refusal:
        return note.refuse(refusal)


async def _read(request: web.Request) -> tuple[dict[str, Any], tuple[Upload, ...]]:
    if request.content_type == "multipart/form-data":
        form = await request.post()
        files = [value for value in form.values() if isinstance(value, web.FileField)]
        payload: dict[str, Any] = msgspec.json.decode(str(form.get("payload_json", "{}")))
        return payload, tuple(Upload(each.filename, each.file.read(), each.content_type) for each in files)
    body = await request.read()
    if not body:
        return {}, ()
    if request.content_type != "application/json":
        raise web.HTTPBadRequest(text='{"message": "The request body contains invalid JSON.", "code": 50109}')
    decoded: Any = msgspec.json.decode(body)
    return (decoded if is_object(decoded) else {"commands": decoded}), ()


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)
