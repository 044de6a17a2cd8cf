"""The methods of the Bot API that a gateway needs, as Telegram performs them."""

import time
from collections.abc import Callable
from typing import Any

from rejoinder.testing.platform.faults import Verb
from rejoinder.testing.platform.telegram.files import Shown, album, one
from rejoinder.testing.platform.telegram.strict import (
    MOST_ENTITIES,
    NOT_MODIFIED,
    Refusal,
    bad,
    check_markup,
    check_reaction,
    known_room,
    shown_text,
)
from rejoinder.testing.platform.telegram.world import BOT_USER, Room, Stored, World, found_entities, pinged
from rejoinder.testing.platform.truth import BOT, Frame, Truth

Payload = dict[str, Any]
LONGEST_ALERT = 200
MOST_FETCHED = 20_000_000
"""The largest file, in bytes, that a bot can fetch."""


class Methods:
    def __init__(self, world: World, truth: Truth, *, reads_everything: bool) -> None:
        self._world = world
        self._truth = truth
        self._reads_everything = reads_everything
        self.commands: list[Payload] = []
        self.answered: list[str] = []
        """The button presses that the bot has answered."""
        self.pressed: dict[str, str] = {}
        """The people whose button press is not answered yet, by the id of the query."""
        self.alerts: list[tuple[str, str]] = []
        """What was said only to the person who pressed a button: the person and the words."""
        self.files: dict[str, bytes] = {}
        """Files that people sent, by file id."""
        self.sent: dict[str, Shown] = {}
        """Files that the bot sent."""
        self._albums = 0

    def get_me(self, payload: Payload) -> Payload:
        return {
            **BOT_USER,
            "can_join_groups": True,
            "can_read_all_group_messages": self._reads_everything,
            "supports_inline_queries": False,
        }

    def send_message(self, payload: Payload) -> Payload:
        room = known_room(self._world, payload)
        text = shown_text(payload)
        check_markup(payload.get("reply_markup"))
        reply_to = self._reply_target(room, payload.get("reply_parameters"))
        stored = self._world.add(room, BOT, _body(text, payload), payload.get("message_thread_id"), reply_to)
        stored.markup = payload.get("reply_markup")
        self._show(room, stored, "message", silent=bool(payload.get("disable_notification")))
        return self._world.message(room, stored)

    def send_file(self, kind: str, payload: Payload) -> Payload:
        room = known_room(self._world, payload)
        return self._share(room, [one(kind, payload)], payload)[0]

    def send_media_group(self, payload: Payload) -> list[Payload]:
        room = known_room(self._world, payload)
        shown = album(payload)
        self._albums += 1
        return self._share(room, shown, payload, {"media_group_id": f"9900{self._albums}"})

    def _share(self, room: Room, shown: list[Shown], payload: Payload, more: Payload | None = None) -> list[Payload]:
        reply_to = self._reply_target(room, payload.get("reply_parameters"))
        written: list[Payload] = []
        for each in shown:
            id = f"sent-{len(self.sent)}"
            self.sent[id] = each
            file = {"file_id": id, "file_unique_id": f"u-{id}", "file_name": each.file.name}
            size = {"file_size": len(each.file.content)}
            body: Payload = {
                each.kind: [{**file, **size}] if each.kind == "photo" else {**file, **size},
                **(more or {}),
            }
            if each.caption:
                body |= {"caption": each.caption, "caption_entities": list(each.entities)}
            stored = self._world.add(room, BOT, body, payload.get("message_thread_id"), reply_to)
            self._show(room, stored, "message", silent=bool(payload.get("disable_notification")), file=each)
            written.append(self._world.message(room, stored))
        return written

    def edit_message_text(self, payload: Payload) -> Payload:
        room = known_room(self._world, payload)
        stored = self._own(room, payload, "edit")
        text = shown_text(payload)
        check_markup(payload.get("reply_markup"))
        body, markup = _body(text, payload), payload.get("reply_markup")
        if body == stored.body and markup == stored.markup:
            raise Refusal(400, NOT_MODIFIED)
        stored.body, stored.markup, stored.edit_date = body, markup, self._world.now()
        self._show(room, stored, "edit")
        return self._world.message(room, stored)

    def delete_message(self, payload: Payload) -> bool:
        room = known_room(self._world, payload)
        stored = self._own(room, payload, "delete")
        del room.messages[stored.id]
        self._truth.show(Frame(time.time(), room.name, "delete", message=str(stored.id)))
        return True

    def set_message_reaction(self, payload: Payload) -> bool:
        room = known_room(self._world, payload)
        stored = room.messages.get(payload.get("message_id", 0))
        if stored is None:
            bad("message to react not found")
        stored.reaction = check_reaction(payload.get("reaction", []))
        self._truth.show(Frame(time.time(), room.name, "reaction", message=str(stored.id), text=stored.reaction))
        return True

    def send_chat_action(self, payload: Payload) -> bool:
        room = known_room(self._world, payload)
        if payload.get("action") != "typing":
            bad("wrong parameter action in request")
        thread = payload.get("message_thread_id")
        self._truth.show(Frame(time.time(), room.name, "typing", thread=None if thread is None else str(thread)))
        return True

    def send_message_draft(self, payload: Payload) -> bool:
        room = known_room(self._world, payload)
        if not room.in_private:
            bad("method is available only in private chats")
        draft = payload.get("draft_id")
        if not isinstance(draft, int) or not draft:
            bad("draft_id must be non-zero")
        text = shown_text(payload) if payload.get("text") else ""
        self._truth.show(Frame(time.time(), room.name, "preview", message=f"draft {draft}", text=text))
        return True

    def set_my_commands(self, payload: Payload) -> bool:
        for command in payload.get("commands", []):
            name = command.get("command", "")
            if not 1 <= len(name) <= 32 or not name.replace("_", "a").isalnum() or name != name.lower():
                bad("BOT_COMMAND_INVALID")
            if not 1 <= len(command.get("description", "")) <= 256:
                bad("BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands = payload.get("commands", [])
        return True

    def answer_callback_query(self, payload: Payload) -> bool:
        query, text = str(payload.get("callback_query_id", "")), str(payload.get("text", ""))
        if len(text) > LONGEST_ALERT:
            bad("MESSAGE_TOO_LONG")
        if (person := self.pressed.pop(query, None)) is None:
            bad("query is too old and response timeout expired or query ID is invalid")
        self.answered.append(query)
        if text:
            self.alerts.append((person, text))
        return True

    def get_file(self, payload: Payload) -> Payload:
        id = payload.get("file_id", "")
        if id not in self.files:
            bad("invalid file_id")
        size = len(self.files[id])
        if size > MOST_FETCHED:
            bad("file is too big")
        return {"file_id": id, "file_unique_id": f"u-{id}", "file_size": size, "file_path": f"files/{id}"}

    # --- what they share --------------------------------------------------------------------------

    def _own(self, room: Room, payload: Payload, doing: str) -> Stored:
        stored = room.messages.get(payload.get("message_id", 0))
        if stored is None:
            bad(f"message to {doing} not found")
        if stored.by != BOT:
            bad(f"message can't be {doing}{'d' if doing.endswith('e') else 'ed'}")
        return stored

    def _reply_target(self, room: Room, parameters: Payload | None) -> int | None:
        if parameters is None:
            return None
        target = parameters.get("message_id")
        if target in room.messages:
            return target
        if not parameters.get("allow_sending_without_reply"):
            bad("message to be replied not found")
        return None

    def _show(self, room: Room, stored: Stored, kind: Any, *, silent: bool = False, file: Shown | None = None) -> None:
        text = stored.body.get("text") or stored.body.get("caption", "")
        entities = stored.body.get("entities") or stored.body.get("caption_entities", [])
        buttons = [button["text"] for row in (stored.markup or {}).get("inline_keyboard", []) for button in row]
        self._truth.show(
            Frame(
                time.time(),
                room.name,
                kind,
                message=str(stored.id),
                text=text,
                thread=None if stored.thread is None else str(stored.thread),
                reply_to=None if stored.reply_to is None else str(stored.reply_to),
                silent=silent,
                buttons=tuple(buttons),
                pinged=pinged(text, entities) if kind == "message" else (),
                files=() if file is None else (file.file.name,),
            )
        )


def _body(text: str, payload: Payload) -> Payload:
    given = payload.get("entities", [])[:MOST_ENTITIES]
    entities = [*given, *found_entities(text, given)]
    return {"text": text, "entities": entities} if entities else {"text": text}


def _sends(kind: str) -> "Method":
    return lambda methods, payload: methods.send_file(kind, payload)


Method = Callable[[Methods, Payload], Any]

METHODS: dict[str, tuple[Verb, Method]] = {
    "getme": ("other", Methods.get_me),
    "sendmessage": ("send", Methods.send_message),
    "sendphoto": ("send", _sends("photo")),
    "sendvideo": ("send", _sends("video")),
    "sendaudio": ("send", _sends("audio")),
    "sendvoice": ("send", _sends("voice")),
    "senddocument": ("send", _sends("document")),
    "sendmediagroup": ("send", Methods.send_media_group),
    "editmessagetext": ("edit", Methods.edit_message_text),
    "deletemessage": ("delete", Methods.delete_message),
    "setmessagereaction": ("react", Methods.set_message_reaction),
    "sendchataction": ("typing", Methods.send_chat_action),
    "sendmessagedraft": ("preview", Methods.send_message_draft),
    "getfile": ("file", Methods.get_file),
    "setmycommands": ("other", Methods.set_my_commands),
    "answercallbackquery": ("other", Methods.answer_callback_query),
}
