"""What one process finds of an account, and others read."""

import asyncio
from datetime import UTC, datetime

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.account_notices import AccountNotices
from rejoinder.runtime.account_pace import AccountPace, AccountPaces
from rejoinder.store.base import PutFact
from rejoinder.testing import FakeMessenger
from tests.crash.virtual_time import VirtualTime

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Facts:
    """As much of a store as notices of accounts need. It fails as often as it is told."""

    def __init__(self, faults: int = 0) -> None:
        self.rows: dict[str, bytes] = {}
        self.faults = faults

    async def write(self, verb: PutFact) -> None:
        if self.faults:
            self.faults -= 1
            raise StoreUnavailable("away", "here")
        if verb.body is None:
            self.rows.pop(verb.key, None)
        else:
            self.rows[verb.key] = verb.body

    async def facts(self, scope: str) -> dict[str, bytes]:
        return dict(self.rows)


def process(store: Facts, name: str) -> tuple[AccountNotices, AccountPaces, AccountPace]:
    paces = AccountPaces()
    paces.share(0.5)
    account = paces.of("fake", "default", lambda changed: AccountPace(FakeMessenger(), None, None, changed))
    return AccountNotices(store, paces, lambda: NOW, name), paces, account


def test_a_refusal_that_the_store_did_not_take_is_told_the_next_time():
    """SC-16: the platform has refused an account while the store was away; the others hear of it when it is back."""

    async def main() -> None:
        store = Facts(faults=2)
        (notices, paces, account), (others, _, elsewhere) = process(store, "one"), process(store, "other")
        account.refuse("Unauthorized")
        async with asyncio.timeout(60):
            for _ in range(2):
                with pytest.raises(StoreUnavailable):
                    await notices.write()
            await notices.write()
        await others.read()
        assert elsewhere.trouble == "Unauthorized"
        assert not paces.take_changed()

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())
