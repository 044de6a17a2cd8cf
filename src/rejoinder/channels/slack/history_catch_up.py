"""Reads messages that may have been missed from history, before newer events are handled, to keep the order (CH-30).

`unread_history` says what has to be read and when; this file waits for it, reads and stores.
"""

import asyncio
import logging

from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.intake import Intake
from rejoinder.channels.slack.missing_events import MissingEvents
from rejoinder.channels.slack.retrying import Timings
from rejoinder.channels.slack.unread_history import UnreadHistory

log = logging.getLogger(__name__)


class HistoryCatchUp:
    """No event is taken before the first `close` and the reading after it: messages from while no gateway ran come
    first."""

    def __init__(self, section: str, intake: Intake, reader: HistoryReader, pace: Timings) -> None:
        self._section = section
        self._intake = intake
        self._reader = reader
        self._pace = pace
        self._unread = UnreadHistory(is_first=intake.is_first)
        self._missing_events = MissingEvents(section, intake, reader, pace.no_events)
        self._changed = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def trouble(self) -> str:
        return self._missing_events.trouble

    def open(self) -> None:
        """From now on messages may be missed."""
        self._unread.open()
        self._closed.clear()

    def close(self) -> None:
        """Events arrive again, so what was missed can be read."""
        self._unread.close()
        self._changed.set()

    def share(self, others: int) -> None:
        """Sets how many other sockets take a share of our events now."""
        if others:
            self._intake.places.share(is_shared=True)
        self._unread.share(others)
        if self._unread.is_due:
            self._changed.set()

    async def until_closed(self) -> None:
        """Returns when everything that may have been missed has been read."""
        await self._closed.wait()

    async def watch(self) -> None:
        """Runs for ever."""
        while True:
            try:
                async with asyncio.timeout(self._pace.ghosts):
                    await self._changed.wait()
            except TimeoutError:
                pass
            self._changed.clear()
            reading = self._unread.next(has_missed=self._intake.places.has_missed)
            if reading is None:
                await self._missing_events.look(self._catch_up)
                continue
            await self._catch_up(includes_new=reading.includes_new)
            self._unread.done(reading)
            if reading.gaps is not None:
                self._intake.places.share(is_shared=self._unread.is_shared(reading))
            if self._unread.is_complete:
                self._closed.set()

    async def _catch_up(self, *, includes_new: bool = False) -> int:
        """Returns how many messages it found. `includes_new`: it also looks in chats from which none has come yet."""
        known = self._intake.places
        if includes_new:
            found_new = await self._reader.conversations()
            self._unread.listed_new(is_known=found_new is not None)
            known.recall_new(found_new or (), known.heard_until)
        places = known.latest()
        found = await asyncio.gather(*(self._reader.since(place, ts) for place, ts in places))
        count = 0
        for (place, _), messages in zip(places, found, strict=True):
            fresh = len(known.fresh(messages or ()))
            if messages is None or not await self._intake.store(messages, is_history=True):
                known.not_read(place)
                continue
            known.read_again(place)
            count += fresh
        if count:
            log.info("%s: %s message(s) were read from history", self._section, count)
        return count
