"""discord.py's client as a transport: it keeps the connection and passes on every event unchanged.

Its cache is empty after a resumed session, so we neither read nor fill it.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient

import discord
from rejoinder.channels.discord.guild_tracker import TOLD

HEARD = (
    "READY",
    "RESUMED",
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "MESSAGE_DELETE",
    "MESSAGE_DELETE_BULK",
    "MESSAGE_REACTION_ADD",
    "INTERACTION_CREATE",
    *sorted(TOLD),
)

INTENTS = discord.Intents(
    guilds=True,
    guild_messages=True,
    dm_messages=True,
    guild_reactions=True,
    dm_reactions=True,
    emojis_and_stickers=True,
    message_content=True,
)

Heard = Callable[[str, Any], None]


class Client(discord.Client):
    def __init__(self, http: HTTPClient, heard: Heard) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # we use no voice
        super().__init__(
            intents=INTENTS,
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
        )
        for chatty in ("discord.client", "discord.gateway"):  # we log connection problems ourselves
            logging.getLogger(chatty).setLevel(logging.WARNING)
        connection: Any = self._connection
        self.http = connection.http = http
        self.opened: DiscordWebSocket | None = None
        """The latest connection, from its first moment; `ws` is set only once its session has begun."""
        connection._update_references = self._opened
        parsers: dict[str, Callable[[Any], None]] = connection.parsers
        parsers.clear()
        parsers.update({event: partial(heard, event) for event in HEARD})

    def _opened(self, ws: DiscordWebSocket) -> None:
        self.opened = ws
