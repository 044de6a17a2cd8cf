"""Notices that Slack sends an app no events: the history has messages, but no event has ever come (CH-13)."""

import logging
from collections.abc import Awaitable, Callable
from time import monotonic, time

from rejoinder.channels.slack.history import HistoryReader
from rejoinder.channels.slack.intake import Intake

log = logging.getLogger(__name__)

NO_EVENTS = (
    "Slack has messages for this app, but sends no events. Turn on Event Subscriptions and subscribe to the bot events "
    "of the manifest (`rejoinder init --slack-manifest`), then reinstall the app."
)

LONGEST_WAIT = 3600.0


class MissingEvents:
    """`first_wait`: seconds until the first look at the history; later looks are less and less frequent."""

    def __init__(self, section: str, intake: Intake, reader: HistoryReader, first_wait: float) -> None:
        self.trouble = ""
        self._section = section
        self._intake = intake
        self._reader = reader
        self._began = f"{time():.6f}"
        self._wait = first_wait
        self._look_at = monotonic() + first_wait

    async def look(self, catch_up: Callable[[], Awaitable[int]]) -> None:
        """`catch_up`: reads history, and returns how many messages came that way."""
        if self._intake.came:
            await self._tell("")
        elif self.trouble:
            await catch_up()
        elif monotonic() >= self._look_at:
            self._wait = min(2 * self._wait, LONGEST_WAIT)  # most likely nobody has said anything yet
            self._look_at = monotonic() + self._wait
            self._intake.places.recall_new(await self._reader.conversations() or (), self._began)
            if await catch_up() and not self._intake.came:
                log.error("%s: %s", self._section, NO_EVENTS)
                await self._tell(NO_EVENTS)

    async def _tell(self, trouble: str) -> None:
        self.trouble = trouble
        await self._intake.keep_trouble(trouble)
