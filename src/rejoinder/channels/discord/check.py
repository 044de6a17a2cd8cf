"""What `rejoinder doctor` checks for a bot: its identity, its servers, its missing permissions, how to invite it."""

from typing import Any

import msgspec

from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.outcomes import Ok, failure
from rejoinder.channels.discord.permissions import (
    SEE,
    ChannelOf,
    RoleOf,
    in_channel,
    in_guild,
    invite_link,
    missing,
)
from rejoinder.errors import ChannelStopped

MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""Granted without limit, or for a bot in fewer than a hundred servers."""
MOST_GUILDS, MOST_TOLD = 20, 5
TALKED_IN = frozenset({0, 5, 15, 16})
NO_INTENT = (
    "{bot} may not read messages: switch on the Message Content Intent on the page of your "
    "application (Bot, Privileged Gateway Intents)"
)


async def check_bot(section: str, api: Api, me: str, name: str) -> str:
    application = await _fetch(section, api, "/oauth2/applications/@me")
    if not int(application.get("flags", 0)) & MESSAGE_CONTENT:
        raise ChannelStopped(NO_INTENT.format(bot=name), section)
    id = str(application["id"])
    guilds: list[dict[str, Any]] = await _fetch(section, api, "/users/@me/guilds")
    who = f"it is {name} (application {id}), and may read messages"
    if not guilds:
        return f"{who}\nit is in no server yet: invite it with {invite_link(id)}"
    around = ", ".join(str(guild["name"]) for guild in guilds[:MOST_TOLD])
    lacking = [line for guild in guilds[:MOST_GUILDS] for line in await _lacking(section, api, str(guild["id"]), me)]
    if len(lacking) > MOST_TOLD:
        lacking[MOST_TOLD:] = [f"and {len(lacking) - MOST_TOLD} more channels where it lacks a permission"]
    return "\n".join((f"{who}, in {around}", *lacking, f"its invite link: {invite_link(id)}"))


async def _lacking(section: str, api: Api, guild: str, me: str) -> list[str]:
    """One line for each channel that it sees but where it lacks a permission, and one for all that it does not see."""
    about = await _fetch(section, api, f"/guilds/{guild}")
    member = await _fetch(section, api, f"/guilds/{guild}/members/{me}")
    channels = msgspec.convert(await _fetch(section, api, f"/guilds/{guild}/channels"), list[ChannelOf])
    roles: list[str] = [str(role) for role in member.get("roles", [])]
    base = in_guild(guild, roles, msgspec.convert(about.get("roles", []), list[RoleOf]))
    lines: list[str] = []
    unseen: list[str] = []
    for channel in channels:
        may = in_channel(base, guild, me, roles, channel)
        if channel.type not in TALKED_IN:
            continue
        if not may & SEE:
            unseen.append(f"#{channel.name}")
        elif lacks := missing(may):
            lines.append(f"in #{channel.name} it may not {', '.join(lacks)}: allow that in the channel's settings")
    if unseen:
        more = " and others" if len(unseen) > MOST_TOLD else ""
        where = ", ".join(unseen[:MOST_TOLD])
        lines.append(f"it does not see {where}{more}: where it is to take part, allow it View Channel")
    return lines


async def _fetch(section: str, api: Api, path: str) -> Any:
    answer = await api.call("GET", path)
    if isinstance(answer, Ok):
        return answer.result
    raise ChannelStopped(f"Discord gives no information about this bot: {failure(answer).reason}", section)
