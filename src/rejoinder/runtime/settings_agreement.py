"""What all processes on a store have to agree on (SC-25): which chats share a session, and so a home, and which
accounts there are. The first one records it; one that is configured otherwise would look for chats in the wrong place,
so it claims nothing.

Rule 1: one process at a time compares and records, under a lease of its name.
Rule 2: what decides where a chat lives is changed by `rejoinder store rehome`, while none runs. Accounts may be others
        after a time in which no process ran; what `/debug` has set is gone then.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from rejoinder.channels.base import Channel
from rejoinder.runtime.serving import account_of
from rejoinder.session import SessionSettings
from rejoinder.store.base import KeepFact, SharedStore

SCOPE: Final = "gateway/settings"
DEBUG: Final = "gateway/debug"
"""Where the rows are of what `/debug` has set."""
LEASE: Final = "settings"
ACCOUNTS: Final = "channels"
A_TRY: Final = 0.2


def homes_by(session: SessionSettings) -> dict[str, str]:
    """The settings that decide where a chat lives, by their keys."""
    links = {name: sorted(entries) for name, entries in sorted(session.identity_links.items())}
    return {
        "session.scope": _written(session.scope),
        "session.group_scope": _written(session.group_scope),
        "session.main_key": _written(session.main_key),
        "session.identity_links": _written(links),
    }


def accounts_of(channels: Iterable[Channel]) -> str:
    return accounts_named((each.name, account_of(each)) for each in channels)


def accounts_named(accounts: Iterable[tuple[str, str]]) -> str:
    """Channels and their accounts, as they are recorded."""
    return _written(sorted(f"{channel}/{account}" for channel, account in accounts))


def _written(value: object) -> str:
    return msgspec.json.encode(value).decode()


def difference(recorded: Mapping[str, bytes], here: Mapping[str, str], *, others: bool) -> str:
    """Which setting keeps a process from working on a store, by what is recorded there; empty: none. `others`: whether
    other processes run on it."""
    for key, value in here.items():
        known = recorded[key].decode() if key in recorded else value
        if key == ACCOUNTS and known != value and others:
            return (
                f"channels: the accounts are {value} here, but {known} in other gateways on this store, so this one "
                "answers no chats. Stop all of them and start them with the same configuration"
            )
        if key != ACCOUNTS and known != value:
            return (
                f"{key} is {value} here, but {known} in the store, so this gateway answers no chats. `rejoinder "
                "store rehome` applies the change, while no gateway runs"
            )
    return ""


class SettingsAgreement:
    def __init__(self, store: SharedStore, holder: str, session: SessionSettings, accounts: str) -> None:
        self._store = store
        self._holder = holder
        self._wanted = {**homes_by(session), ACCOUNTS: accounts}

    async def reach(self) -> str:
        """Why this process cannot work beside the others; empty: it can. Raises `StoreUnavailable`."""
        await self._store.renew(self._holder, (), claims=False)  # until it is known, others keep what they have
        while (lease := await self._store.claim_named(LEASE, self._holder)) is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(A_TRY)
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
                await self._store.write(KeepFact(SCOPE, key, value.encode()))
        for key in () if others else await self._store.facts(DEBUG):
            await self._store.write(KeepFact(DEBUG, key, None))
        return ""

    async def _others(self) -> bool:
        owners = await self._store.owners()
        return any(name != self._holder for name in (*owners.processes, *owners.fronts))
