"""From Discord's events into the gateway, in their order.

Rule 1: how far the session was read moves in the transaction that stores the messages (CH-20).
Rule 2: a new session tells nothing of what was said before it. So what was missed is read from the history first, and
        only then does the new session count: a process that dies in between begins again.
Rule 3: a place that is not known is looked up before its message is stored (CH-24).
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from discord.gateway import DiscordWebSocket
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.base import Inlet
from rejoinder.channels.discord.cursor import Cursor, read_cursor, write_cursor
from rejoinder.channels.discord.interactions import parse_interaction
from rejoinder.channels.discord.parse import Me, Where, parse_deletion, parse_edit, parse_message, parse_reaction
from rejoinder.channels.discord.places import Place, Places, is_newer, snowflake
from rejoinder.channels.discord.reception import Reception
from rejoinder.channels.discord.wire import (
    AUTOCOMPLETE,
    Channel,
    Deleted,
    Guild,
    Interaction,
    Message,
    Reaction,
    Ready,
    convert,
)
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import NotStored, StoreUnavailable
from rejoinder.events import Inbound

log = logging.getLogger(__name__)

MOST_WAITING = 5000
"""Events that may wait for the store; beyond that nothing more is read from Discord, which keeps it."""
STORE_SECONDS = 2.0
"""Of the three that Discord waits for a sign."""
MOST_UNTOLD = 200
"""How many events without a message may pass before the session's position is stored."""
CHANNELS = ("CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE")


TakeHistory = Callable[[str, list[Message]], Awaitable[None]]
CatchUp = Callable[[asyncio.Event, str, TakeHistory], Awaitable[None]]
"""Reads what was missed: given what tells that Discord has named its servers, the newest message that is stored, and
where to put what it finds in a place."""


class Event(Struct, frozen=True):
    kind: str
    data: Any
    session: str = ""
    sequence: int = 0
    address: str = ""


class Intake:
    def __init__(
        self, called: str, places: Places, look_up: Callable[[str], Awaitable[Place | None]], reception: Reception
    ) -> None:
        self._called = called
        self.reception = reception
        self._places = places
        self._look_up = look_up
        self._waiting: deque[Event] = deque()
        self._came = asyncio.Event()
        self._taken = asyncio.Event()
        self._guilds_due: set[str] = set()
        self._guilds_came = asyncio.Event()
        self._cursor = Cursor()
        self._untold = 0
        self._has_gap = False
        self._stopped = False
        self._me = Me("", "", "")
        self._typed: dict[str, Inbound] = {}
        self.echoes: Callable[[str, str], None] = lambda nonce, message: None
        """Told of our own messages when Discord repeats them to us."""

    # --- heard --------------------------------------------------------------------------------------

    def hear(self, ws: Any, kind: str, data: Any) -> None:
        """Called for every event as it comes. What is told of places counts at once; messages wait for their turn."""
        match kind:
            case "READY":
                self._begin_session(data)
            case "RESUMED":
                return
            case "GUILD_CREATE" | "GUILD_EMOJIS_UPDATE" | "CHANNEL_DELETE" | "THREAD_DELETE" | "THREAD_LIST_SYNC":
                return self._learn(kind, data)
            case kind if kind in CHANNELS:
                return self._learn(kind, data)
            case _:
                pass
        gateway = ws if isinstance(ws, DiscordWebSocket) else None
        at = ("", 0, "") if gateway is None else (gateway.session_id or "", gateway.sequence or 0, str(gateway.gateway))
        self._waiting.append(Event(kind, data, *at))
        self._came.set()

    def _begin_session(self, data: Any) -> None:
        ready = convert(data, Ready)
        self._guilds_due = {guild.id for guild in ready.guilds} if ready is not None else set()
        self._guilds_came.clear()
        if not self._guilds_due:
            self._guilds_came.set()

    def _learn(self, kind: str, data: Any) -> None:
        match kind:
            case "GUILD_CREATE":
                if (guild := convert(data, Guild)) is None:
                    return
                if not guild.unavailable:
                    self._places.learn_guild(guild, self._me.id)
                self._guilds_due.discard(guild.id)
                if not self._guilds_due:
                    self._guilds_came.set()
            case "GUILD_EMOJIS_UPDATE":
                if (guild := convert({**data, "id": data.get("guild_id")}, Guild)) is not None:
                    self._places.learn_emojis(guild)
            case "THREAD_LIST_SYNC":
                for each in data.get("threads", ()):
                    if (thread := convert(each, Channel)) is not None:
                        self._places.learn(thread)
            case "CHANNEL_DELETE" | "THREAD_DELETE":
                self._places.forget(str(data.get("id")))
            case _:
                if (channel := convert(data, Channel)) is not None:
                    self._places.learn(channel)

    async def room(self) -> None:
        """Returns when another event may come."""
        while len(self._waiting) >= MOST_WAITING:
            self._taken.clear()
            await self._taken.wait()

    # --- stored -------------------------------------------------------------------------------------

    async def recall(self, deliver: Inlet, pause: float) -> Cursor | None:
        """What an earlier process has stored."""
        while True:
            try:
                cursor = read_cursor(await deliver.cursor())
                self._places.recall(await deliver.places())
                if cursor is None:  # from now on everything counts, even if this process does not live to hear it
                    self._cursor = Cursor(since=snowflake(time.time()))
                    await deliver(cursor=write_cursor(self._cursor))
                    return None
            except StoreUnavailable as problem:
                log.debug("%s", problem)  # the store itself says it once, in the log
                await asyncio.sleep(pause)
                continue
            self._has_gap = True
            self._cursor = cursor
            return cursor

    async def run(self, me: Me, deliver: Inlet, catch_up: CatchUp, pause: float) -> None:
        """Until it is stopped or cancelled."""
        self._me = me
        self._stopped = False
        while True:
            while not self._waiting and not self._stopped:
                self._came.clear()
                await self._came.wait()
            if self._stopped:
                return
            crashpoint("K1")
            batch = [self._waiting.popleft()]
            if batch[0].kind == "READY":
                await self._begin(batch[0], deliver, catch_up, pause)
                continue
            while self._waiting and self._waiting[0].kind != "READY":
                batch.append(self._waiting.popleft())
            self._taken.set()
            await self._take(batch, deliver, pause)
            crashpoint("K5")

    async def _begin(self, ready: Event, deliver: Inlet, catch_up: CatchUp, pause: float) -> None:
        if self._has_gap:
            await catch_up(self._guilds_came, self._cursor.since, partial(self._take_history, deliver, pause))
        self._has_gap = True
        cursor = Cursor(ready.session, ready.sequence, ready.address, self._cursor.since)
        await self._store([], cursor, deliver, pause)

    async def _take(self, batch: list[Event], deliver: Inlet, pause: float) -> None:
        interactions: list[Interaction] = []
        messages = [heard for event in batch for heard in await self._read(event, interactions)]
        last = batch[-1]
        cursor = Cursor(last.session, last.sequence, last.address, self._cursor.since)
        self._untold += len(batch)
        typing = [each for each in interactions if each.type == AUTOCOMPLETE]
        chosen = [each for each in interactions if each.type != AUTOCOMPLETE]
        await asyncio.gather(*(self.reception.suggest(each, self._typed.pop(each.id), deliver) for each in typing))
        with self.reception.unnoticed(chosen):
            if messages or self._untold >= MOST_UNTOLD:
                await self._store(messages, cursor, deliver, pause, chosen)
            else:
                self._cursor = cursor
            await asyncio.gather(*map(self.reception.notice, chosen))

    async def _take_history(self, deliver: Inlet, pause: float, place: str, missed: list[Message]) -> None:
        """Messages that were missed, oldest first; the session's position stays where it is."""
        known = self._places.get(place)
        guild = known.guild if known is not None and known.kind != "direct" else None
        read = [heard for message in missed if (heard := await self._message(message, guild)) is not None]
        await self._store(read, None, deliver, pause)

    async def _store(
        self,
        messages: list[Inbound],
        cursor: Cursor | None,
        deliver: Inlet,
        pause: float,
        chosen: Sequence[Interaction] = (),
    ) -> None:
        """`chosen`: commands and buttons whose people wait for a sign, for three seconds (CH-5)."""
        crashpoint("K2")
        within = STORE_SECONDS if chosen else None
        if cursor is not None:
            newest = max((message.message_id for message in messages if message.entry == "text"), key=int, default="")
            cursor = replace(cursor, since=newest if is_newer(newest, cursor.since) else cursor.since)
        places = self._places.changed()
        kept = write_cursor(cursor) if cursor is not None and cursor.session else None
        while True:
            try:
                await deliver(*messages, cursor=kept, places=places, within=within)
            except NotStored as problem:
                log.warning("%s", problem)
                within = None
                await asyncio.gather(*map(self.reception.refuse, chosen))
                continue
            except StoreUnavailable as problem:
                log.debug("%s", problem)
                await asyncio.sleep(pause)
                continue
            if cursor is not None:
                self._cursor, self._untold = cursor, 0
            return

    def stop(self) -> None:
        """What is being stored is still stored."""
        self._stopped = True
        self._came.set()

    async def keep_position(self, deliver: Inlet) -> None:
        """Before the end: what needs no storing is not asked for again."""
        if self._untold and self._cursor.session:
            self._untold = 0
            await deliver(cursor=write_cursor(self._cursor), places=self._places.changed())

    # --- read ---------------------------------------------------------------------------------------

    async def _read(self, event: Event, interactions: list[Interaction]) -> tuple[Inbound, ...]:
        if event.kind in ("MESSAGE_DELETE", "MESSAGE_DELETE_BULK"):
            deleted = convert(event.data, Deleted)
            if deleted is None:
                return ()
            where = await self._where(deleted.channel_id, deleted.guild_id)
            return tuple(parse_deletion(message, where, self._me) for message in deleted.all)
        heard = await self._read_one(event, interactions)
        return () if heard is None else (heard,)

    async def _read_one(self, event: Event, interactions: list[Interaction]) -> Inbound | None:
        match event.kind:
            case "MESSAGE_CREATE":
                message = convert(event.data, Message)
                return None if message is None else await self._message(message, message.guild_id)
            case "INTERACTION_CREATE":
                interaction = convert(event.data, Interaction)
                return None if interaction is None else await self._interaction(interaction, interactions)
            case "MESSAGE_UPDATE":
                edited = convert(event.data, Message)
                if edited is None or edited.edited_timestamp is None or edited.author is None:
                    return None
                return parse_edit(edited, await self._where(edited.channel_id, edited.guild_id), self._me)
            case "MESSAGE_REACTION_ADD":
                reaction = convert(event.data, Reaction)
                if reaction is None:
                    return None
                where = await self._where(reaction.channel_id, reaction.guild_id)
                return parse_reaction(reaction, where, self._me, f"{event.session}:{event.sequence}")
            case _:
                return None

    async def _interaction(self, interaction: Interaction, waiting: list[Interaction]) -> Inbound | None:
        where = await self._where(interaction.channel_id or "", interaction.guild_id)
        heard = parse_interaction(interaction, where, self._me)
        if heard is None:
            return None
        waiting.append(interaction)
        if interaction.type != AUTOCOMPLETE:
            return heard
        self._typed[interaction.id] = heard
        return None

    async def _message(self, message: Message, guild: str | None) -> Inbound | None:
        if message.author is not None and message.author.id == self._me.id:
            if message.nonce is not None:
                self.echoes(str(message.nonce), message.id)
            return None
        heard = parse_message(message, await self._where(message.channel_id, guild), self._me)
        if heard is not None:
            self._places.note_read(message.channel_id, message.id)
        return heard

    async def _where(self, channel: str, guild: str | None) -> Where:
        place = self._places.get(channel)
        if place is None and guild is None:
            place = self._places.learn_direct(channel)
        elif place is None:
            place = await self._look_up(channel) or Place(guild=guild or "")
        around = self._places.get(place.parent) if place.parent else place
        return Where(channel, place, around.name if around is not None else "")
