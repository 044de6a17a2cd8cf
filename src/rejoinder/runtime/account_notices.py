"""Tells other processes, by rows, why an account cannot be used (SC-16): the platform has told it to wait, or has
refused it. The first process to find out writes the row; the others read it at their next look."""

from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.account_pace import AccountPaces, AccountStanding
from rejoinder.runtime.ownership.database_clock import DatabaseClock
from rejoinder.store.base import PutFact, SharedStore

SCOPE: Final = "gateway/accounts"
KEPT_FOR: Final = timedelta(minutes=2)
"""How long a row is valid, so that rows of dead processes expire; a refused account is tried each minute."""


class AccountRow(Struct, frozen=True):
    until: datetime
    trouble: str
    by: str
    """The process that wrote it."""


class AccountNotices:
    def __init__(self, store: SharedStore, accounts: AccountPaces, clock: DatabaseClock, holder: str) -> None:
        self._store = store
        self._accounts = accounts
        self._clock = clock
        self._holder = holder

    async def write(self) -> None:
        """Waits for a change in this process and writes it. If the write fails, it is repeated the next time."""
        await self._accounts.news.wait()
        self._accounts.news.clear()
        changed = self._accounts.take_changed()
        try:
            for (channel, account), pace in self._accounts:
                if (channel, account) in changed:
                    await self._store.write(PutFact(SCOPE, _key(channel, account), self._row(pace.standing())))
        except StoreUnavailable:
            self._accounts.note(changed)
            raise

    def _row(self, standing: AccountStanding | None) -> bytes | None:
        if standing is None:
            return None
        until = self._clock() + timedelta(seconds=standing.seconds)
        return msgspec.json.encode(AccountRow(until, standing.trouble, self._holder))

    async def read(self) -> None:
        rows, now = await self._store.facts(SCOPE), self._clock()
        heard: dict[tuple[str, str], AccountStanding] = {}
        for key, body in rows.items():
            row = msgspec.json.decode(body, type=AccountRow)
            if row.by != self._holder and now < row.until + KEPT_FOR:
                channel, account = msgspec.json.decode(key, type=tuple[str, str])
                heard[channel, account] = AccountStanding(max(0.0, (row.until - now).total_seconds()), row.trouble)
        self._accounts.hear(heard)


def _key(channel: str, account: str) -> str:
    return msgspec.json.encode((channel, account)).decode()
