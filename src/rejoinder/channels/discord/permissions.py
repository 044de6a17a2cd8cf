"""The permissions of a bot in a channel, computed like Discord does it, and those it needs (CH-12). Pure."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from msgspec import Struct

ADMINISTRATOR = 1 << 3
NEEDED: dict[int, str] = {
    1 << 10: "see the channel",
    1 << 11: "send messages",
    1 << 16: "read the history",
    1 << 6: "add reactions",
    1 << 15: "attach files",
    1 << 35: "create public threads",
    1 << 38: "send messages in threads",
}
SEE = 1 << 10
AUTHORIZE = "https://discord.com/oauth2/authorize"


class RoleOf(Struct, frozen=True):
    id: str
    permissions: str = "0"


class Overwrite(Struct, frozen=True):
    """The permissions that a channel allows and denies to a role or a person."""

    id: str
    allow: str = "0"
    deny: str = "0"


class ChannelOf(Struct, frozen=True):
    id: str
    type: int = 0
    name: str | None = ""
    permission_overwrites: list[Overwrite] | None = None


def in_guild(guild: str, held: Sequence[str], roles: Sequence[RoleOf]) -> int:
    """`held`: the bot's roles. Everybody has the role with the server's id."""
    mine = {guild, *held}
    found = 0
    for role in roles:
        if role.id in mine:
            found |= int(role.permissions)
    return found


def in_channel(base: int, guild: str, me: str, held: Sequence[str], channel: ChannelOf) -> int:
    """Applies the overwrites for everybody first, then those for the bot's roles together, then those for the bot."""
    if base & ADMINISTRATOR:
        return ~0
    said: Mapping[str, Overwrite] = {each.id: each for each in channel.permission_overwrites or ()}
    for ids in ((guild,), tuple(role for role in held if role != guild), (me,)):
        found = [said[id] for id in ids if id in said]
        deny, allow = 0, 0
        for each in found:
            deny |= int(each.deny)
            allow |= int(each.allow)
        base = base & ~deny | allow
    return base


def missing(permissions: int) -> list[str]:
    return [name for bit, name in NEEDED.items() if not permissions & bit]


def invite_link(application: str) -> str:
    scopes = {"client_id": application, "scope": "bot applications.commands", "permissions": sum(NEEDED)}
    return f"{AUTHORIZE}?{urlencode(scopes)}"
