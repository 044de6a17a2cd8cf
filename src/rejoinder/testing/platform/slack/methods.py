"""The methods of the Web API that a gateway needs, as Slack performs them."""

import mimetypes
import time
from collections.abc import Callable
from itertools import count
from typing import Any

from msgspec import Struct

from rejoinder.channels.slack.emoji import shown as emoji_shown
from rejoinder.testing.platform.faults import Verb
from rejoinder.testing.platform.slack import strict
from rejoinder.testing.platform.slack.strict import bad
from rejoinder.testing.platform.slack.world import (
    APP,
    BOT_ID,
    BOT_NAME,
    BOT_USER,
    TEAM,
    Room,
    Stored,
    World,
    pinged,
    shown,
)
from rejoinder.testing.platform.truth import BOT, Frame, Truth

Payload = dict[str, Any]
Tell = Callable[[Room, Payload], None]


class Upload(Struct):
    id: str
    name: str
    length: int
    content: bytes | None = None
    shared: bool = False
    shares: dict[str, Any] = {}
    """The message with the file, as Slack reports it."""
    told: float = 0.0
    """The time from which Slack reports it."""


class Methods:
    def __init__(self, world: World, truth: Truth, tell: Tell, options: Payload) -> None:
        self.emoji: set[str] = set(options.get("emoji", ()))
        """Custom emoji of the workspace."""
        self.uploads: dict[str, Upload] = {}
        self.prompts: dict[tuple[str, str], list[Payload]] = {}
        self.titles: dict[tuple[str, str], str] = {}
        self.statuses: dict[tuple[str, str], str] = {}
        """The status that is shown under each thread; a message of the app removes it."""
        self.ephemeral: list[Payload] = []
        self.responses: list[Payload] = []
        self.url = ""
        self._world = world
        self._truth = truth
        self._tell = tell
        self._streams = bool(options.get("streams", False))
        self._shares_late = float(options.get("shares_late", 0.0))
        self._numbers = count(1)

    # --- about us ---------------------------------------------------------------------------------

    def auth_test(self, payload: Payload) -> Payload:
        return {
            "url": "https://example.slack.com/",
            "team": "Example",
            "user": BOT_NAME,
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT_ID,
            "app_id": APP,
            "is_enterprise_install": False,
        }

    def users_info(self, payload: Payload) -> Payload:
        id = payload.get("user", "")
        if id not in self._world.people and id != BOT_USER:
            bad("user_not_found")
        return {"user": self._world.person(id)}

    def conversations(self, payload: Payload) -> Payload:
        kinds = payload.get("types", "public_channel").split(",")
        found = [each for each in self._world.rooms.values() if ("im" if each.is_direct else "public_channel") in kinds]
        channels = [{"id": each.id, "is_im": each.is_direct} for each in found if not each.error]
        return {"channels": channels, "response_metadata": {"next_cursor": ""}}

    # --- history ----------------------------------------------------------------------------------

    def history(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload)
        top = [each for each in room.messages.values() if each.thread is None or each.thread == each.ts]
        return self._page(room, sorted(top, key=lambda each: each.ts, reverse=True), payload)

    def replies(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload)
        ts = payload.get("ts", "")
        if ts not in room.messages:
            bad("thread_not_found")
        parent = room.messages[ts].thread or ts
        thread = [room.messages[parent]] if parent in room.messages else []
        thread += self._world.replies(room, parent)
        if ts != parent and payload.get("limit") == "1":
            thread = [room.messages[ts]]
        return self._page(room, sorted(thread, key=lambda each: each.ts), payload)

    def _page(self, room: Room, messages: list[Stored], payload: Payload) -> Payload:
        limit = int(payload.get("limit", 100))
        if not 0 < limit < 1000:
            bad("invalid_limit")
        oldest, latest = payload.get("oldest", "0"), payload.get("latest", "9999999999")
        inclusive = payload.get("inclusive") == "true"
        now = time.monotonic()
        fits = [
            each
            for each in messages
            if (float(oldest) < float(each.ts) < float(latest) or (inclusive and each.ts in (oldest, latest)))
            and each.hidden_until <= now
        ]
        first = int(payload.get("cursor") or 0)
        page, more = fits[first : first + limit], len(fits) > first + limit
        metadata = payload.get("include_all_metadata") == "true"
        written = [self._world.message(room, each, metadata=metadata) for each in page]
        return {
            "messages": written,
            "has_more": more,
            "response_metadata": {"next_cursor": str(first + limit) if more else ""},
        }

    # --- messages ---------------------------------------------------------------------------------

    def post_message(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload)
        text = strict.checked_text(payload)
        blocks, metadata = strict.checked_blocks(payload), strict.checked_metadata(payload)
        thread = strict.checked_thread(room, payload)
        if payload.get("reply_broadcast") or payload.get("link_names"):
            bad("invalid_arguments")  # we never do that
        stored = self._world.add(room, BOT, text, thread, blocks=blocks, metadata=metadata)
        self._show(room, stored, "message")
        self._echo(room, stored)
        return {"channel": room.id, "ts": stored.ts, "message": self._world.message(room, stored)}

    def update(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload)
        stored = self._own(room, payload, "cant_update_message")
        if stored.streaming == "in_progress":
            bad("streaming_state_conflict")
        text = strict.checked_text(payload)
        blocks = strict.checked_blocks(payload)
        before = self._world.message(room, stored)
        stored.text, stored.blocks, stored.edited = text, blocks, self._world.now()
        self._show(room, stored, "edit")
        self._changed(room, stored, before)
        return {"channel": room.id, "ts": stored.ts, "text": text}

    def delete(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload)
        stored = self._own(room, payload, "cant_delete_message")
        del room.messages[stored.ts]
        self._truth.show(Frame(time.time(), room.name, "delete", message=stored.ts))
        return {"channel": room.id, "ts": stored.ts}

    def post_ephemeral(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload)
        text = strict.checked_text(payload)
        strict.checked_blocks(payload)
        strict.checked_thread(room, payload)
        if payload.get("user") not in self._world.people:
            bad("user_not_in_channel")
        if payload.get("metadata") is not None:
            bad("invalid_arguments")
        self.ephemeral.append({"user": self._world.people[payload["user"]], "chat": room.name, "text": shown(text)})
        self._truth.show(Frame(time.time(), f"{room.name}@{self.ephemeral[-1]['user']}", "message", text=shown(text)))
        return {"message_ts": self._world.now()}

    def react(self, payload: Payload) -> Payload:
        return self._reaction(payload, remove=False)

    def unreact(self, payload: Payload) -> Payload:
        return self._reaction(payload, remove=True)

    def _reaction(self, payload: Payload, *, remove: bool) -> Payload:
        room = strict.known_room(self._world, payload)
        name = strict.checked_emoji(payload.get("name"), self.emoji)
        ts = payload.get("timestamp", "")
        if not strict.TS.fullmatch(ts):
            bad("bad_timestamp")
        if ts not in room.messages:
            bad("message_not_found")
        stored = room.messages[ts]
        who = stored.reactions.setdefault(name, [])
        if remove != (BOT in who):
            bad("no_reaction" if remove else "already_reacted")
        if remove:
            who.remove(BOT)
        else:
            who.append(BOT)
        there = "".join(emoji_shown(each) for each, people in stored.reactions.items() if people)
        self._truth.show(Frame(time.time(), room.name, "reaction", message=ts, text=there))
        return {}

    # --- streams and assistants ---------------------------------------------------------------------

    def start_stream(self, payload: Payload) -> Payload:
        if not self._streams:
            bad("unknown_method")
        room = strict.known_room(self._world, payload)
        thread = strict.checked_thread(room, payload)
        if thread is None:
            bad("invalid_thread_ts")
        if not room.is_direct and not payload.get("recipient_user_id"):
            bad("missing_recipient_user_id")
        if not room.is_direct and payload.get("recipient_team_id") != TEAM:
            bad("missing_recipient_team_id")
        text = payload.get("markdown_text", "")
        if len(text) > strict.MOST_MARKDOWN:
            bad("msg_too_long")
        stored = self._world.add(room, BOT, text, thread, streaming="in_progress")
        self._show(room, stored, "message")
        self._echo(room, stored)
        return {"channel": room.id, "ts": stored.ts}

    def append_stream(self, payload: Payload) -> Payload:
        room, stored = self._stream(payload)
        text = payload.get("markdown_text", "")
        if not text:
            bad("no_text")
        if len(text) > strict.MOST_MARKDOWN:
            bad("msg_too_long")
        stored.text += text
        self._show(room, stored, "edit")
        return {"channel": room.id, "ts": stored.ts}

    def stop_stream(self, payload: Payload) -> Payload:
        room, stored = self._stream(payload)
        stored.text += payload.get("markdown_text", "")
        stored.metadata = strict.checked_metadata(payload) or stored.metadata
        stored.blocks = strict.checked_blocks(payload)
        stored.streaming = "completed"
        self._show(room, stored, "edit")
        return {"channel": room.id, "ts": stored.ts, "message": self._world.message(room, stored)}

    def _stream(self, payload: Payload) -> tuple[Room, Stored]:
        room = strict.known_room(self._world, payload)
        stored = self._own(room, payload, "message_not_owned_by_app")
        if stored.streaming != "in_progress":
            bad("message_not_in_streaming_state")
        return room, stored

    def set_status(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload, "channel_id")
        if payload.get("thread_ts") not in room.messages:
            bad("thread_not_found")
        if not isinstance(payload.get("status"), str):
            bad("invalid_arguments")
        self.statuses[room.name, payload["thread_ts"]] = payload["status"]
        if payload["status"]:
            self._truth.show(
                Frame(time.time(), room.name, "typing", text=payload["status"], thread=payload["thread_ts"])
            )
        return {}

    def set_title(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload, "channel_id")
        if not payload.get("title"):
            bad("invalid_arguments")
        self.titles[room.name, payload.get("thread_ts", "")] = payload["title"]
        return {}

    def set_prompts(self, payload: Payload) -> Payload:
        room = strict.known_room(self._world, payload, "channel_id")
        prompts = payload.get("prompts", [])
        if not 0 < len(prompts) <= 4 or any(not each.get("title") or not each.get("message") for each in prompts):
            bad("invalid_arguments")
        self.prompts[room.name, payload.get("thread_ts", "")] = prompts
        return {}

    # --- files ------------------------------------------------------------------------------------

    def upload_url(self, payload: Payload) -> Payload:
        name, length = payload.get("filename", ""), str(payload.get("length", ""))
        if not name or not length.isdecimal() or not int(length):
            bad("invalid_arguments")
        id = f"F0FILE{next(self._numbers):04d}"
        self.uploads[id] = Upload(id, name, int(length))
        return {"upload_url": f"{self.url}/upload/{id}", "file_id": id}

    def complete_upload(self, payload: Payload) -> Payload:
        found = [self.uploads.get(each.get("id", "")) for each in payload.get("files", [])]
        uploads = [each for each in found if each is not None]
        if not uploads or len(uploads) != len(found) or any(each.content is None for each in uploads):
            bad("file_not_found")
        if not payload.get("channel_id"):
            return {"files": [{"id": each.id, "title": each.name} for each in uploads]}
        room = strict.known_room(self._world, payload, "channel_id")
        thread = strict.checked_thread(room, payload)
        if any(each.shared for each in uploads):
            bad("file_already_shared")
        files = [self.file(each) for each in uploads]
        stored = self._world.add(room, BOT, payload.get("initial_comment", ""), thread, files=files)
        for each in uploads:
            each.shared = True
        place = {"ts": stored.ts, **({"thread_ts": thread} if thread is not None else {})}
        for each in uploads:
            each.shares = {("private" if room.is_direct else "public"): {room.id: [place]}}
            each.told = time.monotonic() + self._shares_late
        self._show(room, stored, "message")
        self._echo(room, stored)
        if self._shares_late:
            return {"files": [{"id": each.id, "title": each.name} for each in uploads]}
        return {"files": [{**file, "shares": each.shares} for file, each in zip(files, uploads, strict=True)]}

    def file_info(self, payload: Payload) -> Payload:
        upload = self.uploads.get(payload.get("file", ""))
        if upload is None or upload.content is None:
            bad("file_not_found")
        shares = upload.shares if upload.told <= time.monotonic() else {}
        return {"file": {**self.file(upload), "shares": shares}}

    def file(self, upload: Upload) -> Payload:
        address = f"{self.url}/files/{upload.id}/{upload.name}"
        return {
            "id": upload.id,
            "name": upload.name,
            "title": upload.name,
            "mimetype": mimetypes.guess_type(upload.name)[0] or "",
            "mode": "hosted",
            "size": upload.length,
            "url_private": address,
            "url_private_download": f"{address}?download=1",
        }

    # --- what they share --------------------------------------------------------------------------

    def _own(self, room: Room, payload: Payload, otherwise: str) -> Stored:
        stored = room.messages.get(payload.get("ts", ""))
        if stored is None:
            bad("message_not_found")
        if stored.by != BOT:
            bad(otherwise)
        return stored

    def _echo(self, room: Room, stored: Stored) -> None:
        """Slack tells an app of its own messages, too."""
        kind = "im" if room.is_direct else "channel"
        event = {**self._world.message(room, stored), "channel": room.id, "channel_type": kind, "event_ts": stored.ts}
        self._tell(room, event)

    def _changed(self, room: Room, stored: Stored, before: Payload) -> None:
        event = {
            "type": "message",
            "subtype": "message_changed",
            "hidden": True,
            "channel": room.id,
            "channel_type": "im" if room.is_direct else "channel",
            "ts": self._world.now(),
            "event_ts": stored.edited,
            "message": self._world.message(room, stored),
            "previous_message": before,
        }
        self._tell(room, event)

    def _show(self, room: Room, stored: Stored, kind: Any) -> None:
        if kind == "message":
            self.statuses.pop((room.name, stored.thread or ""), None)
        elements = [each for block in stored.blocks if block["type"] == "actions" for each in block["elements"]]
        buttons = [each["text"]["text"] for each in elements if each["type"] == "button"]
        buttons += [option["text"]["text"] for each in elements for option in each.get("options", ())]
        names = "".join(f" [{file['name']}]" for file in stored.files)
        self._truth.show(
            Frame(
                time.time(),
                room.name,
                kind,
                message=stored.ts,
                text=shown(stored.text) + names,
                files=tuple(file["name"] for file in stored.files),
                thread=stored.thread,
                reply_to=stored.thread,
                buttons=tuple(buttons),
                pinged=pinged(stored.text) if kind == "message" or stored.streaming else (),
            )
        )


Method = Callable[[Methods, Payload], Payload]

METHODS: dict[str, tuple[Verb, Method]] = {
    "auth.test": ("other", Methods.auth_test),
    "users.info": ("other", Methods.users_info),
    "users.conversations": ("other", Methods.conversations),
    "conversations.history": ("other", Methods.history),
    "conversations.replies": ("other", Methods.replies),
    "chat.postMessage": ("send", Methods.post_message),
    "chat.update": ("edit", Methods.update),
    "chat.delete": ("delete", Methods.delete),
    "chat.postEphemeral": ("send", Methods.post_ephemeral),
    "chat.startStream": ("send", Methods.start_stream),
    "chat.appendStream": ("edit", Methods.append_stream),
    "chat.stopStream": ("edit", Methods.stop_stream),
    "reactions.add": ("react", Methods.react),
    "reactions.remove": ("react", Methods.unreact),
    "assistant.threads.setStatus": ("typing", Methods.set_status),
    "assistant.threads.setTitle": ("other", Methods.set_title),
    "assistant.threads.setSuggestedPrompts": ("other", Methods.set_prompts),
    "files.getUploadURLExternal": ("file", Methods.upload_url),
    "files.completeUploadExternal": ("send", Methods.complete_upload),
    "files.info": ("other", Methods.file_info),
}
READING = frozenset(
    {
        "auth.test",
        "users.info",
        "users.conversations",
        "conversations.history",
        "conversations.replies",
        "apps.connections.open",
        "files.getUploadURLExternal",
        "files.info",
    }
)
"""Methods that take a form and ignore a JSON body."""
