"""Listens to the recordings of a message and reads the pages it links to, before it is decided (ME-1, ME-20).

The result is stored with the event, so a restart does not repeat the work. After a failure, a sentence takes the place
of the words.
"""

import asyncio
import logging
from contextlib import nullcontext
from datetime import datetime, timedelta
from time import perf_counter

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.bounded import Bounded
from rejoinder.channels.base import CanFetch, ShowsTranscripts
from rejoinder.errors import LeaseLost, NotUnderstood
from rejoinder.events import Attachment, LinkedPage, Route, Step
from rejoinder.inbound.understanding import MediaToUnderstand, understood
from rejoinder.media_services import larger_than
from rejoinder.runtime.abilities import can
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.services import Services
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import InboxEvent, PutUnderstood

log = logging.getLogger(__name__)

STOPPED = "you asked to stop"
PAGE_KEPT = timedelta(hours=1)
PAGES_KEPT = 200
LARGE = 1_000_000
LARGE_AT_ONCE = 4
"""How many recordings larger than `LARGE` bytes are in memory at a time; smaller ones do not wait."""


class UnderstoodSoFar(Struct):
    """The results so far; recordings by their ids."""

    heard: dict[str, str]
    unheard: dict[str, str]
    pages: tuple[LinkedPage, ...] = ()


class Understanding:
    def __init__(self, services: Services) -> None:
        self._settings = services.settings
        self._store = services.store
        self._tasks = services.tasks
        self._clock = services.clock
        self._under_way: dict[Route, asyncio.Task[None]] = {}
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self._pages: Bounded[tuple[str, str, str], tuple[datetime, LinkedPage]] = Bounded(PAGES_KEPT)

    async def of(
        self, event: InboxEvent, wanted: MediaToUnderstand, conversation: Conversation
    ) -> tuple[InboxEvent, tuple[Step, ...]]:
        """The event with what was understood, and the steps for its trace."""
        began, route = perf_counter(), conversation.route
        found = UnderstoodSoFar({}, dict(wanted.refused))
        task = self._tasks.start(f"understand:{route.channel}:{route.chat}", self._find(wanted, conversation, found))
        self._under_way[route] = task
        await self._tasks.wait(task)
        del self._under_way[route]
        conversation.sender.check()
        missed = [file.id for file in wanted.recordings if file.id not in found.heard]
        found.unheard = dict.fromkeys(missed, STOPPED) | found.unheard
        inbound = understood(event.inbound, found.heard, found.unheard, found.pages)
        await WriteBatch(PutUnderstood(event.id, inbound)).insist(self._store)
        channel = conversation.channel
        if found.heard and inbound.transcript is not None and can(channel, ShowsTranscripts):
            conversation.sender.check()
            try:
                await guarded(channel.show_transcript(inbound.own_route, inbound.message_id, inbound.transcript))
            except Exception:  # a channel may be foreign code; the message is decided anyway
                log.exception("%s failed to show what was heard", inbound.channel)
        return replace(event, inbound=inbound), _steps(found, perf_counter() - began)

    def stop(self, route: Route) -> None:
        """Stops the work for this place; its message is decided as it is."""
        if (task := self._under_way.get(route)) is not None:
            task.cancel()

    async def _find(self, wanted: MediaToUnderstand, conversation: Conversation, found: UnderstoodSoFar) -> None:
        channel = conversation.channel
        found.pages = tuple(await asyncio.gather(*(self._read(each, conversation) for each in wanted.addresses)))
        for file in wanted.recordings:
            try:
                found.heard[file.id] = await self._hear(file, conversation)
            except NotUnderstood as why:
                found.unheard[file.id] = str(why)
                log.warning("%s: %s was not heard: %s", channel.name, file.name, why.detail or why)
            except LeaseLost:
                raise
            except Exception:  # a channel may be foreign code; the message is decided without the words
                found.unheard[file.id] = "something went wrong"
                log.exception("%s failed while transcribing %r", channel.name, file.name)

    async def _hear(self, file: Attachment, here: Conversation) -> str:
        channel = here.channel
        media = self._settings.now.media
        hears, most = media.hears, media.understanding.max_bytes
        content = file.content
        if hears is None:
            raise NotUnderstood("recordings are no longer transcribed here")
        async with self._large if (file.size or most) > LARGE else nullcontext():
            if content is None and can(channel, CanFetch):
                here.sender.check()
                content = await guarded(channel.fetch(file, most))
            if content is None:
                raise NotUnderstood("it could not be fetched")
            if len(content) > most:
                raise NotUnderstood(larger_than(most))
            return await hears.hear(file.name, file.mime, content)

    async def _read(self, address: str, conversation: Conversation) -> LinkedPage:
        """Reads a page, at most once an hour in each chat."""
        reader, now = self._settings.now.media.reads_pages, self._clock()
        if reader is None:
            return LinkedPage(address, unread="links are no longer read here")
        key = (conversation.route.channel, conversation.route.chat, address)
        if (kept := self._pages.get(key)) is not None and now - kept[0] < PAGE_KEPT:
            return kept[1]
        try:
            page = await reader.read(address)
        except NotUnderstood as why:
            log.info("%s: %s was not read: %s", conversation.channel.name, address, why.detail or why)
            return LinkedPage(address, unread=str(why))
        except Exception:
            log.exception("reading %s failed", address)
            return LinkedPage(address, unread="something went wrong")
        self._pages[key] = now, page
        return page


def _steps(found: UnderstoodSoFar, took: float) -> tuple[Step, ...]:
    """One step for each recording and page."""
    heard = [Step("listen", "heard") for _ in found.heard]
    unheard = [Step("listen", "not heard", why) for why in found.unheard.values()]
    pages = [Step("read link", "read" if page.unread is None else "not read", page.unread) for page in found.pages]
    steps = [*heard, *unheard, *pages]
    return (*steps[:-1], replace(steps[-1], took=took))
