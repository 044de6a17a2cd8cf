"""Makes sure that all processes on a store agree on the settings that must be equal (SC-25; `turns.agreement` says
which). The first process records them. A process that is configured differently would look for chats in the wrong
place, so it claims nothing.

Rule 1: only one process at a time compares and records, under a named lease.
Rule 2: settings that decide where a chat lives can only be changed by `rejoinder store rehome`, while no process runs.
        Accounts may change once no process was running; what `/debug` has set is then gone.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from rejoinder.channels.base import Channel
from rejoinder.runtime.serving import account_of
from rejoinder.session import SessionSettings
from rejoinder.store.base import PutFact, SharedStore
from rejoinder.turns.agreement import ACCOUNTS, accounts_named, difference, homes_by

SCOPE: Final = "gateway/settings"
DEBUG: Final = "gateway/debug"
"""The scope of the rows that `/debug` has set."""
LEASE: Final = "settings"
RETRY_SECONDS: Final = 0.2


def accounts_of(channels: Iterable[Channel]) -> str:
    return accounts_named((each.name, account_of(each)) for each in channels)


class SettingsAgreement:
    def __init__(self, store: SharedStore, holder: str, session: SessionSettings, accounts: str) -> None:
        self._store = store
        self._holder = holder
        self._wanted = {**homes_by(session), ACCOUNTS: accounts}

    async def reach(self) -> str:
        """Why this process cannot work beside the others; empty if it can. Raises `StoreUnavailable`."""
        await self._store.renew(self._holder, (), claims=False)  # until then, others keep what they have
        while (lease := await self._store.claim_named(LEASE, self._holder)) is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(RETRY_SECONDS)
        try:
            return await self._compare()
        finally:
            await self._store.release(lease)

    async def _compare(self) -> str:
        known, others = await self._store.facts(SCOPE), await self._others()
        if differs := difference(known, self._wanted, others=others):
            return differs
        for key, value in self._wanted.items():
            if known.get(key) != value.encode():
                await self._store.write(PutFact(SCOPE, key, value.encode()))
        for key in () if others else await self._store.facts(DEBUG):
            await self._store.write(PutFact(DEBUG, key, None))
        return ""

    async def _others(self) -> bool:
        owners = await self._store.owners()
        return any(name != self._holder for name in (*owners.processes, *owners.fronts))
