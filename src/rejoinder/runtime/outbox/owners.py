"""Tells owners of the gateway when a message was given up or may not have arrived, in a direct chat if one is known
(DE-32, DU-3).

Rule 1: a chat is not told about its own failures: a person who blocked the bot would not see the notice, and a notice
        that failed would cause another one.
Rule 2: at most one notice an hour for each failing chat: a person who left causes one notice, not one for each answer.
Rule 3: the chat in which an owner writes is stored, and a notice is written in the commit of the failure, so a restart
        loses neither.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from rejoinder.bounded import Bounded
from rejoinder.events import DeliveryFailed, Route
from rejoinder.runtime.services import Services
from rejoinder.store.base import MoveCursor, StoredCursor

MOST_CHATS: Final = 1000
AGAIN_AFTER: Final = timedelta(hours=1)
OWNER: Final = "owner"
"""The cursor that stores where an owner of this channel wrote last."""
GIVEN_UP: Final = (
    "The gateway gave up on a message to {channel} {chat}: {why}.\n"
    "`/resend all` sends it again; `rejoinder dead` lists it."
)
HELD: Final = (
    "It is not known whether a message to {channel} {chat} arrived: {why}.\n"
    "`/resend all` sends it again, but then it may appear twice; `rejoinder dead` lists it."
)

_kept = msgspec.json.Decoder(Route)


class OwnerChats:
    def __init__(self, services: Services) -> None:
        self._channels = services.channels
        self._store = services.store
        self._clock = services.clock
        self._at: dict[str, Route] = {}  # by channel; the chat in which an owner wrote last comes last
        self._has_read = False
        self._told: Bounded[Route, datetime] = Bounded(MOST_CHATS)

    def to_keep(self, route: Route) -> tuple[MoveCursor, ...]:
        """The verbs to write with an owner's message in a direct chat."""
        if self._at.get(route.channel) == route:
            return ()
        return (MoveCursor(StoredCursor(route.channel, OWNER, msgspec.json.encode(route).decode())),)

    def wrote(self, route: Route) -> None:
        """What `to_keep` returned has been written."""
        self._at.pop(route.channel, None)
        self._at[route.channel] = route

    async def notice(self, failed: DeliveryFailed, *, held: bool = False) -> tuple[Route, str] | None:
        """Where an owner is told of a message that was given up or held, and in which words; None if no owner is told
        now."""
        await self._read()
        now, route = self._clock(), self._place_for(failed.route)
        told = self._told.get(failed.route)
        if route is None or (told is not None and now - told < AGAIN_AFTER):
            return None
        self._told[failed.route] = now
        sentence, there = HELD if held else GIVEN_UP, failed.route
        return route, sentence.format(channel=there.channel, chat=there.chat, why=failed.why.rstrip(". "))

    async def _read(self) -> None:
        """Reads, once, what an earlier process stored; anything this process has noted is newer."""
        if self._has_read:
            return
        self._has_read = True
        for channel in self._channels:
            if (kept := await self._store.cursor(channel, OWNER)) is not None and channel not in self._at:
                self._at = {channel: _kept.decode(kept), **self._at}

    def _place_for(self, failed: Route) -> Route | None:
        here = self._at.get(failed.channel)
        others = [route for route in reversed(self._at.values()) if route.channel != failed.channel]
        known = (route for route in (here, *others) if route is not None and route.channel in self._channels)
        return next((route for route in known if route != failed), None)
