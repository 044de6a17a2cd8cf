"""Discord's REST API, as far as a bot needs it, as Discord performs it."""

import mimetypes
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal
from urllib.parse import unquote

from msgspec import Struct

from rejoinder.testing.platform.discord.gateway import GatewayServer
from rejoinder.testing.platform.discord.strict import (
    CHANGE,
    CREATE,
    EDIT,
    POST,
    POSTED,
    THREAD,
    Refusal,
    check_commands,
    check_emoji,
    check_fields,
    check_files,
    check_message,
    check_open,
    check_tags,
    check_words,
    invalid,
    known_room,
    unknown_message,
)
from rejoinder.testing.platform.discord.world import (
    DIRECT,
    FORUM,
    GUILD,
    GUILD_NAME,
    HAS_THREAD,
    THREAD_CREATED,
    Room,
    Stored,
    World,
    now,
    user_id,
)
from rejoinder.testing.platform.faults import Verb
from rejoinder.testing.platform.truth import Frame, Truth

Payload = dict[str, Any]
SUPPRESS_NOTIFICATIONS = 1 << 12
NONCE_SECONDS = 300.0


class Upload(Struct, frozen=True):
    name: str
    content: bytes
    mime: str


class Call(Struct, frozen=True):
    """A request of a bot."""

    bot: str
    """Its name."""
    ids: tuple[str, ...]
    payload: Payload
    query: dict[str, str]
    files: tuple[Upload, ...] = ()

    @property
    def by(self) -> str:
        return user_id(self.bot)


class Rest:
    def __init__(self, world: World, truth: Truth, gateway: GatewayServer) -> None:
        self._world = world
        self._truth = truth
        self._gateway = gateway
        self._nonces: dict[tuple[str, str], tuple[str, str, float]] = {}
        self.url = ""
        self.files: dict[str, bytes] = {}
        self.file_limits = {0: 10 << 20, 1: 10 << 20, 2: 50 << 20, 3: 100 << 20}
        """Bytes that a file may have, by the level of the server; in a direct chat as in one that is not boosted."""
        self.commands: dict[str, list[Payload]] = {}
        """The menu of each bot."""
        self.clock: Callable[[], float] = time.monotonic

    def file_limit(self, room: Room) -> int:
        return self.file_limits[0 if room.type == DIRECT else self._world.boosts]

    # --- who ----------------------------------------------------------------------------------------

    def me(self, call: Call) -> Payload:
        return {**self._world.user(call.by), "mfa_enabled": False, "verified": True, "locale": "en-US"}

    def application(self, call: Call) -> Payload:
        flags = (1 << 19) if self._gateway.content_granted else 0
        owner = self._world.user(self._world.person("owner"))
        about = {"id": call.by, "name": call.bot, "icon": None, "description": "", "summary": "", "owner": owner}
        public = {"bot_public": True, "bot_require_code_grant": False, "verify_key": "0", "flags": flags}
        address: Payload = {
            "redirect_uris": [],
            "interactions_endpoint_url": None,
            "role_connections_verification_url": None,
        }
        known: Payload = {
            "type": None,
            "flags_new": str(flags),
            "approximate_guild_count": 1,
            "eligible_oauth2_scopes": [],
            "explicit_content_filter": 0,
        }
        return {**about, **public, **address, **known, "team": None, "bot": self._world.user(call.by)}

    def gateway_bot(self, call: Call) -> Payload:
        limit = {"total": 1000, "remaining": self._gateway.starts_left, "reset_after": 100, "max_concurrency": 1}
        return {"url": self._gateway.address, "shards": 1, "session_start_limit": limit}

    def guilds(self, call: Call) -> list[Payload]:
        return [
            {"id": GUILD, "name": GUILD_NAME, "icon": None, "owner": False, "permissions": "0", "features": []}
            | {"banner": None}
        ]

    def guild_channels(self, call: Call) -> list[Payload]:
        rooms = [room for room in self._world.rooms.values() if room.type != DIRECT and room.parent is None]
        return [self._world.channel(room) for room in rooms]

    def active_threads(self, call: Call) -> Payload:
        rooms = [room for room in self._world.rooms.values() if room.parent is not None and not room.archived]
        return {"threads": [self._world.channel(room) for room in rooms], "members": []}

    def guild(self, call: Call) -> Payload:
        return self._world.guild(call.bot)

    def guild_member(self, call: Call) -> Payload:
        return {**self._world.member(call.by), "user": self._world.user(call.by)}

    def open_direct(self, call: Call) -> Payload:
        person = str(call.payload.get("recipient_id", ""))
        if person not in self._world.names:
            raise Refusal(400, 50033, "Invalid Recipient(s)")
        return self._world.channel(self._world.room(self._world.names[person], call.bot))

    def set_commands(self, call: Call) -> list[Payload]:
        check_commands(call.payload.get("commands", []))
        self.commands[call.bot] = list(call.payload.get("commands", []))
        about = {"application_id": call.by, "version": "1", "default_member_permissions": None}
        return [{**each, **about, "id": str(number)} for number, each in enumerate(self.commands[call.bot], 1)]

    # --- places -------------------------------------------------------------------------------------

    def channel(self, call: Call) -> Payload:
        return self._world.channel(self._room(call))

    def change_channel(self, call: Call) -> Payload:
        """Allows only what everybody may do: to reopen an archived thread."""
        room = self._room(call)
        check_fields(call.payload, CHANGE)
        if call.payload.get("archived") is not False or room.parent is None or room.locked:
            raise Refusal(403, 50013, "Missing Permissions")
        self.archive(room, archived=False)
        return self._world.channel(room)

    def archive(self, thread: Room, *, archived: bool, locked: bool = False) -> None:
        thread.archived, thread.locked = archived, locked
        self._gateway.tell("THREAD_UPDATE", self._world.channel(thread), self._world.rooms[thread.parent or ""])

    def typing(self, call: Call) -> None:
        room = self._room(call)
        self._truth.show(Frame(time.time(), self._world.chat_of(room), "typing", self._world.called(call.by)))

    def messages(self, call: Call) -> list[Payload]:
        """The nearest messages to the requested one, newest first."""
        found = list(self._room(call).messages.values())
        limit = int(call.query.get("limit", 50))
        if not 0 < limit <= 100:
            invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
        found = [each for each in found if not each.only_for]
        if "after" in call.query:
            found = [each for each in found if int(each.id) > int(call.query["after"])][:limit]
        elif "before" in call.query:
            found = [each for each in found if int(each.id) < int(call.query["before"])]
        return [self._world.message(each) for each in reversed(found[-limit:])]

    def message(self, call: Call) -> Payload:
        return self._world.message(self._stored(call))

    # --- said ---------------------------------------------------------------------------------------

    def create_message(self, call: Call) -> Payload:
        room = self._room(call)
        if room.type == FORUM:
            raise Refusal(400, 50008, "Cannot send messages in a non-text channel")
        check_fields(call.payload, CREATE)
        check_words(call.payload, call.files)
        check_files(call.payload, [len(file.content) for file in call.files], self.file_limit(room))
        check_message(call.payload, room)
        check_open(room, says=True)
        nonce = call.payload.get("nonce")
        if nonce and call.payload.get("enforce_nonce") and (known := self._taken(call.bot, str(nonce))):
            return {**self._world.message(known), "nonce": nonce}
        if room.archived:
            self.archive(room, archived=False)
        stored = self.say(room, call.by, call.payload, call.files)
        if nonce:
            self._nonces[call.bot, str(nonce)] = (room.id, stored.id, self.clock())
        return {**self._world.message(stored), "nonce": nonce} if nonce else self._world.message(stored)

    def say(
        self,
        room: Room,
        by: str,
        payload: Payload,
        files: Sequence[Upload] = (),
        only_for: str = "",
        id: str | None = None,
    ) -> Stored:
        """`id`: given for the first message of a post, which has the id of its thread."""
        content = str(payload.get("content") or "").strip()
        reference: Payload = payload.get("message_reference") or {}
        target = str(reference.get("message_id", "")) if reference.get("message_id") in room.messages else None
        stored = self._world.add(room, by, content, id=id, reply_to=target, only_for=only_for)
        stored.flags, stored.nonce = int(payload.get("flags", 0)), payload.get("nonce")
        stored.components = payload.get("components") or []
        stored.attachments = [self._attached(room, stored, number, file) for number, file in enumerate(files)]
        stored.pinged = self._pinged(stored, payload.get("allowed_mentions"))
        self.show(room, stored, "message")
        if not only_for:
            echo = {"nonce": stored.nonce} if stored.nonce else {}
            self._gateway.tell("MESSAGE_CREATE", {**self._world.event(stored), **echo}, room)
        return stored

    def edit_message(self, call: Call) -> Payload:
        room, stored = self._room(call), self._stored(call)
        if stored.by != call.by:
            raise Refusal(403, 50005, "Cannot edit a message authored by another user")
        check_fields(call.payload, EDIT)
        check_open(room)
        self.change(room, stored, call.payload)
        return self._world.message(stored)

    def change(self, room: Room, stored: Stored, payload: Payload) -> None:
        check_words(payload, (), edits=True)
        if "content" in payload:
            stored.content = str(payload["content"] or "").strip()
        if not stored.content and not stored.attachments:
            raise Refusal(400, 50006, "Cannot send an empty message")
        if "components" in payload:
            stored.components = payload["components"] or []
        stored.edited = now()
        self.show(room, stored, "edit")
        if not stored.only_for:
            self._gateway.tell("MESSAGE_UPDATE", self._world.event(stored), room)

    def delete_message(self, call: Call) -> None:
        room, stored = self._room(call), self._stored(call)
        if stored.by != call.by:
            raise Refusal(403, 50013, "Missing Permissions")
        self.remove(room, stored, call.by)

    def remove(self, room: Room, stored: Stored, by: str) -> None:
        del room.messages[stored.id]
        chat = self._world.chat_of(room)
        self._truth.show(Frame(time.time(), chat, "delete", self._world.called(by), stored.id))
        where = {} if room.type == DIRECT else {"guild_id": GUILD}
        self._gateway.tell("MESSAGE_DELETE", {"id": stored.id, "channel_id": room.id, **where}, room)

    def add_reaction(self, call: Call) -> None:
        check_open(self._room(call))
        self.react(self._room(call), self._stored(call), call.by, check_emoji(self._world, unquote(call.ids[2])))

    def remove_reaction(self, call: Call) -> None:
        shown = check_emoji(self._world, unquote(call.ids[2]))
        room, stored = self._room(call), self._stored(call)
        check_open(room)
        if call.by not in stored.reactions.get(shown, []):
            raise Refusal(400, 10014, "Unknown Emoji")
        stored.reactions[shown].remove(call.by)
        self._show_reactions(room, stored, call.by)

    def react(self, room: Room, stored: Stored, by: str, shown: str) -> None:
        who = stored.reactions.setdefault(shown, [])
        if by in who:
            return
        who.append(by)
        self._show_reactions(room, stored, by)
        name = shown.strip(":") if len(shown) > 2 and shown.startswith(":") else shown
        emoji = {"id": self._world.emojis.get(name), "name": name}
        told = {"user_id": by, "channel_id": room.id, "message_id": stored.id, "emoji": emoji, "type": 0}
        if room.type != DIRECT:
            told |= {"guild_id": GUILD, "member": {**self._world.member(by), "user": self._world.user(by)}}
        self._gateway.tell("MESSAGE_REACTION_ADD", told, room)

    # --- threads ------------------------------------------------------------------------------------

    def thread_from_message(self, call: Call) -> Payload:
        room, stored = self._room(call), self._stored(call)
        check_fields(call.payload, THREAD)
        if room.type != 0:
            raise Refusal(400, 50024, "Cannot execute action on this channel type")
        if stored.id in self._world.rooms:
            raise Refusal(400, 160004, "A thread has already been created for this message")
        thread = self._world.open_thread(room, stored.id, _title(call.payload))
        thread.bot = call.by
        stored.flags |= HAS_THREAD
        self._gateway.tell("THREAD_CREATE", {**self._world.channel(thread), "newly_created": True}, room)
        note = self._world.add(room, call.by, thread.name, type=THREAD_CREATED)
        self._gateway.tell("MESSAGE_CREATE", self._world.event(note), room)
        self._gateway.tell("MESSAGE_UPDATE", self._world.event(stored), room)
        return self._world.channel(thread)

    def forum_post(self, call: Call) -> Payload:
        room = self._room(call)
        if room.type != FORUM:
            raise Refusal(400, 50024, "Cannot execute action on this channel type")
        check_fields(call.payload, POST)
        words: Payload = call.payload.get("message") or {}
        check_fields(words, POSTED, "message")
        check_words(words, call.files)
        check_files(words, [len(file.content) for file in call.files], self.file_limit(room))
        check_tags(room, call.payload.get("applied_tags") or [])
        thread = self._world.open_thread(room, self._world.new_id(), _title(call.payload))
        thread.bot = call.by
        self._gateway.tell("THREAD_CREATE", {**self._world.channel(thread), "newly_created": True}, room)
        stored = self.say(thread, call.by, words, call.files, id=thread.id)
        return {**self._world.channel(thread), "message": self._world.message(stored)}

    # --- shared -------------------------------------------------------------------------------------

    def _room(self, call: Call) -> Room:
        return known_room(self._world, call.ids[0], call.by)

    def _stored(self, call: Call) -> Stored:
        room = self._room(call)
        return room.messages.get(call.ids[1]) or unknown_message()

    def _taken(self, bot: str, nonce: str) -> Stored | None:
        room, message, at = self._nonces.get((bot, nonce), ("", "", 0.0))
        if not message or self.clock() - at > NONCE_SECONDS:
            return None
        return self._world.rooms[room].messages.get(message)

    def _attached(self, room: Room, stored: Stored, number: int, file: Upload) -> Payload:
        id = str(int(stored.id) + 1 + number)
        return self.keep_file(room, id, file)

    def keep_file(self, room: Room, id: str, file: Upload) -> Payload:
        path = f"/attachments/{room.id}/{id}/{file.name}"
        self.files[path] = file.content
        mime = file.mime or mimetypes.guess_type(file.name)[0]
        about = {"id": id, "filename": file.name, "size": len(file.content), "url": self.url + path}
        return {**about, "proxy_url": self.url + path, **({"content_type": mime} if mime else {})}

    def show(self, room: Room, stored: Stored, kind: Literal["message", "edit"]) -> None:
        labels = tuple(_labels(stored.components))
        thread = room.id if room.parent is not None else None
        self._truth.show(
            Frame(
                time.time(),
                self._world.chat_of(room),
                kind,
                self._world.called(stored.by),
                stored.id,
                stored.content,
                thread,
                stored.reply_to,
                bool(stored.flags & SUPPRESS_NOTIFICATIONS),
                labels,
                tuple(f"@{self._world.names.get(id, id)}" for id in stored.pinged or ()) if kind == "message" else (),
                files=tuple(file["filename"] for file in stored.attachments),
                only_for=stored.only_for,
            )
        )

    def _pinged(self, stored: Stored, allowed: Payload | None) -> list[str]:
        """The people that a bot's message pings: those that `allowed_mentions` does not exclude."""
        named = self._world.mentioned(stored)
        if allowed is not None and "users" not in allowed.get("parse", []):
            named = [id for id in named if id in allowed.get("users", [])]
        target = self._world.rooms[stored.channel].messages.get(stored.reply_to or "")
        if target is not None and (allowed is None or allowed.get("replied_user")):
            named.append(target.by)
        return list(dict.fromkeys(named))

    def _show_reactions(self, room: Room, stored: Stored, by: str) -> None:
        text = "".join(shown for shown, who in stored.reactions.items() if who)
        chat = self._world.chat_of(room)
        self._truth.show(Frame(time.time(), chat, "reaction", self._world.called(by), stored.id, text))


def _title(payload: Payload) -> str:
    name = payload.get("name", "")
    if not 0 < len(name) <= 100:
        invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
    return name


def _labels(rows: Sequence[Payload]) -> list[str]:
    items = [item for row in rows for item in row.get("components", [])]
    return [
        label
        for item in items
        for label in [item.get("label"), *(o["label"] for o in item.get("options", []))]
        if label
    ]


C, M = r"/channels/(\d+)", r"/channels/(\d+)/messages/(\d+)"
ROUTES: tuple[tuple[str, str, Verb, Callable[[Rest, Call], Any]], ...] = (
    ("GET", "/users/@me", "other", Rest.me),
    ("GET", "/oauth2/applications/@me", "other", Rest.application),
    ("GET", "/applications/@me", "other", Rest.application),
    ("PUT", r"/applications/(\d+)/commands", "other", Rest.set_commands),
    ("GET", "/gateway/bot", "other", Rest.gateway_bot),
    ("GET", "/users/@me/guilds", "other", Rest.guilds),
    ("POST", "/users/@me/channels", "other", Rest.open_direct),
    ("GET", r"/guilds/(\d+)", "other", Rest.guild),
    ("GET", r"/guilds/(\d+)/channels", "other", Rest.guild_channels),
    ("GET", r"/guilds/(\d+)/members/(\d+)", "other", Rest.guild_member),
    ("GET", r"/guilds/(\d+)/threads/active", "other", Rest.active_threads),
    ("GET", C, "other", Rest.channel),
    ("PATCH", C, "other", Rest.change_channel),
    ("POST", C + "/typing", "typing", Rest.typing),
    ("GET", C + "/messages", "other", Rest.messages),
    ("GET", M, "other", Rest.message),
    ("POST", C + "/messages", "send", Rest.create_message),
    ("PATCH", M, "edit", Rest.edit_message),
    ("DELETE", M, "delete", Rest.delete_message),
    ("PUT", M + "/reactions/([^/]+)/@me", "react", Rest.add_reaction),
    ("DELETE", M + "/reactions/([^/]+)/@me", "react", Rest.remove_reaction),
    ("POST", M + "/threads", "thread", Rest.thread_from_message),
    ("POST", C + "/threads", "send", Rest.forum_post),
)
