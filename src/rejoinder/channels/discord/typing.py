"""The typing sign: Discord shows it for ten seconds, or until the bot says something.

A sign that arrives after the message would stand there for nothing. So a message waits a moment for a sign that is on
its way, and then calls it back.
"""

import asyncio
import logging

from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.outcomes import Ok

log = logging.getLogger(__name__)

SECONDS = 8.0
WAITED = 0.25
"""Seconds: longer than such a call takes on most days."""
TYPING = "/channels/{channel_id}/typing"


class OnItsWay:
    def __init__(self) -> None:
        self.scope = asyncio.timeout(SECONDS)
        self.ended = asyncio.Event()


class Typing:
    def __init__(self, called: str, api: Api) -> None:
        self._called = called
        self._api = api
        self._on_their_way: dict[str, OnItsWay] = {}

    async def show(self, place: str) -> None:
        """Only one is on its way to a place."""
        if place in self._on_their_way:
            return
        sign = self._on_their_way[place] = OnItsWay()
        try:
            async with sign.scope:
                answer = await self._api.call("POST", TYPING, channel_id=place)
            if not isinstance(answer, Ok):
                log.debug("%s: the typing sign was not shown: %s", self._called, answer)
        except TimeoutError:
            log.debug("%s: the typing sign was called back", self._called)
        finally:
            del self._on_their_way[place]
            sign.ended.set()

    async def end(self, place: str) -> None:
        """Something is about to be said there."""
        if (sign := self._on_their_way.get(place)) is None:
            return
        try:
            async with asyncio.timeout(WAITED):
                await sign.ended.wait()
        except TimeoutError:
            if not sign.scope.expired() and not sign.ended.is_set():
                sign.scope.reschedule(asyncio.get_running_loop().time())
