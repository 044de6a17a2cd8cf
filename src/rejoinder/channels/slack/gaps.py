"""What may have been missed is read from history, before anything newer is taken, so that order stays (CH-30)."""

import asyncio
import logging
from collections.abc import Callable
from time import monotonic, time

from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.intake import Intake
from rejoinder.channels.slack.retrying import Timings

log = logging.getLogger(__name__)

NO_EVENTS = (
    "Slack has messages for this app, but sends no events. Turn on Event Subscriptions and subscribe to the bot events "
    "of the manifest (`rejoinder init --slack-manifest`), then reinstall the app."
)

LONGEST_WAIT = 3600.0


class Gaps:
    """Nothing is taken before the first `close`: what came while no gateway ran is read first."""

    def __init__(self, called: str, intake: Intake, reader: HistoryReader, pace: Timings) -> None:
        self.trouble = ""
        self._called = called
        self._intake = intake
        self._reader = reader
        self._pace = pace
        self._may_read = asyncio.Event()
        self._closed = asyncio.Event()
        self._began = f"{time():.6f}"
        self._look_after = pace.no_events
        self._look_at = monotonic() + pace.no_events

    def open(self) -> None:
        """From here on something may be missed."""
        self._closed.clear()

    def close(self) -> None:
        """Everything comes again: what was missed can be read."""
        self._may_read.set()

    async def until_closed(self) -> None:
        """Returns when everything that may have been missed has been read."""
        await self._closed.wait()

    async def watch(self, ghosts: Callable[[], int]) -> None:
        """Runs for ever. `ghosts`: how many others take a share of our events."""
        while True:
            try:
                async with asyncio.timeout(self._pace.ghosts):
                    await self._may_read.wait()
            except TimeoutError:
                if self._intake.places.has_missed or ghosts():
                    await self._catch_up()
                else:
                    await self._look_for_events()
                continue
            self._may_read.clear()
            await self._catch_up()
            self._closed.set()

    async def _catch_up(self) -> int:
        """How many messages came that way."""
        places = self._intake.places.latest()
        found = await asyncio.gather(*(self._reader.since(place, ts) for place, ts in places))
        count = 0
        for (place, _), messages in zip(places, found, strict=True):
            fresh = self._intake.places.fresh(messages or ())
            if messages is not None and await self._intake.store(fresh, in_time=False):
                self._intake.places.read_again(place)
                count += len(fresh)
        if count:
            log.info("%s: %s message(s) were read from history", self._called, count)
        return count

    async def _look_for_events(self) -> None:
        """History brings messages, and no event has ever come: the subscription is missing (CH-13)."""
        if self._intake.came:
            await self._tell("")
        elif self.trouble:
            await self._catch_up()
        elif monotonic() >= self._look_at:
            self._look_after = min(2 * self._look_after, LONGEST_WAIT)  # most likely nobody has said anything yet
            self._look_at = monotonic() + self._look_after
            self._intake.places.recall_new(await self._reader.conversations(), self._began)
            if await self._catch_up() and not self._intake.came:
                log.error("%s: %s", self._called, NO_EVENTS)
                await self._tell(NO_EVENTS)

    async def _tell(self, trouble: str) -> None:
        self.trouble = trouble
        await self._intake.keep_trouble(trouble)
