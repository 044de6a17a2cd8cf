"""What all processes on a store have to agree on (SC-25): which chats share a session, and so a home, and which
accounts there are. The first one records it; one that is configured otherwise would look for chats in the wrong place,
so it claims nothing.

Rule 1: one process at a time compares and records, under a lease of its name.
Rule 2: what decides where a chat lives is changed by `rejoinder store rehome`, while none runs. Accounts may be others
        after a time in which no process ran.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

import msgspec

from rejoinder.channels.base import Channel
from rejoinder.runtime.serving import account_of
from rejoinder.session import SessionSettings
from rejoinder.store.base import KeepFact, SharedStore

SCOPE: Final = "gateway/settings"
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
    return _written(sorted(f"{each.name}/{account_of(each)}" for each in channels))


def _written(value: object) -> str:
    return msgspec.json.encode(value).decode()


class Agreement:
    def __init__(self, store: SharedStore, holder: str, session: SessionSettings, accounts: str) -> None:
        self._store = store
        self._holder = holder
        self._homes = homes_by(session)
        self._accounts = accounts

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
        known = {key: body.decode() for key, body in (await self._store.facts(SCOPE)).items()}
        for key, here in self._homes.items():
            if key in known and known[key] != here:
                return (
                    f"{key} is {here} here, and {known[key]} in the store: this process claims nothing. `rejoinder "
                    "store rehome` applies the change, while no gateway runs"
                )
        if ACCOUNTS in known and known[ACCOUNTS] != self._accounts and await self._others():
            return (
                f"channels: the accounts are {self._accounts} here, and {known[ACCOUNTS]} where other gateways run: "
                "this process claims nothing. Stop all of them and start them with the same configuration"
            )
        wanted = {**self._homes, ACCOUNTS: self._accounts}
        for key, value in wanted.items():
            if known.get(key) != value:
                await self._store.write(KeepFact(SCOPE, key, value.encode()))
        return ""

    async def _others(self) -> bool:
        owners = await self._store.owners()
        return any(name != self._holder for name in (*owners.processes, *owners.fronts))
