"""The Bot API server: who may call, which faults a call meets, and what people do on their side."""

import asyncio
import math
import mimetypes
import re
import time
from typing import Any

import msgspec
from aiohttp import BodyPartReader, web

from rejoinder.testing.platform.faults import Fault, Verb
from rejoinder.testing.platform.noted_call import NotedCall, hang_up, json_answer
from rejoinder.testing.platform.personality import Stage
from rejoinder.testing.platform.telegram.files import SentFile
from rejoinder.testing.platform.telegram.methods import METHODS, Methods
from rejoinder.testing.platform.telegram.strict import SECOND_READER, Refusal
from rejoinder.testing.platform.telegram.updates import Updates
from rejoinder.testing.platform.telegram.world import (
    BOT_NAME,
    TOKEN,
    Room,
    Stored,
    World,
    found_entities,
)
from rejoinder.testing.platform.truth import BOT, Frame

_REFUSALS = {
    "5xx": (502, "Bad Gateway"),
    "400": (400, "Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 0"),
    "401": (401, "Unauthorized"),
    "403": (403, "Forbidden: bot was blocked by the user"),
    "404": (404, "Not Found"),
    "409": (409, SECOND_READER),
}
PICTURE = b"\xff\xd8\xff" + bytes(1197)
"""The part of a JPEG that every reader looks at."""
_TOKEN = re.compile(r"[0-9]+:[\w-]+")


class TelegramServer:
    name = "telegram"

    def __init__(self, stage: Stage) -> None:
        self._truth = stage.truth
        self._faults = stage.faults
        self._reads_everything = bool(stage.options.get("reads_everything", True))
        self.world = World()
        self.methods = Methods(self.world, stage.truth, reads_everything=self._reads_everything)
        self.updates = Updates(stage.faults)
        self._not_before: dict[str, float] = {}
        self._albums = 0
        self._presses = 0

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/bot{token}/{method}", self._answer),
            web.get("/bot{token}/{method}", self._answer),
            web.get("/file/bot{token}/files/{id}", self._give_file),
        ]

    def config(self, url: str) -> str:
        return f'kind = "telegram"\ntoken = "{TOKEN}"\napi_root = "{url}"\n'

    def id_of(self, name: str) -> str:
        return str(self.world.id_of(name))

    async def start(self, url: str) -> None:
        """Does nothing: this personality is a server."""

    async def stop(self) -> None:
        await self.updates.delete_webhook()

    # --- calls of the bot -------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> web.Response:
        token, method = request.match_info["token"], request.match_info["method"]
        payload = await _payload(request)
        verb: Verb = "poll" if method.lower() == "getupdates" else METHODS.get(method.lower(), ("other", None))[0]
        chat = self.world.name_of(payload.get("chat_id"))
        note = _Note(self._truth.note, verb, chat, method, payload)
        if token != TOKEN:
            return note.refuse(Refusal(401, "Unauthorized") if _TOKEN.fullmatch(token) else Refusal(404, "Not Found"))
        if (left := self._not_before.get(chat, 0.0) - time.monotonic()) > 0 and chat:
            return note.refuse(_too_many(left), too_early=True)
        fault = self._faults.draw(verb, chat)
        if fault is None:
            return await self._perform(method, payload, note)
        return await self._befall(fault, request, method, payload, note)

    async def _befall(
        self, fault: Fault, request: web.Request, method: str, payload: dict[str, Any], note: "_Note"
    ) -> web.Response:
        match fault.kind:
            case "drop":
                return hang_up(request, note)
            case "accept-drop":
                await self._perform(method, payload, note)
                return hang_up(request)
            case "half-open":
                note.nothing()
                await asyncio.Event().wait()
                raise AssertionError
            case "slow":
                await asyncio.sleep(fault.seconds)
                return await self._perform(method, payload, note)
            case "429":
                self._not_before[note.chat] = time.monotonic() + math.ceil(fault.seconds)
                return note.refuse(_too_many(fault.seconds))
            case kind if kind in _REFUSALS:
                return note.refuse(Refusal(*_REFUSALS[kind]))
            case _:
                return await self._perform(method, payload, note)

    async def _perform(self, method: str, payload: dict[str, Any], note: "_Note") -> web.Response:
        try:
            match method.lower():
                case "getupdates":
                    result: Any = await self.updates.get(payload)
                case "setwebhook":
                    result = await self.updates.set_webhook(payload)
                case "deletewebhook":
                    result = await self.updates.delete_webhook()
                case known if known in METHODS:
                    result = METHODS[known][1](self.methods, payload)
                case _:
                    raise Refusal(404, "Not Found")
        except Refusal as refusal:
            return note.refuse(refusal)
        return note.grant(result)

    async def _give_file(self, request: web.Request) -> web.Response:
        content = self.methods.files.get(request.match_info["id"])
        if content is None or request.match_info["token"] != TOKEN:
            return web.Response(status=404)
        return web.Response(body=content, content_type="application/octet-stream")

    # --- what people do ---------------------------------------------------------------------------

    async def says(
        self,
        chat: str,
        person: str,
        text: str,
        *,
        reply_to: str | None = None,
        thread: str | None = None,
        pictures: int = 0,
        file: tuple[str, bytes] | None = None,
        voice: tuple[bytes, int] | None = None,
        **more: Any,
    ) -> str:
        """`pictures`: the number of pictures of an album, with the text as its caption; `file`: name and content of a
        document, also with a caption; `voice`: the length of a voice note in seconds.

        `more`: fields of the message as Telegram has them.
        """
        room = self.world.room(chat)
        place = (None if thread is None else int(thread), None if reply_to is None else int(reply_to))
        if file is not None:
            bodies = [self._document(*file, text)]
        elif voice is not None:
            bodies = [self._voice(*voice, text)]
        else:
            bodies = self._pictures(pictures, text) if pictures else [_text("", text)]
        written = [self.world.add(room, person, {**body, **more}, *place) for body in bodies]
        for stored in written:
            shown = text if stored is written[0] else ""
            self._truth.show(Frame(time.time(), chat, "message", person, str(stored.id), shown, thread, reply_to))
            if self._is_told(room, stored):
                self.updates.push("message", self.world.message(room, stored), chat)
        return str(written[0].id)

    async def edits(self, chat: str, person: str, message: str, text: str) -> None:
        room = self.world.room(chat)
        stored = room.messages[int(message)]
        stored.body, stored.edit_date = _text("", text), self.world.now()
        self._truth.show(Frame(time.time(), chat, "edit", person, message, text))
        self.updates.push("edited_message", self.world.message(room, stored), chat)

    async def reacts(self, chat: str, person: str, message: str, emoji: str) -> None:
        room = self.world.room(chat)
        self._truth.show(Frame(time.time(), chat, "reaction", person, message, emoji))
        change = {
            "chat": self.world.chat(room),
            "message_id": int(message),
            "user": self.world.user(person),
            "date": self.world.now(),
            "old_reaction": [],
            "new_reaction": [{"type": "emoji", "emoji": emoji}],
        }
        self.updates.push("message_reaction", change, chat)

    async def presses(self, chat: str, person: str, message: str, label: str) -> None:
        room = self.world.room(chat)
        stored = room.messages[int(message)]
        buttons = [button for row in (stored.markup or {})["inline_keyboard"] for button in row]
        self._presses += 1
        query = {
            "id": f"{4_000_000_000_000_000_000 + self._presses}",
            "from": self.world.user(person),
            "message": self.world.message(room, stored),
            "chat_instance": f"-{room.id}",
            "data": next(button["callback_data"] for button in buttons if button["text"] == label),
        }
        self.methods.pressed[str(query["id"])] = person
        self.updates.push("callback_query", query, chat)

    def closes(self, chat: str, words: str = "bot was blocked by the user") -> None:
        """From now on, the bot has no access."""
        self.world.room(chat).closed = words

    def moves(self, chat: str, to: str) -> None:
        """A group becomes a supergroup, under a new id."""
        old, new = self.world.room(chat), self.world.room(to)
        old.moved_to = new.id
        by = next(iter(old.messages.values())).by
        for room, fact in ((old, {"migrate_to_chat_id": new.id}), (new, {"migrate_from_chat_id": old.id})):
            note = self.world.add(room, by, fact, None, None)
            self.updates.push("message", self.world.message(room, note), room.name)

    def _pictures(self, count: int, caption: str) -> list[dict[str, Any]]:
        self._albums += 1
        bodies: list[dict[str, Any]] = []
        for index in range(count):
            number = f"{self._albums}-{index}"
            photo = {"file_id": f"file-{number}", "file_unique_id": f"u{number}", "width": 90, "height": 67}
            self.methods.files[f"file-{number}"] = PICTURE
            size = {"file_size": len(PICTURE)}
            body = {"photo": [{**photo, **size}], **(_text("caption_", caption) if not index else {})}
            bodies.append(body if count == 1 else {"media_group_id": f"1300{self._albums}", **body})
        return bodies

    def _document(self, name: str, content: bytes, caption: str) -> dict[str, Any]:
        id = f"document-{len(self.methods.files)}"
        self.methods.files[id] = content
        document = {"file_id": id, "file_unique_id": f"u-{id}", "file_name": name, "file_size": len(content)}
        mime = mimetypes.guess_type(name)[0]
        return {"document": {**document, **({"mime_type": mime} if mime else {})}, **_text("caption_", caption)}

    def _voice(self, content: bytes, seconds: int, caption: str) -> dict[str, Any]:
        id = f"voice-{len(self.methods.files)}"
        self.methods.files[id] = content
        voice = {"file_id": id, "file_unique_id": f"u-{id}", "duration": seconds, "file_size": len(content)}
        return {"voice": {**voice, "mime_type": "audio/ogg"}, **(_text("caption_", caption) if caption else {})}

    def _is_told(self, room: Room, stored: Stored) -> bool:
        """With privacy mode on, a bot in a group gets only messages that are meant for it."""
        if room.in_private or self._reads_everything:
            return True
        text: str = stored.body.get("text") or stored.body.get("caption", "")
        replied = room.messages.get(stored.reply_to or 0)
        return f"@{BOT_NAME}" in text or text.startswith("/") or (replied is not None and replied.by == BOT)


class _Note(NotedCall):
    """Records a call with its answer."""

    def grant(self, result: Any) -> web.Response:
        self.write(200)
        return json_answer(200, {"ok": True, "result": result})

    def refuse(self, refusal: Refusal, *, too_early: bool = False) -> web.Response:
        self.write(refusal.code, str(refusal), too_early=too_early)
        answer = {"ok": False, "error_code": refusal.code, "description": str(refusal)}
        return json_answer(refusal.code, {**answer, "parameters": refusal.parameters} if refusal.parameters else answer)


async def _payload(request: web.Request) -> dict[str, Any]:
    """From JSON, from the address, or from a form, in which everything but plain words is JSON and files are parts."""
    if not request.content_type.startswith("multipart/"):
        body = await request.read()
        return msgspec.json.decode(body) if body else dict(request.query)
    payload: dict[str, Any] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader), "a form within a form"
        content = bytes(await part.read())
        if part.filename is not None:
            mime = part.headers.get("Content-Type", "application/octet-stream")
            payload[part.name or ""] = SentFile(part.filename, mime, content)
        else:
            payload[part.name or ""] = _value(content)
    return payload


def _value(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:
        return content.decode()


def _text(prefix: str, text: str) -> dict[str, Any]:
    entities = found_entities(text, [])
    body: dict[str, Any] = {"caption" if prefix else "text": text} if text else {}
    return {**body, f"{prefix}entities": entities} if entities else body


def _too_many(seconds: float) -> Refusal:
    wait = max(1, math.ceil(seconds))
    return Refusal(429, f"Too Many Requests: retry after {wait}", retry_after=wait)
