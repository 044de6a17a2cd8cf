"""Brings Telegram's updates into the gateway, one by one, so that one that cannot be read stops no other."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from rejoinder.channels.base import Inlet
from rejoinder.channels.telegram.albums import gather
from rejoinder.channels.telegram.cursor import Cursor, read_cursor, write_cursor
from rejoinder.channels.telegram.moved_chats import MovedChats
from rejoinder.channels.telegram.parse import BotIdentity, join, parse
from rejoinder.channels.telegram.presses import Presses, answerable
from rejoinder.channels.telegram.repair import repaired
from rejoinder.channels.telegram.wire import Update
from rejoinder.crashpoint import crashpoint
from rejoinder.events import Inbound

log = logging.getLogger(__name__)

_update = msgspec.json.Decoder(Update)


class _Numbered(Struct, frozen=True):
    update_id: int


_numbered = msgspec.json.Decoder(_Numbered)


def read(raw: bytes | Raw) -> Update:
    """Raises ValueError only for what is not an update at all."""
    try:
        return _update.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        sound = repaired(bytes(raw))
    try:
        return _update.decode(sound)
    except msgspec.DecodeError as problem:
        number = _numbered.decode(sound).update_id
        log.warning("update %s is not what Telegram documents (%s); it is skipped", number, problem)
        return Update(number)


class Intake:
    def __init__(self, me: BotIdentity, presses: Presses, deliver: Inlet, moves: MovedChats) -> None:
        self._me = me
        self._presses = presses
        self._deliver = deliver
        self._moves = moves

    async def resume(self) -> Cursor:
        """The cursor that was stored last."""
        cursor = read_cursor(await self._deliver.cursor())
        self._moves.recall(cursor.moved)
        return cursor

    async def take(self, updates: Sequence[Update], cursor: Cursor | None) -> None:
        """Returns when they are durable. Then button presses are acknowledged to Telegram; in a group only once it is
        decided what to tell the person. With None the cursor does not move."""
        if self._moves.heard(updates) and cursor is None:
            cursor = Cursor()
        messages = [heard for members in gather(updates) if (heard := self._hear(members)) is not None]
        crashpoint("K2")
        kept = None if cursor is None else write_cursor(replace(cursor, moved=self._moves.known))
        await self._deliver(*messages, cursor=kept)
        if pressed := [update.callback_query.id for update in updates if update.callback_query is not None]:
            waiting = {heard.reply_context.token for heard in messages if heard.reply_context is not None}
            await asyncio.gather(*(self._presses.notice(query) for query in pressed if query not in waiting))

    def _hear(self, members: Sequence[Update]) -> Inbound | None:
        heard = self._parse(members[0]) if len(members) == 1 else self._join(members)
        return heard if heard is None else self._moves.known_by_former(heard)

    def _join(self, members: Sequence[Update]) -> Inbound | None:
        parsed = [heard for member in members if (heard := self._parse(member)) is not None]
        parsed.sort(key=lambda member: int(member.message_id))  # in the order of the chat
        return join(parsed) if parsed else None

    def _parse(self, update: Update) -> Inbound | None:
        heard, query = parse(update, self._me), update.callback_query
        return heard if heard is None or query is None else answerable(heard, query.id, datetime.now(UTC))
