"""Long polling: Telegram keeps updates until they are confirmed, and each request confirms those before its offset.

Rule 1: the offset is the cursor, and moves in the transaction that stores the messages (DU-1).
Rule 2: the offset never passes an update that waits for the rest of its album. Later updates are delivered anyway,
        and are recognised when Telegram sends them again.
Rule 3: if the store accepts nothing, nothing is confirmed, and the same request is made again later (DU-15).
"""

import asyncio
import logging
from time import monotonic
from typing import Any

import msgspec
from msgspec import Raw

from rejoinder.channels.store_waiting import when_available
from rejoinder.channels.telegram.albums import AlbumSorter
from rejoinder.channels.telegram.cursor import Cursor
from rejoinder.channels.telegram.intake import Intake, read
from rejoinder.channels.telegram.retrying import RetryingCalls, Timings
from rejoinder.channels.telegram.wire import UPDATES
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import StoreUnavailable

log = logging.getLogger(__name__)

GRACE_SECONDS = 15.0
"""How much longer than the requested time Telegram may take before we consider the connection dead."""

_batch = msgspec.json.Decoder(list[Raw] | None)


async def poll(calls: RetryingCalls, intake: Intake, pace: Timings) -> None:
    """Runs for ever."""
    offset = await when_available(lambda: _first_offset(intake), pace.first_pause)
    patience = AlbumSorter(pace.quiet_album, pace.longest_album)
    delivered: set[int] = set()  # stored already, though the offset has not passed them
    waiting = confirming = False
    while True:
        seconds = 0 if waiting else pace.long_poll
        found = await calls.ask("getUpdates", _question(offset, seconds), seconds + GRACE_SECONDS)
        crashpoint("K1")
        if confirming:
            crashpoint("K5")
        updates = [read(each) for each in _batch.decode(found) or ()]
        sorted = patience.sort(updates, monotonic())
        waiting, confirming = bool(sorted.waiting), False
        following, fresh = None, sorted.ready
        if waiting:
            following = min([update.update_id for update in sorted.waiting])
        elif updates:
            following = max([update.update_id for update in updates]) + 1
        if delivered:
            fresh = tuple([update for update in fresh if update.update_id not in delivered])
        if fresh or (following is not None and following != offset):
            try:
                await intake.take(fresh, None if following is None else Cursor(following))
            except StoreUnavailable as problem:
                log.debug("%s", problem)  # the store logs it once itself
                await asyncio.sleep(pace.first_pause)
                continue
            confirming = following != offset
            offset = following
            if waiting or delivered:  # otherwise the offset has passed all of them
                stored = {*delivered, *[update.update_id for update in fresh]}
                delivered = {number for number in stored if offset is None or number >= offset}
        if waiting:
            await asyncio.sleep(pace.quiet_album)


def _question(offset: int | None, seconds: int) -> dict[str, Any]:
    question: dict[str, Any] = {"timeout": seconds, "allowed_updates": list(UPDATES)}
    return question if offset is None else {**question, "offset": offset}


async def _first_offset(intake: Intake) -> int | None:
    """The stored offset. Updates that an earlier webhook left behind are taken in first."""
    while (cursor := await intake.resume()).waiting:
        await intake.take([read(each) for each in cursor.waiting], Cursor(0))
    return cursor.offset
