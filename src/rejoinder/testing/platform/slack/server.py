"""Slack's server: who may call, which faults a call meets, and what people do on their side."""

import asyncio
import math
import time
from typing import Any

import msgspec
from aiohttp import web
from yarl import URL

from rejoinder.channels.slack import manifest
from rejoinder.testing.platform.faults import Fault, Verb
from rejoinder.testing.platform.noted_call import NotedCall, hang_up, json_answer
from rejoinder.testing.platform.personality import Stage
from rejoinder.testing.platform.slack.events import Events, Going
from rejoinder.testing.platform.slack.methods import METHODS, READING, Methods, Upload
from rejoinder.testing.platform.slack.strict import SCOPES, Refusal
from rejoinder.testing.platform.slack.world import (
    APP_TOKEN,
    BOT_TOKEN,
    BOT_USER,
    SIGNING_SECRET,
    TEAM,
    Room,
    Stored,
    World,
    shown,
)
from rejoinder.testing.platform.truth import BOT, Frame

_REFUSALS = {
    "400": "invalid_blocks",
    "401": "invalid_auth",
    "403": "not_in_channel",
    "404": "channel_not_found",
    "409": "streaming_state_conflict",
}
HISTORY = frozenset({"conversations.history", "conversations.replies"})
CHECK_FILE_INFO = "check_file_info"
ALL_SCOPES = frozenset(manifest.SCOPES)


class SlackServer:
    """Options: `scopes` of the bot's token, `streams` for native streams, `emoji` of the workspace, `ack_seconds`,
    `subscribed`, `socket_mode`, `events_url` for signed events, `shares_late`: seconds after which Slack says which
    message has a file, `reads`: how often history may be read within how many seconds."""

    name = "slack"

    def __init__(self, stage: Stage) -> None:
        self._truth = stage.truth
        self._faults = stage.faults
        self.world = World()
        self.events = Events(self.world, stage.faults, dict(stage.options))
        self.methods = Methods(self.world, stage.truth, self._tell, dict(stage.options))
        self.scopes = frozenset(stage.options.get("scopes", ALL_SCOPES))
        self.tokens = {BOT_TOKEN: "bot", APP_TOKEN: "app"}
        self._not_before: dict[str, float] = {}
        self._reads: tuple[int, float] | None = stage.options.get("reads")
        self._windows: dict[str, tuple[int, float, bool]] = {}  # per method: how often, since when, whether told
        self._presses = 0
        self._responses: dict[str, str] = {}
        self._url = ""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/{method}", self._answer),
            web.get("/socket", self.events.serve),
            web.post("/upload/{id}", self._take_upload),
            web.get("/files/{id}/{name}", self._give_file),
            web.post("/respond/{id}", self._take_response),
        ]

    def config(self, url: str) -> str:
        same = f'kind = "slack"\nbot_token = "{BOT_TOKEN}"\napi_root = "{url}/api/"\n'
        if not (called := self.events.events_url):
            return f'{same}app_token = "{APP_TOKEN}"\n'
        here = URL(called)
        return f'{same}signing_secret = "{SIGNING_SECRET}"\nevents_port = {here.port}\nevents_path = "{here.path}"\n'

    def id_of(self, name: str) -> str:
        return self.world.id_of(name)

    async def start(self, url: str) -> None:
        self._url = self.methods.url = url

    async def stop(self) -> None:
        await self.events.stop()

    def _tell(self, room: Room, event: dict[str, Any]) -> None:
        self.events.event(event, room.name)

    # --- calls of the app -------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        payload = await _payload(request, method)
        verb: Verb = "poll" if method == "apps.connections.open" else METHODS.get(method, ("other", None))[0]
        chat = self.world.name_of(payload.get("channel") or payload.get("channel_id"))
        note = _Note(self._truth.note, verb, chat, method, payload)
        if (left := self._not_before.get(chat, 0.0) - time.monotonic()) > 0 and chat:
            return note.wait(left, too_early=True)
        if method in HISTORY and (refused := self._limit(method, note)) is not None:
            return refused
        fault = self._faults.draw(verb, chat)
        if fault is None:
            return await self._perform(request, method, payload, note)
        return await self._befall(fault, request, method, payload, note)

    def _limit(self, method: str, note: "_Note") -> web.Response | None:
        """Slack counts the calls of each method separately."""
        if self._reads is None:
            return None
        (most, seconds), now = self._reads, time.monotonic()
        used, since, told = self._windows.get(method, (0, now, False))
        if now - since >= seconds:
            used, since, told = 0, now, False
        self._windows[method] = (used + 1, since, used >= most)
        return note.wait(since + seconds - now, too_early=told) if used >= most else None

    async def _befall(
        self, fault: Fault, request: web.Request, method: str, payload: dict[str, Any], note: "_Note"
    ) -> web.Response:
        match fault.kind:
            case "drop":
                return hang_up(request, note)
            case "accept-drop":
                await self._perform(request, method, payload, note)
                return hang_up(request)
            case "half-open":
                note.nothing()
                await asyncio.Event().wait()
                raise AssertionError
            case "slow":
                await asyncio.sleep(fault.seconds)
                return await self._perform(request, method, payload, note)
            case "429":
                self._not_before[note.chat] = time.monotonic() + math.ceil(fault.seconds)
                return note.wait(fault.seconds)
            case "5xx":
                note.nothing()
                return web.Response(status=503, text="<html>try later</html>", content_type="text/html")
            case kind if kind in _REFUSALS:
                return note.refuse(Refusal(_REFUSALS[kind]))
            case _:
                return await self._perform(request, method, payload, note)

    async def _perform(self, request: web.Request, method: str, payload: dict[str, Any], note: "_Note") -> web.Response:
        try:
            self._check_token(request, method)
            if method == "apps.connections.open":
                if not self.events.socket_mode:
                    raise Refusal("socket_mode_not_enabled")
                address = self._url.replace("http://", "ws://")
                return note.grant({"url": f"{address}/socket?ticket={self.events.ticket()}"}, "")
            if method not in METHODS:
                raise Refusal("unknown_method")
            return note.grant(METHODS[method][1](self.methods, payload), ",".join(sorted(self.scopes)))
        except Refusal as refusal:
            return note.refuse(refusal)

    def _check_token(self, request: web.Request, method: str) -> None:
        shown_token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not shown_token:
            raise Refusal("not_authed")
        kind = self.tokens.get(shown_token)
        if kind is None:
            raise Refusal("invalid_auth")
        if kind != ("app" if method == "apps.connections.open" else "bot"):
            raise Refusal("not_allowed_token_type")
        needed = SCOPES.get(method)
        if needed is not None and needed not in self.scopes:
            raise Refusal("missing_scope", needed=needed, provided=",".join(sorted(self.scopes)))

    async def _take_upload(self, request: web.Request) -> web.Response:
        upload = self.methods.uploads.get(request.match_info["id"])
        body = await request.read()
        if upload is None or len(body) != upload.length or request.headers.get("Authorization"):
            return web.Response(status=400)
        upload.content = body
        return web.Response(text=f"OK - {len(body)}")

    async def _give_file(self, request: web.Request) -> web.Response:
        """A caller without the right gets the login page, with status 200, as from Slack."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        upload = self.methods.uploads.get(request.match_info["id"])
        if self.tokens.get(token) != "bot" or "files:read" not in self.scopes:
            return web.Response(text="<!DOCTYPE html><html>Sign in to Slack</html>", content_type="text/html")
        if upload is None or upload.content is None:
            return web.Response(status=404)
        return web.Response(body=upload.content, content_type="application/octet-stream")

    async def _take_response(self, request: web.Request) -> web.Response:
        chat = self._responses.get(request.match_info["id"])
        if chat is None or request.headers.get("Authorization"):
            return web.Response(status=404, text="no_active_hooks")
        body = await request.json()
        person = request.match_info["id"].rpartition("-")[2]
        self.methods.responses.append({**body, "chat": chat, "to": person})
        place = f"{chat}@{person}" if body.get("response_type") == "ephemeral" else chat
        self._truth.show(
            Frame(time.time(), place, "message", message=self.world.now(), text=shown(body.get("text", "")))
        )
        return web.Response(text="ok")

    # --- what people do ---------------------------------------------------------------------------

    async def says(
        self,
        chat: str,
        person: str,
        text: str,
        *,
        thread: str | None = None,
        reply_to: str | None = None,
        file: tuple[str, bytes] | None = None,
        bot: bool = False,
        abroad: bool = False,
        **more: Any,
    ) -> str:
        """`reply_to` is the thread of that message; `bot`: the person is somebody else's bot; `abroad`: the file is one
        of another workspace; `more`: fields of the message as Slack has them."""
        room = self.world.room(chat)
        self.world.id_of(person)
        if reply_to is not None and thread is None:
            target = room.messages.get(reply_to)
            thread = target.thread if target is not None and target.thread else reply_to
        files = [self._file(*file, abroad)] if file is not None else []
        extra = {"subtype": "file_share", **more} if files else more
        stored = self.world.add(room, person, self.world.typed(text), thread, files=files, more=extra, bot=bot)
        self._truth.show(Frame(time.time(), chat, "message", person, stored.ts, text, thread, thread))
        self._tell_message(room, stored)
        return stored.ts

    def _tell_message(self, room: Room, stored: Stored) -> None:
        event = {**self.world.message(room, stored), "channel": room.id, "event_ts": stored.ts}
        if f"<@{BOT_USER}>" in stored.text and not room.is_direct:
            mention = {name: value for name, value in event.items() if name != "subtype"}
            self.events.event({**mention, "type": "app_mention"}, room.name)
        self.events.event({**event, "channel_type": "im" if room.is_direct else "channel"}, room.name)

    async def edits(self, chat: str, person: str, message: str, text: str) -> None:
        room = self.world.room(chat)
        stored = room.messages[message]
        before = self.world.message(room, stored)
        stored.text, stored.edited = self.world.typed(text), self.world.now()
        self._truth.show(Frame(time.time(), chat, "edit", person, message, text))
        self._tell_change(room, stored, before)

    async def unfurls(self, chat: str, message: str) -> None:
        """Slack has looked up a link, and reports a change that nobody made."""
        room = self.world.room(chat)
        stored = room.messages[message]
        before = self.world.message(room, stored)
        stored.more = {**stored.more, "attachments": [{"from_url": "https://example.org", "fallback": "A page"}]}
        self._tell_change(room, stored, before)

    def _tell_change(self, room: Room, stored: Stored, before: dict[str, Any]) -> None:
        self.events.event(
            {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "channel": room.id,
                "channel_type": "im" if room.is_direct else "channel",
                "ts": self.world.now(),
                "event_ts": self.world.now(),
                "message": self.world.message(room, stored),
                "previous_message": before,
            },
            room.name,
        )

    async def deletes(self, chat: str, person: str, message: str) -> None:
        room = self.world.room(chat)
        stored = room.messages.pop(message)
        self._truth.show(Frame(time.time(), chat, "delete", person, message))
        self.events.event(
            {
                "type": "message",
                "subtype": "message_deleted",
                "hidden": True,
                "channel": room.id,
                "channel_type": "im" if room.is_direct else "channel",
                "ts": self.world.now(),
                "event_ts": self.world.now(),
                "deleted_ts": message,
                "previous_message": self.world.message(room, stored),
            },
            room.name,
        )

    async def reacts(self, chat: str, person: str, message: str, emoji: str) -> None:
        """`emoji`: Slack's name of it."""
        room = self.world.room(chat)
        self._truth.show(Frame(time.time(), chat, "reaction", person, message, emoji))
        self.events.event(
            {
                "type": "reaction_added",
                "user": self.world.id_of(person),
                "reaction": emoji,
                "item": {"type": "message", "channel": room.id, "ts": message},
                "item_user": BOT_USER,
                "event_ts": self.world.now(),
            },
            room.name,
        )

    async def presses(self, chat: str, person: str, message: str, label: str) -> None:
        room = self.world.room(chat)
        stored = room.messages[message]
        elements = [each for block in stored.blocks if block["type"] == "actions" for each in block["elements"]]
        chosen: dict[str, Any] = {}
        for element in elements:
            if element["type"] == "button" and element["text"]["text"] == label:
                chosen = {"type": "button", "action_id": element["action_id"], "value": element["value"]}
            for option in element.get("options", ()):
                if option["text"]["text"] == label:
                    picked = {"text": option["text"], "value": option["value"]}
                    chosen = {"type": "static_select", "action_id": element["action_id"], "selected_option": picked}
        assert chosen, f"there is no button {label!r} under {stored.text!r}"
        self._presses += 1
        self.events.push(
            Going(
                "interactive",
                {
                    "type": "block_actions",
                    "team": {"id": TEAM, "domain": "example"},
                    "user": {"id": self.world.id_of(person), "username": person, "name": person, "team_id": TEAM},
                    "api_app_id": "A0APP0001",
                    "container": {
                        "type": "message",
                        "message_ts": message,
                        "channel_id": room.id,
                        "is_ephemeral": False,
                        **({"thread_ts": stored.thread} if stored.thread else {}),
                    },
                    "trigger_id": f"trigger-{self._presses}",
                    "channel": {"id": room.id, "name": room.name.removeprefix("#")},
                    "message": self.world.message(room, stored),
                    "response_url": self._response(chat, person),
                    "actions": [{**chosen, "block_id": "b1", "action_ts": self.world.now()}],
                },
            )
        )

    async def commands(self, chat: str, person: str, text: str) -> None:
        """A person types `/rejoinder` and this text."""
        room = self.world.room(chat)
        self._presses += 1
        self.events.push(
            Going(
                "slash_commands",
                {
                    "token": "old",
                    "team_id": TEAM,
                    "team_domain": "example",
                    "channel_id": room.id,
                    "channel_name": "directmessage" if room.is_direct else room.name.removeprefix("#"),
                    "user_id": self.world.id_of(person),
                    "user_name": person,
                    "command": "/rejoinder",
                    "text": text,
                    "api_app_id": "A0APP0001",
                    "is_enterprise_install": "false",
                    "response_url": self._response(chat, person),
                    "trigger_id": f"trigger-{self._presses}",
                },
            )
        )

    def _response(self, chat: str, person: str) -> str:
        id = f"response-{len(self._responses)}-{person}"
        self._responses[id] = chat
        return f"{self._url}/respond/{id}"

    async def opens_assistant(self, person: str) -> str:
        """Opens the app's assistant: a thread of its own in the direct chat. Returns it."""
        room = self.world.room(person)
        self.world.id_of(person)
        root = self.world.add(room, BOT, "New chat", more={"subtype": "assistant_app_thread"})
        self.events.event(
            {
                "type": "assistant_thread_started",
                "assistant_thread": {
                    "user_id": self.world.id_of(person),
                    "context": {"team_id": TEAM},
                    "channel_id": room.id,
                    "thread_ts": root.ts,
                },
                "event_ts": self.world.now(),
            },
            room.name,
        )
        return root.ts

    def tells(self, chat: str, event: dict[str, Any]) -> None:
        """Any other event, as when a person joins."""
        self.events.event({"channel": self.world.room(chat).id, "event_ts": self.world.now(), **event}, chat)

    def closes(self, chat: str, error: str = "not_in_channel") -> None:
        """From now on, the app has no access."""
        self.world.room(chat).error = error

    def hides(self, seconds: float) -> None:
        """History shows the messages so far only after this many seconds."""
        for room in self.world.rooms.values():
            for stored in room.messages.values():
                stored.hidden_until = time.monotonic() + seconds

    def _file(self, name: str, content: bytes, abroad: bool) -> dict[str, Any]:
        upload = Upload(f"F0SENT{len(self.methods.uploads):04d}", name, len(content), content, shared=True)
        self.methods.uploads[upload.id] = upload
        if abroad:
            return {
                "id": upload.id,
                "created": 0,
                "timestamp": 0,
                "mode": "file_access",
                "file_access": CHECK_FILE_INFO,
            }
        return self.methods.file(upload)


async def _payload(request: web.Request, method: str) -> dict[str, Any]:
    if request.content_type == "application/json":
        body = await request.read()
        return msgspec.json.decode(body) if body and method not in READING else {}
    return {name: str(value) for name, value in (await request.post()).items()}


class _Note(NotedCall):
    """Records a call with its answer."""

    def grant(self, result: dict[str, Any], scopes: str) -> web.Response:
        self.write(200)
        return json_answer(200, {"ok": True, **result}, {"X-OAuth-Scopes": scopes} if scopes else {})

    def refuse(self, refusal: Refusal) -> web.Response:
        self.write(400, refusal.error)
        return json_answer(200, {"ok": False, "error": refusal.error, **refusal.more}, {})

    def wait(self, seconds: float, *, too_early: bool = False) -> web.Response:
        self.write(429, "ratelimited", too_early=too_early)
        return json_answer(429, {"ok": False, "error": "ratelimited"}, {"Retry-After": str(max(1, math.ceil(seconds)))})
