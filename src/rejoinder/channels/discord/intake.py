"""Brings Discord's events into the gateway, in their order.

Rule 1: the position in the session is stored in the same transaction as the messages (CH-20).
Rule 2: a new session brings no messages from before it began. So missed messages are read from the history first, and
        only then is the new session stored: if the process dies in between, the next one reads them again.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, cast

from discord.gateway import DiscordWebSocket
from msgspec.structs import replace

from rejoinder.channels.base import Inlet
from rejoinder.channels.discord.cursor import Cursor, read_cursor, write_cursor
from rejoinder.channels.discord.guild_tracker import TOLD, GuildTracker
from rejoinder.channels.discord.interaction_replies import InteractionReplies
from rejoinder.channels.discord.parse import BotIdentity
from rejoinder.channels.discord.places import Places, is_newer, snowflake
from rejoinder.channels.discord.reading import Event, EventReader
from rejoinder.channels.discord.used_allowance import UsedAllowance
from rejoinder.channels.discord.wire import Interaction, Message
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import NotStored, StoreUnavailable
from rejoinder.events import Inbound

log = logging.getLogger(__name__)

MOST_WAITING = 5000
"""Events that may wait for the store. Beyond that we read nothing more from Discord, which keeps the rest."""
STORE_SECONDS = 2.0
"""Our share of the three seconds that Discord waits for a sign."""
MOST_UNTOLD = 200
"""How many events without a message may pass before the session's position is stored."""
TakeHistory = Callable[[str, list[Message]], Awaitable[None]]
BEGINS = frozenset({"READY", "GUILD_CREATE"})
"""After these events, missed messages are read before anything newer is taken."""
CatchUp = Callable[[asyncio.Event, str, TakeHistory], Awaitable[None]]
"""Reads missed messages. It is given an event that is set when Discord has described its servers, the newest message
that is stored, and a function that takes what it finds in each place."""


class Intake:
    def __init__(
        self,
        section: str,
        places: Places,
        surroundings: GuildTracker,
        reader: EventReader,
        reception: InteractionReplies,
        spent: UsedAllowance,
    ) -> None:
        self._section = section
        self._places = places
        self._surroundings = surroundings
        self._reader = reader
        self._reception = reception
        self._spent = spent
        self._spent.tell(self._spend)
        self._has_spent = False
        self._waiting: deque[Event] = deque()
        self._came = asyncio.Event()
        self._taken = asyncio.Event()
        self._cursor = Cursor()
        self._untold = 0
        self._has_gap = False
        self._unread_since = ""
        """In a server that Discord describes late, messages since this one may have been missed."""
        self._stopped = False

    # --- heard --------------------------------------------------------------------------------------

    def hear(self, ws: Any, kind: str, data: Any) -> None:
        """Called for every event as it arrives. News about places takes effect at once; messages wait their turn."""
        if kind == "RESUMED" or not isinstance(data, dict):
            return
        if kind in TOLD:
            self._surroundings.learn(kind, cast("dict[str, Any]", data), self._reader.me.id)
            if kind != "GUILD_CREATE" or not self._unread_since:
                return
        if kind == "READY":
            self._surroundings.begin(data)
        gateway = ws if isinstance(ws, DiscordWebSocket) else None
        at = ("", 0, "") if gateway is None else (gateway.session_id or "", gateway.sequence or 0, str(gateway.gateway))
        self._waiting.append(Event(kind, data, *at))
        self._came.set()

    async def room(self) -> None:
        """Returns when there is room for another event."""
        while len(self._waiting) >= MOST_WAITING:
            self._taken.clear()
            await self._taken.wait()

    # --- stored -------------------------------------------------------------------------------------

    async def recall(self, deliver: Inlet, pause: float) -> Cursor | None:
        """Loads what an earlier process has stored."""
        while True:
            try:
                cursor = read_cursor(await deliver.cursor())
                self._places.recall(await deliver.places())
                if cursor is None:  # from now on no message may be missed, even if this process dies at once
                    self._cursor = Cursor(since=snowflake(time.time()), spent=self._spent.kept())
                    await deliver(cursor=write_cursor(self._cursor))
                    return None
            except StoreUnavailable as problem:
                log.debug("%s", problem)  # the store logs it once itself
                await asyncio.sleep(pause)
                continue
            self._has_gap = True
            self._cursor = cursor
            self._spent.recall(cursor.spent)
            return cursor

    async def run(self, me: BotIdentity, deliver: Inlet, catch_up: CatchUp, pause: float) -> None:
        """Runs until it is stopped or cancelled."""
        self._reader.read_as(me)
        self._stopped = False
        while True:
            while not self._waiting and not self._stopped and not self._has_spent:
                self._came.clear()
                await self._came.wait()
            if self._stopped:
                return
            if self._has_spent:
                await self._store([], self._cursor, deliver, pause)
                continue
            crashpoint("K1")
            batch = [self._waiting.popleft()]
            if batch[0].kind in BEGINS:
                await self._begin(batch[0], deliver, catch_up, pause)
                continue
            while self._waiting and self._waiting[0].kind not in BEGINS:
                batch.append(self._waiting.popleft())
            self._taken.set()
            await self._take(batch, deliver, pause)
            crashpoint("K5")

    async def _begin(self, event: Event, deliver: Inlet, catch_up: CatchUp, pause: float) -> None:
        """Catches up after a new session began, or when a server is described late."""
        since = self._unread_since if event.kind == "GUILD_CREATE" else self._cursor.since
        if self._has_gap:
            await catch_up(self._surroundings.came, since, partial(self._take_history, deliver, pause))
            self._unread_since = "" if self._surroundings.came.is_set() else since
        self._has_gap = True
        cursor = Cursor(event.session, event.sequence, event.address, self._cursor.since)
        await self._store([], cursor, deliver, pause)

    async def _take(self, batch: list[Event], deliver: Inlet, pause: float) -> None:
        heard = await self._reader.read(batch)
        last = batch[-1]
        cursor = Cursor(last.session, last.sequence, last.address, self._cursor.since)
        self._untold += len(batch)
        await asyncio.gather(*(self._reception.suggest(*each, deliver) for each in heard.typed))
        with self._reception.unnoticed(heard.chosen):
            if heard.messages or self._untold >= MOST_UNTOLD:
                await self._store(heard.messages, cursor, deliver, pause, heard.chosen)
            else:
                self._cursor = cursor
            await asyncio.gather(*map(self._reception.notice, heard.chosen))

    async def _take_history(self, deliver: Inlet, pause: float, place: str, missed: list[Message]) -> None:
        """Stores messages that were missed, oldest first; the position in the session stays where it is."""
        known = self._places.get(place)
        guild = known.guild if known is not None and known.kind != "direct" else None
        read = [heard for message in missed if (heard := await self._reader.message(message, guild)) is not None]
        await self._store(read, None, deliver, pause)

    async def _store(
        self,
        messages: list[Inbound],
        cursor: Cursor | None,
        deliver: Inlet,
        pause: float,
        chosen: Sequence[Interaction] = (),
    ) -> None:
        """`chosen`: commands and buttons, which have to be acknowledged within three seconds (CH-5)."""
        crashpoint("K2")
        within = STORE_SECONDS if chosen else None
        if cursor is not None:
            newest = max((message.message_id for message in messages if message.entry == "text"), key=int, default="")
            cursor = replace(cursor, since=newest if is_newer(newest, cursor.since) else cursor.since)
        places = self._places.changed()
        is_known = cursor is not None and (cursor.session or self._has_spent)
        kept = self._written(cursor) if cursor is not None and is_known else None
        while True:
            try:
                await deliver(*messages, cursor=kept, places=places, within=within)
            except NotStored as problem:
                log.warning("%s", problem)
                within = None
                await asyncio.gather(*map(self._reception.refuse, chosen))
                continue
            except StoreUnavailable as problem:
                log.debug("%s", problem)
                await asyncio.sleep(pause)
                continue
            if cursor is not None:
                self._cursor, self._untold = cursor, 0
            return

    def _written(self, cursor: Cursor) -> str:
        self._has_spent = False
        return write_cursor(replace(cursor, spent=self._spent.kept()))

    def _spend(self) -> None:
        self._has_spent = True
        self._came.set()

    def stop(self) -> None:
        """Stops taking events; those that are being stored are still stored."""
        self._stopped = True
        self._came.set()

    async def keep_position(self, deliver: Inlet) -> None:
        """Called before the end, so that Discord need not send again the events that needed no storing."""
        if (self._untold and self._cursor.session) or self._has_spent:
            self._untold = 0
            await deliver(cursor=self._written(self._cursor), places=self._places.changed(), within=STORE_SECONDS)
