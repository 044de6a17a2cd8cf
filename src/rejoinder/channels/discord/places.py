"""The known channels and threads of one account: which thread belongs to which channel, and how far each was read
(CH-20, CH-24).

A message in a thread does not name the channel around it, and Discord does not describe its channels again when a
session is resumed. So what we learn is stored with the messages, and an unknown place is looked up before its messages
are stored.
"""

from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.bounded import Bounded
from rejoinder.channels.discord.wire import DIRECT, FORUMS, GROUP_DIRECT, TEXT, THREADS, Channel, Guild
from rejoinder.events import Route

Kind = Literal["direct", "text", "forum", "thread", "other"]

MOST_KNOWN = 20_000


class Place(Struct, frozen=True, omit_defaults=True):
    """A channel, a thread or a direct chat."""

    kind: Kind = "text"
    parent: str = ""
    """The channel that a thread belongs to."""
    name: str = ""
    guild: str = ""
    read: str = ""
    """The newest message that is stored."""
    level: int = 0
    """The boost level of a server."""
    bots: bool = False
    """Whether another bot has written in it."""


class Unread(Struct, frozen=True):
    """A place where messages after this one may have been missed."""

    place: str
    after: str


class Places:
    def __init__(self) -> None:
        self._known: Bounded[str, Place] = Bounded(MOST_KNOWN)
        self._newest: dict[str, str] = {}
        self._changed: set[str] = set()
        self.guilds: dict[str, str] = {}
        """Names, by id."""
        self._emojis: dict[str, dict[str, str]] = {}  # for each guild: Discord's notation for its own emoji, by name
        self.own_roles: set[str] = set()
        """Roles that Discord made for this bot: to mention one is to mention the bot."""

    # --- what is stored ---------------------------------------------------------------------------

    def recall(self, stored: dict[str, str]) -> None:
        for id, value in stored.items():
            self._known.renew(id, msgspec.json.decode(value, type=Place))

    def changed(self) -> dict[str, str]:
        """Returns what has to be stored, and from then on counts it as stored."""
        found = {id: self._known.get(id, Place()) for id in sorted(self._changed)}
        self._changed.clear()
        return {id: msgspec.json.encode(place).decode() for id, place in found.items()}

    # --- news from Discord ------------------------------------------------------------------------

    def learn_guild(self, guild: Guild, me: str) -> None:
        self.guilds[guild.id] = guild.name or ""
        self.learn_emojis(guild)
        self.learn_level(guild)
        for role in guild.roles or ():
            if (role.tags or {}).get("bot_id") == me:
                self.own_roles.add(role.id)
        for channel in (*(guild.channels or ()), *(guild.threads or ())):
            self.learn(replace(channel, guild_id=guild.id))

    def learn_level(self, guild: Guild) -> None:
        """The boost level is stored under the server's id, because a resumed session does not bring it again."""
        before = self._known.get(guild.id, Place("other"))
        if guild.premium_tier is not None and guild.premium_tier != before.level:
            self._known.renew(guild.id, replace(before, level=guild.premium_tier))
            self._changed.add(guild.id)

    def forget_guild(self, guild: str) -> str:
        """Returns its name."""
        for id in [id for id, place in self._known.items() if place.guild == guild]:
            self.forget(id)
        self._emojis.pop(guild, None)
        return self.guilds.pop(guild, "")

    def level_at(self, channel: str) -> int:
        """The boost level of its server; 0 if it is not known, and in direct chats."""
        place = self._known.get(channel, Place())
        return self._known.get(place.guild, Place()).level

    def learn_emojis(self, guild: Guild) -> None:
        self._emojis[guild.id] = {each.name: each.written for each in guild.emojis or () if each.name and each.id}

    def learn(self, channel: Channel) -> Place:
        before = self._known.get(channel.id, Place())
        place = Place(
            kind_of(channel),
            channel.parent_id or "" if channel.type in THREADS else "",
            channel.name or before.name,
            channel.guild_id or before.guild,
            before.read,
            bots=before.bots,
        )
        if channel.last_message_id:
            self._newest[channel.id] = channel.last_message_id
        self._known.renew(channel.id, place)
        if place.kind == "thread" and before.parent != place.parent:
            self._changed.add(channel.id)
        return place

    def learn_direct(self, channel: str) -> Place:
        place = self._known.get(channel, Place("direct"))
        self._known.renew(channel, place)
        return place

    def forget(self, channel: str) -> None:
        self._known.pop(channel, None)
        self._newest.pop(channel, None)

    def get(self, channel: str) -> Place | None:
        return self._known.get(channel, None)

    def note_read(self, channel: str, message: str) -> None:
        """Notes that this message is about to be stored."""
        place = self._known.get(channel, Place())
        if is_newer(message, place.read):
            self._known.renew(channel, replace(place, read=message))
            self._changed.add(channel)

    def note_bot(self, channel: str) -> None:
        """Notes that another bot has written there."""
        place = self._known.get(channel, Place())
        if not place.bots:
            self._known.renew(channel, replace(place, bots=True))
            self._changed.add(channel)

    def emojis_at(self, channel: str) -> dict[str, str]:
        """Discord's notation for the emoji of its server, by name."""
        place = self._known.get(channel, None)
        return self._emojis.get(place.guild, {}) if place is not None else {}

    # --- after a gap ------------------------------------------------------------------------------

    def begin(self) -> None:
        """A new session names the newest message of every open place; what an earlier session said about that is
        outdated."""
        self._newest.clear()

    def unread(self, since: str, most: int) -> list[Unread]:
        """Where to look for messages since `since`, the newest message stored anywhere: in places that have a newer
        message than the one stored. Discord does not report the newest message of direct chats and archived threads, so
        the `most` latest of them are searched; a thread that an answer has opened may have nothing stored yet."""
        found: list[Unread] = []
        untold: list[tuple[int, Unread]] = []
        for id, place in self._known.items():
            newest = self._newest.get(id)
            if newest is None:
                if place.kind == "thread" or (place.kind == "direct" and place.read):
                    untold.append((int(place.read or id), Unread(id, place.read or max(since, id, key=int))))
            elif place.kind != "forum" and is_newer(newest, after := place.read or since):
                found.append(Unread(id, after))
        untold.sort(key=lambda each: each[0], reverse=True)
        return found + [unread for _, unread in untold[:most]]


def place_of(route: Route) -> str:
    """The id of the thread or channel."""
    return route.thread or route.chat


def kind_of(channel: Channel) -> Kind:
    if channel.type in THREADS:
        return "thread"
    if channel.type in (DIRECT, GROUP_DIRECT):
        return "direct"
    if channel.type in FORUMS:
        return "forum"
    return "text" if channel.type == TEXT else "other"


def is_newer(one: str, other: str) -> bool:
    """Ids grow with time."""
    return int(one or 0) > int(other or 0)


EPOCH = 1_420_070_400.0
"""The time at which Discord's ids begin, in seconds since 1970."""


def snowflake(at: float) -> str:
    """The lowest id that a message of this moment can have."""
    return str(max(0, int((at - EPOCH) * 1000)) << 22)


def moment(id: str) -> float:
    """When something with this id was made."""
    return (int(id) >> 22) / 1000 + EPOCH
