"""Reads messages that were written while the bot was not connected (CH-20), and what a thread has said before
(TU-31)."""

import asyncio
import logging
from contextlib import suppress

from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.connection import Timings
from rejoinder.channels.discord.intake import TakeHistory
from rejoinder.channels.discord.outcomes import Answer, Ok
from rejoinder.channels.discord.places import Places, Unread, moment, snowflake
from rejoinder.channels.discord.retrying import until_answered
from rejoinder.channels.discord.wire import Message, convert

log = logging.getLogger(__name__)

PAGE = 100
MOST_PAGES = 20
MOST_ASKED = 200
"""The most direct chats and archived threads to search, the latest first."""
MARGIN_SECONDS = 60.0
"""In a place from which nothing is stored, messages a little older than the newest stored one of all places may have
been missed, too: so much older."""
MOST_TRIES = 8


class History:
    def __init__(self, section: str, api: Api, places: Places, pace: Timings) -> None:
        self._section = section
        self._api = api
        self._places = places
        self._pace = pace

    async def catch_up(self, guilds_came: asyncio.Event, since: str, take: TakeHistory) -> None:
        with suppress(TimeoutError):  # Discord describes a server that is down only when it is back
            await asyncio.wait_for(guilds_came.wait(), self._pace.guilds)
        earliest = snowflake(moment(since) - MARGIN_SECONDS) if since else ""
        places = self._places.unread(earliest, MOST_ASKED) if earliest else []
        for unread in places:
            await self._read(unread, take)
        log.info("%s: a new session; %s places were searched for missed messages", self._section, len(places))

    async def _read(self, unread: Unread, take: TakeHistory) -> None:
        after = unread.after
        for _ in range(MOST_PAGES):
            page = await self._page(unread.place, {"after": after})
            if page is None:
                return
            page.sort(key=lambda message: int(message.id))
            if page:
                await take(unread.place, page)
                after = page[-1].id
            if len(page) < PAGE:
                return
        log.warning(
            "%s: more was missed in %s than is read from history; the rest is skipped", self._section, unread.place
        )

    async def _page(self, place: str, span: dict[str, str]) -> list[Message] | None:
        """None if Discord does not give it out."""
        answer = await until_answered(self._pace, lambda: self._ask(place, span, PAGE), MOST_TRIES)
        if isinstance(answer, Ok):
            return _messages(answer)
        log.warning("%s: the messages missed in %s could not be read: %s", self._section, place, answer.reason)
        return None

    async def latest(self, place: str, limit: int, *, before: str | None = None, after: str | None = None) -> Answer:
        """Returns Ok with the messages, newest first."""
        span = {**({"before": before} if before else {}), **({"after": after} if after else {})}
        answer = await self._ask(place, span, min(limit, PAGE))
        return Ok(_messages(answer)) if isinstance(answer, Ok) else answer

    async def _ask(self, place: str, span: dict[str, str], limit: int) -> Answer:
        params = {"limit": str(limit), **span}
        return await self._api.call("GET", "/channels/{channel_id}/messages", params=params, channel_id=place)


def _messages(answer: Ok) -> list[Message]:
    found = (convert(each, Message) for each in answer.result or ())
    return [message for message in found if message is not None and message.has_place]
