"""Follows what Discord says about servers and channels; this takes effect at once, before earlier messages are stored.

A new session first names the servers and describes each of them later. Until all are described, it is not known where
to look for missed messages.
"""

import asyncio
from typing import Any

from rejoinder.channels.discord.place_troubles import PlaceTroubles
from rejoinder.channels.discord.places import Places
from rejoinder.channels.discord.wire import Channel, Guild, Ready, convert

TOLD = frozenset(
    {
        "GUILD_CREATE",
        "GUILD_UPDATE",
        "GUILD_DELETE",
        "GUILD_EMOJIS_UPDATE",
        "CHANNEL_CREATE",
        "CHANNEL_UPDATE",
        "CHANNEL_DELETE",
        "THREAD_CREATE",
        "THREAD_UPDATE",
        "THREAD_DELETE",
        "THREAD_LIST_SYNC",
    }
)


class GuildTracker:
    def __init__(self, places: Places, troubles: PlaceTroubles) -> None:
        self._places = places
        self._troubles = troubles
        self._due: set[str] = set()
        self.came = asyncio.Event()
        """Set when all servers of this session have been described."""

    def begin(self, data: Any) -> None:
        """A new session."""
        ready = convert(data, Ready)
        self._due = {guild.id for guild in ready.guilds} if ready is not None else set()
        self.came.clear()
        self._places.begin()
        self._described("")

    def learn(self, kind: str, data: Any, me: str) -> None:
        match kind:
            case "GUILD_CREATE":
                if (guild := convert(data, Guild)) is not None:
                    self._describe(guild, me)
            case "GUILD_UPDATE":
                if (guild := convert(data, Guild)) is not None:
                    self._places.learn_level(guild)
            case "GUILD_DELETE":
                if (guild := convert(data, Guild)) is not None and not guild.unavailable:
                    self._troubles.left(self._places.forget_guild(guild.id), guild.id)
            case "GUILD_EMOJIS_UPDATE":
                if (guild := convert({**data, "id": data.get("guild_id")}, Guild)) is not None:
                    self._places.learn_emojis(guild)
            case "THREAD_LIST_SYNC":
                for each in data.get("threads") or ():
                    if (thread := convert(each, Channel)) is not None:
                        self._places.learn(thread)
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                self._places.forget(str(data.get("id")))
            case _:
                if (channel := convert(data, Channel)) is not None:
                    self._places.learn(channel)

    def _describe(self, guild: Guild, me: str) -> None:
        if not guild.unavailable:
            self._places.learn_guild(guild, me)
            self._troubles.joined(guild.id)
        self._described(guild.id)

    def _described(self, guild: str) -> None:
        self._due.discard(guild)
        if not self._due:
            self.came.set()
