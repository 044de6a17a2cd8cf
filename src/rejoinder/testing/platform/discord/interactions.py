"""Slash commands, buttons and menus: a bot has three seconds to answer, and fifteen minutes to go on."""

import re
import time
from typing import Any

from msgspec import Struct

from rejoinder.testing.platform.discord.gateway import GatewayServer
from rejoinder.testing.platform.discord.rest import Payload, Rest, Upload
from rejoinder.testing.platform.discord.strict import (
    EPHEMERAL,
    FOLLOW_UP,
    Refusal,
    check_fields,
    check_files,
    check_words,
)
from rejoinder.testing.platform.discord.world import BOT_NAME, DIRECT, GUILD, Room, Stored, World
from rejoinder.testing.platform.faults import Verb

COMMAND, COMPONENT, AUTOCOMPLETE = 2, 3, 4
MESSAGE, DEFERRED, DEFERRED_UPDATE, UPDATE, CHOICES = 4, 5, 6, 7, 8
ANSWER_SECONDS, TOKEN_SECONDS = 3.0, 900.0

_CALLBACK = re.compile(r"/interactions/(\d+)/([\w-]+)/callback")
_ORIGINAL = re.compile(r"/webhooks/(\d+)/([\w-]+)/messages/@original")
_FOLLOWED = re.compile(r"/webhooks/(\d+)/([\w-]+)/messages/(\d+)")
_MORE = re.compile(r"/webhooks/(\d+)/([\w-]+)")


class Interaction(Struct):
    id: str
    token: str
    bot: str
    person: str
    room: Room
    type: int
    at: float
    message: Stored | None = None
    """The message that the button belongs to."""
    answered: int | None = None
    private: bool = False
    original: Stored | None = None
    choices: list[str] = []


class Interactions:
    def __init__(self, world: World, rest: Rest, gateway: GatewayServer) -> None:
        self._world = world
        self._rest = rest
        self._gateway = gateway
        self.all: list[Interaction] = []

    # --- what people do ---------------------------------------------------------------------------

    def command(
        self, chat: str, person: str, name: str, *, bot: str = BOT_NAME, thread: str | None = None, **options: Any
    ) -> Interaction:
        """A person chooses a command from the menu of a bot. Raises if the bot offers no such command."""
        offered = {each["name"]: each for each in self._rest.commands.get(bot, [])}
        known = {each["name"] for each in offered[name].get("options", [])}
        assert known >= options.keys(), f"/{name} has no {options.keys() - known}"
        given = [{"name": key, "type": 3, "value": value} for key, value in options.items()]
        room = self._world.room(chat, bot) if thread is None else self._world.rooms[thread]
        data = {"id": "1", "name": name, "type": 1, "options": given}
        return self._begin(room, self._world.person(person), bot, COMMAND, data)

    def complete(self, chat: str, person: str, name: str, option: str, typed: str, bot: str = BOT_NAME) -> Interaction:
        """A person types the value of an option."""
        data = {"id": "1", "name": name, "type": 1}
        data |= {"options": [{"name": option, "type": 3, "value": typed, "focused": True}]}
        return self._begin(self._world.room(chat, bot), self._world.person(person), bot, AUTOCOMPLETE, data)

    def press(self, room: Room, stored: Stored, person: str, label: str) -> Interaction:
        """Presses a button, or chooses from a menu."""
        for item in (item for row in stored.components for item in row["components"]):
            values = [option["value"] for option in item.get("options", []) if option["label"] == label]
            if item.get("label") == label or values:
                data = {"custom_id": item["custom_id"], "component_type": item["type"]}
                data |= {"values": values} if values else {}
                bot = self._world.names[stored.by]
                return self._begin(room, person, bot, COMPONENT, data, stored)
        raise AssertionError(f"there is no {label!r}")

    def _begin(
        self, room: Room, person: str, bot: str, type: int, data: Payload, message: Stored | None = None
    ) -> Interaction:
        id = self._world.new_id()
        opened = Interaction(id, f"token-{id}", bot, person, room, type, time.monotonic(), message)
        self.all.append(opened)
        user = self._world.user(person)
        told = {"id": id, "application_id": self._world.person(bot), "type": type, "token": opened.token, "data": data}
        told |= {"channel_id": room.id, "version": 1, "channel": self._world.channel(room)}
        if room.type == DIRECT:
            told |= {"user": user}
        else:
            told |= {"guild_id": GUILD, "member": {**self._world.member(person), "user": user, "permissions": "0"}}
        if message is not None:
            told["message"] = self._world.message(message)
        self._gateway.tell("INTERACTION_CREATE", told, only=bot)
        return opened

    # --- what bots answer -------------------------------------------------------------------------

    def handles(self, path: str) -> bool:
        """These calls need no token but their own."""
        return any(each.fullmatch(path) for each in (_CALLBACK, _ORIGINAL, _FOLLOWED, _MORE))

    def verb_of(self, path: str) -> Verb:
        return "send" if "/webhooks/" in path else "other"

    def perform(self, method: str, path: str, payload: Payload, files: tuple[Upload, ...]) -> Any:
        if method == "POST" and (found := _CALLBACK.fullmatch(path)):
            return self._callback(self._known(found[2], 10062, "Unknown interaction"), payload)
        if found := _ORIGINAL.fullmatch(path):
            opened = self._fresh(found[2])
            if method == "PATCH":
                return self._edit_original(opened, payload, files)
            if method == "DELETE" and opened.original is not None:
                return self._rest.remove(opened.room, opened.original, opened.original.by)
            if method == "GET" and opened.original is not None:
                return self._world.message(opened.original)
            raise Refusal(404, 10008, "Unknown Message")
        if method == "PATCH" and (found := _FOLLOWED.fullmatch(path)):
            opened = self._fresh(found[2])
            stored = opened.room.messages.get(found[3])
            if stored is None or stored.by != self._world.person(opened.bot):
                raise Refusal(404, 10008, "Unknown Message")
            self._rest.change(opened.room, stored, payload)
            return self._world.message(stored)
        if method == "POST" and (found := _MORE.fullmatch(path)):
            return self._follow_up(self._fresh(found[2]), payload, files)
        raise Refusal(404, 0, "404: Not Found")

    def _known(self, token: str, code: int, said: str) -> Interaction:
        opened = next((each for each in self.all if each.token == token), None)
        if opened is None:
            raise Refusal(404, code, said)
        return opened

    def _fresh(self, token: str) -> Interaction:
        opened = self._known(token, 10015, "Unknown Webhook")
        if opened.answered is None:
            raise Refusal(404, 10015, "Unknown Webhook")
        if time.monotonic() - opened.at > TOKEN_SECONDS:
            raise Refusal(401, 50027, "Invalid Webhook Token")
        return opened

    def _callback(self, opened: Interaction, payload: Payload) -> None:
        if opened.answered is not None:
            raise Refusal(400, 40060, "Interaction has already been acknowledged.")
        if time.monotonic() - opened.at > ANSWER_SECONDS:
            raise Refusal(404, 10062, "Unknown interaction")
        kind = payload.get("type")
        data: Payload = payload.get("data") or {}
        opened.private = bool(data.get("flags", 0) & EPHEMERAL)
        match kind:
            case 4:
                check_words(data, ())
                opened.original = self._say(opened, data, ())
            case 5:
                pass
            case 6 if opened.type == COMPONENT:
                pass
            case 7 if opened.type == COMPONENT and opened.message is not None:
                self._rest.change(opened.room, opened.message, data)
            case 8 if opened.type == AUTOCOMPLETE:
                opened.choices = [str(choice["value"]) for choice in data.get("choices", [])]
            case _:
                raise Refusal(400, 50035, "Invalid Form Body")
        opened.answered = kind

    def _edit_original(self, opened: Interaction, payload: Payload, files: tuple[Upload, ...]) -> Payload:
        if opened.original is None and opened.answered == DEFERRED:
            check_words(payload, files)
            opened.original = self._say(opened, payload, files)
        elif opened.original is not None:
            self._rest.change(opened.room, opened.original, payload)
        elif opened.message is not None:
            self._rest.change(opened.room, opened.message, payload)
            return self._world.message(opened.message)
        assert opened.original is not None
        return self._world.message(opened.original)

    def _follow_up(self, opened: Interaction, payload: Payload, files: tuple[Upload, ...]) -> Payload:
        check_fields(payload, FOLLOW_UP)
        check_words(payload, files)
        check_files(payload, [len(file.content) for file in files], self._rest.file_limit(opened.room))
        if opened.original is None and opened.answered == DEFERRED:
            opened.original = self._say(opened, payload, files)
            return self._world.message(opened.original)
        opened.private = bool(payload.get("flags", 0) & EPHEMERAL)
        return self._world.message(self._say(opened, payload, files))

    def _say(self, opened: Interaction, payload: Payload, files: tuple[Upload, ...]) -> Stored:
        by = self._world.person(opened.bot)
        only_for = self._world.names[opened.person] if opened.private else ""
        return self._rest.say(opened.room, by, payload, files, only_for)
