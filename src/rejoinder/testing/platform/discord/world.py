"""Discord's world: people, bots, channels, threads and messages, and how Discord writes them."""

import re
import time
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from msgspec import Struct

from rejoinder.testing.platform.truth import BOT

EPOCH = 1_420_070_400_000
GUILD = "300000000000000001"
GUILD_NAME = "Workshop"
BOT_NAME = "testbot"
TEXT, DIRECT, FORUM, PUBLIC_THREAD = 0, 1, 15, 11
ALL = str(((1 << 50) - 1) & ~(1 << 3))  # all permissions except Administrator
THREAD_CREATED, THREAD_STARTER = 18, 21
HAS_THREAD = 1 << 5
NEEDS_TAG = 1 << 4
MODERATED = "!"

_MENTION = re.compile(r"<@!?([0-9]+)>")
_ROLE = re.compile(r"<@&([0-9]+)>")
_NAMED = re.compile(r"(?<![\w<])@(&?[\w-]+)")


def user_id(name: str) -> str:
    """The same in every process, so that a configuration can be written before the first message."""
    return str(100_000_000_000_000_000 + crc32(name.encode()) * 1000)


def channel_id(name: str) -> str:
    return str(400_000_000_000_000_000 + crc32(name.encode()) * 1000)


def role_id(name: str) -> str:
    return str(600_000_000_000_000_000 + crc32(name.encode()) * 1000)


def token_of(bot: str) -> str:
    return f"{urlsafe_b64encode(user_id(bot).encode()).decode().rstrip('=')}.Gtests.{bot}-a-token-for-tests-only"


class Stored(Struct):
    """A message."""

    id: str
    channel: str
    by: str
    """The id of its author."""
    content: str
    type: int = 0
    reply_to: str | None = None
    edited: str | None = None
    flags: int = 0
    components: list[dict[str, Any]] = []
    attachments: list[dict[str, Any]] = []
    reactions: dict[str, list[str]] = {}
    nonce: str | int | None = None
    only_for: str = ""
    pinged: list[str] | None = None
    """The people that a bot's message pings, of those it mentions."""
    more: dict[str, Any] = {}
    """Fields as Discord has them, which replace all others."""


class Room(Struct):
    """A channel, a thread or a direct chat."""

    id: str
    name: str
    type: int = TEXT
    parent: str | None = None
    messages: dict[str, Stored] = {}
    closed: int = 0
    """The error code with which bots are refused here, if they are."""
    person: str = ""
    bot: str = ""
    """The person of a direct chat, by id, or the bot that opened a thread."""
    tags: dict[str, str] = {}
    """The tags of a forum: names by id; a tag that ends with `!` may be set only by moderators."""
    needs_tag: bool = False
    archived: bool = False
    locked: bool = False
    """Whether only a moderator may write in the thread, or reopen it."""

    @property
    def last(self) -> str | None:
        return next(reversed(self.messages), None)


class World:
    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        """The names of people and bots, by id."""
        self.bots: set[str] = set()
        self.rooms: dict[str, Room] = {}
        self.emojis: dict[str, str] = {}
        """The server's own emoji: ids by name."""
        self.roles: dict[str, str] = {}
        self.boosts = 0
        """The level to which the server is boosted."""
        self._last = 0
        self.add_bot(BOT_NAME)

    # --- who and where ----------------------------------------------------------------------------

    def add_bot(self, name: str) -> str:
        id = self.person(name)
        self.bots.add(id)
        return id

    def person(self, name: str) -> str:
        id = user_id(name)
        self.names[id] = name
        return id

    def called(self, id: str) -> str:
        """The name in the ground truth; the first bot is the one under test."""
        return BOT if id == user_id(BOT_NAME) else self.names.get(id, id)

    def room(self, chat: str, bot: str = BOT_NAME) -> Room:
        """The chat of this name; a person's is the direct chat with this bot."""
        if chat.startswith("#"):
            id = channel_id(chat)
            return self.rooms.setdefault(id, Room(id, chat))
        id = channel_id(f"{chat}/{bot}")
        return self.rooms.setdefault(id, Room(id, chat, DIRECT, person=self.person(chat), bot=user_id(bot)))

    def place(self, chat: str, thread: str | None) -> Room:
        return self.rooms[thread] if thread is not None else self.room(chat)

    def chat_of(self, room: Room) -> str:
        return self.rooms[room.parent].name if room.parent is not None else room.name

    def new_id(self) -> str:
        self._last = max(self._last + 1, (int(time.time() * 1000) - EPOCH) << 22)
        return str(self._last)

    def add(self, room: Room, by: str, content: str, *, id: str | None = None, **more: Any) -> Stored:
        stored = Stored(id or self.new_id(), room.id, by, content, **more)
        room.messages[stored.id] = stored
        return stored

    def open_thread(self, parent: Room, id: str, title: str) -> Room:
        thread = self.rooms[id] = Room(id, title, PUBLIC_THREAD, parent.id)
        return thread

    def written(self, text: str) -> str:
        """Encodes @names like a client."""

        def mention(found: re.Match[str]) -> str:
            name = found[1]
            if name.startswith("&"):
                return f"<@&{self.roles[name[1:]]}>" if name[1:] in self.roles else found[0]
            id = user_id(name)
            return f"<@{id}>" if id in self.names else found[0]

        return _NAMED.sub(mention, text)

    # --- as Discord writes them -------------------------------------------------------------------

    def user(self, id: str) -> dict[str, Any]:
        name = self.names.get(id, f"user{id}")
        user = {"id": id, "username": name, "discriminator": "0", "avatar": None, "global_name": name.capitalize()}
        flags = {"public_flags": 0, "flags": 0, "primary_guild": None}
        return {**user, **flags, **({"bot": True} if id in self.bots else {})}

    def member(self, id: str) -> dict[str, Any]:
        joined = "2026-01-01T00:00:00+00:00"
        looks = {"avatar": None, "banner": None, "premium_since": None, "communication_disabled_until": None}
        voice = {"deaf": False, "mute": False}
        return {"nick": None, "roles": [], "joined_at": joined, "pending": False, "flags": 0, **looks, **voice}

    def channel(self, room: Room) -> dict[str, Any]:
        if room.type == DIRECT:
            people = [self.user(room.person)]
            return {"id": room.id, "type": DIRECT, "last_message_id": room.last, "recipients": people, "flags": 0}
        written = {"id": room.id, "type": room.type, "guild_id": GUILD, "name": room.name.lstrip("#"), "flags": 0}
        written |= {"last_message_id": room.last}
        if room.parent is not None:
            archived = {"archived": room.archived, "auto_archive_duration": 4320, "locked": room.locked}
            meta = {**archived, "archive_timestamp": "2026-01-01T00:00:00+00:00"}
            counts = {"message_count": len(room.messages), "total_message_sent": len(room.messages), "member_count": 2}
            owner = {"parent_id": room.parent, "owner_id": room.bot or "0", "rate_limit_per_user": 0}
            return {**written, **owner, **counts, "thread_metadata": meta}
        if room.type == FORUM:
            tags = [
                {"id": id, "name": name.rstrip(MODERATED), "moderated": name.endswith(MODERATED)}
                for id, name in room.tags.items()
            ]
            written |= {"available_tags": tags, "flags": NEEDS_TAG if room.needs_tag else 0}
        return {**written, "position": 0, "permission_overwrites": _denied(room), "parent_id": None, "nsfw": False}

    def guild(self, bot: str) -> dict[str, Any]:
        rooms = [room for room in self.rooms.values() if room.type != DIRECT and not room.closed]
        roles = [_role(GUILD, "@everyone", ALL), *(_role(id, name) for name, id in self.roles.items())]
        emojis = [{"id": id, "name": name, "animated": False} for name, id in self.emojis.items()]
        return {
            "id": GUILD,
            "name": GUILD_NAME,
            "owner_id": "1",
            "unavailable": False,
            "channels": [self.channel(room) for room in rooms if room.parent is None],
            "threads": [self.channel(room) for room in rooms if room.parent is not None and not room.archived],
            "roles": [*roles, {**_role(role_id(bot), bot), "managed": True, "tags": {"bot_id": user_id(bot)}}],
            "premium_tier": self.boosts,
            "emojis": emojis,
            "members": [],
            "member_count": len(self.names),
            "joined_at": "2026-01-01T00:00:00+00:00",
            "large": False,
        }

    def message(self, stored: Stored, *, quoted: bool = False) -> dict[str, Any]:
        room = self.rooms[stored.channel]
        written: dict[str, Any] = {
            "id": stored.id,
            "channel_id": room.id,
            "author": self.user(stored.by),
            "content": stored.content,
            "timestamp": timestamp(stored.id),
            "edited_timestamp": stored.edited,
            "tts": False,
            "mention_everyone": "@everyone" in stored.content and stored.by not in self.bots,
            "mentions": [self.user(id) for id in self.mentioned(stored)],
            "mention_roles": _ROLE.findall(stored.content),
            "attachments": stored.attachments,
            "embeds": [],
            "pinned": False,
            "type": stored.type,
            "flags": stored.flags,
            "components": stored.components,
        }
        if stored.reply_to is not None:
            reference = {"type": 0, "message_id": stored.reply_to, "channel_id": room.id}
            written |= {"type": 19, "message_reference": reference}
            target = room.messages.get(stored.reply_to)
            if not quoted:
                written["referenced_message"] = None if target is None else self.message(target, quoted=True)
        return {**written, **stored.more}

    def event(self, stored: Stored) -> dict[str, Any]:
        """A message as the gateway sends it: with its server, and never with the channel around a thread."""
        written = self.message(stored)
        if self.rooms[stored.channel].type != DIRECT:
            written |= {"guild_id": GUILD, "member": self.member(stored.by)}
        return written

    def mentioned(self, stored: Stored) -> list[str]:
        if stored.pinged is not None:
            return stored.pinged
        named = [id for id in dict.fromkeys(_MENTION.findall(stored.content)) if id in self.names]
        target = self.rooms[stored.channel].messages.get(stored.reply_to or "")
        if target is not None and stored.by not in self.bots and target.by not in named and target.by != stored.by:
            named.append(target.by)  # a client's reply pings by itself
        return named


def _role(id: str, name: str, permissions: str = "0") -> dict[str, Any]:
    looks = {"color": 0, "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None}}
    looks |= {"icon": None, "unicode_emoji": None, "hoist": False, "mentionable": True, "flags": 0}
    return {"id": id, "name": name, "permissions": permissions, "position": 0, "managed": False, **looks}


def _denied(room: Room) -> list[dict[str, Any]]:
    bits = {50001: 1 << 10, 50013: 1 << 11}.get(room.closed, 0)
    return [{"id": GUILD, "type": 0, "allow": "0", "deny": str(bits)}] if bits else []


def timestamp(id: str) -> str:
    return datetime.fromtimestamp(((int(id) >> 22) + EPOCH) / 1000, UTC).isoformat()


def now() -> str:
    return datetime.now(UTC).isoformat()
