"""One of possibly several processes on a store: notices what others have written. If the store is shared, it also keeps
this process's leases, claims free shards and gives up those beyond its share (SC-5, SC-10, SC-12)."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from random import uniform
from typing import Final, Literal

from rejoinder.channels.base import CanPrepareToSend, Channel, FollowsLog, SharesLiveUpdates
from rejoinder.errors import StoreUnavailable
from rejoinder.runtime.account_notices import AccountNotices
from rejoinder.runtime.account_pace import AccountPaces
from rejoinder.runtime.gateway import Engines
from rejoinder.runtime.ownership.database_clock import DatabaseClock
from rejoinder.runtime.ownership.duties import Duties
from rejoinder.runtime.ownership.lease_renewer import LeaseRenewer
from rejoinder.runtime.place.restarting import Restart, RestartCheck
from rejoinder.runtime.restart_turns import RestartTurns
from rejoinder.runtime.settings_agreement import SettingsAgreement, accounts_of
from rejoinder.runtime.tasks import Tasks
from rejoinder.session import SessionSettings
from rejoinder.store.base import AnyLease, Renewal, Shard, ShardOwners, SharedStore
from rejoinder.turns.balance import LOOK_SECONDS, MOVING_LOOK_SECONDS, pause_after

log = logging.getLogger(__name__)

INTRODUCTIONS: Final = 15.0
"""Seconds that a process waits for its platforms before it claims anything."""
BETWEEN_CHECKS: Final = 0.02
"""The part of a lease after which the deadlines are checked again."""
LIVE_PAUSE: Final = 0.1
"""Seconds between two live updates to other processes; everything that happens in between is sent together."""


ProcessRole = Literal["all", "front", "worker"]
"""A front listens and serves pages but claims no shards; a worker claims shards but does not listen or serve pages."""


class ClusterMember:
    def __init__(
        self, store: SharedStore, engines: Engines, clock: DatabaseClock, accounts: AccountPaces | None = None
    ) -> None:
        self._accounts = AccountNotices(store, accounts or AccountPaces(), clock, engines.holder)
        self._store = store
        self._engines = engines
        self.duties = Duties(store, engines.holder)
        """The work that one process does for all. It needs a lease only if the store is shared."""
        self._clock = clock
        self._role: ProcessRole = "all"
        self.is_shared = store.lease_seconds is not None
        self._told: list[Callable[[], None]] = []
        self.is_alone = False
        """Whether there was no other process at the last look."""
        self.disagrees = ""
        """Why this process claims nothing (SC-25)."""

    def tell(self, callback: Callable[[], None]) -> None:
        """From now on the callback is called when others may have written, after the engines are told."""
        self._told.append(callback)

    def follow(self) -> None:
        """From now on the engines of this process are told when others have written. If the store is shared, other
        listeners are told only at the next look: writes may be frequent, and looking is needed anyway."""
        self._store.on_external_change(self._engines.changed if self.is_shared else self._written)

    def _written(self, shards: frozenset[int]) -> None:
        self._engines.changed(shards)
        self._tell()

    def _tell(self) -> None:
        for callback in self._told:
            callback()

    async def join(
        self,
        role: ProcessRole,
        channels: Mapping[str, Channel],
        session: SessionSettings,
        tasks: Tasks,
        grace: float,
    ) -> None:
        """From now on this process plays this role (SC-24), with these tasks. Nothing is claimed before the channels
        know their own accounts, because mentions of us have to be recognised."""
        self._role = role
        accounts = accounts_of(channels.values())
        await self._agree(SettingsAgreement(self._store, self._engines.holder, session, accounts))
        await self.begin(tasks)
        self._share_live(channels.values(), tasks)
        known = [
            tasks.start(f"prepare_to_send:{name}", channel.prepare_to_send())
            for name, channel in channels.items()
            if isinstance(channel, CanPrepareToSend)
        ]
        if known:
            await asyncio.wait(known, timeout=INTRODUCTIONS)
        self._told += [each.poll_log for each in channels.values() if isinstance(each, FollowsLog)]
        tasks.start("own", self.own(grace))
        tasks.start("accounts", self._tell_accounts())

    def restart_in_turn(self, restart_check: RestartCheck, end: Callable[[Restart], None], tasks: Tasks) -> None:
        """From now on this process restarts when all processes are asked to."""
        turns = RestartTurns(self._store, self._engines.holder, restart_check, self._clock, end)
        tasks.start("restart", turns.run())

    async def _agree(self, agreement: SettingsAgreement) -> None:
        while True:
            try:
                self.disagrees = await agreement.reach()
            except StoreUnavailable as fault:
                log.debug("skipped for now: %s", fault)  # the store has logged it already
                await asyncio.sleep(LOOK_SECONDS)
                continue
            if self.disagrees:
                log.error("%s", self.disagrees)
            return

    @property
    def _claims(self) -> bool:
        return self._role != "front" and not self.disagrees

    async def begin(self, tasks: Tasks) -> None:
        """From now on other processes see this one. Its leases are renewed as long as these tasks run."""
        self.follow()
        await self._see_and_be_seen()
        seconds = self._store.lease_seconds
        assert seconds is not None, "a store that is shared has leases that run out"
        renewer = LeaseRenewer(
            self._store, self._engines.holder, self._leases, self._renewed, claims=self._claims, seconds=seconds
        )
        tasks.start("renew", renewer.run())
        tasks.start("deadlines", self._watch_deadlines(seconds))

    async def _watch_deadlines(self, seconds: float) -> None:
        """Ends what has an expired lease, even if it is idle and the store does not answer (SC-3)."""
        while True:
            self._engines.look_at_deadlines()
            self.duties.look_at_deadlines()
            await asyncio.sleep(seconds * BETWEEN_CHECKS)

    async def _see_and_be_seen(self) -> None:
        try:
            self._renewed(0.0, (), await self._store.renew(self._engines.holder, (), claims=self._claims))
        except StoreUnavailable as fault:
            log.debug("skipped for now: %s", fault)  # the store has logged it already

    def _leases(self) -> tuple[AnyLease, ...]:
        return *self._engines.leases, *self.duties.leases

    def _renewed(self, sent: float, asked: tuple[AnyLease, ...], renewal: Renewal) -> None:
        self._clock.told(renewal.now)
        self._engines.renewed(sent, asked, renewal)
        self.duties.renewed(sent, asked, renewal)

    async def own(self, grace: float) -> None:
        """Claims and gives up shards, notices lost ones, and looks for what others have written, until it is
        cancelled."""
        pause, before = LOOK_SECONDS, tuple[Shard, ...]()
        while True:
            try:
                owners = await self._look(grace)
                pause = pause_after(pause, owners, claims=self._claims, moved=owners.shards != before)
                before = owners.shards
            except StoreUnavailable as fault:
                log.debug("skipped for now: %s", fault)  # the store has logged it already
                pause = LOOK_SECONDS
            await asyncio.sleep(
                pause + uniform(0.0, MOVING_LOOK_SECONDS)
            )  # so that processes started together do not look at the same time

    async def _tell_accounts(self) -> None:
        while True:
            try:
                await self._accounts.write()
            except StoreUnavailable as fault:
                log.debug("skipped for now: %s", fault)  # the store has logged it already
                await asyncio.sleep(LOOK_SECONDS)

    async def _look(self, grace: float) -> ShardOwners:
        """Returns the owners it saw."""
        owners = await self._store.owners()
        if not self.disagrees:
            self.duties.look(owners)
        self.is_alone = len(owners.processes) + len(owners.fronts) < 2
        if self._claims:
            await self._engines.balance(owners, grace)
        await self._engines.look_for_work()
        await self._accounts.read()
        self._tell()
        return owners

    # --- live updates ---------------------------------------------------------------------------------

    def _share_live(self, channels: Iterable[Channel], tasks: Tasks) -> None:
        sharing = {each.name: each for each in channels if isinstance(each, SharesLiveUpdates)}

        def heard(channel: str, said: str) -> None:
            if (here := sharing.get(channel)) is not None:
                here.receive_live_update(said)

        for channel in sharing.values():
            channel.begin_sharing_live()
            tasks.start(f"live:{channel.name}", self._relay(channel))
        if sharing:
            self._store.on_live(heard)

    async def _relay(self, channel: SharesLiveUpdates) -> None:
        """Sends this channel's live updates to other processes, until it is cancelled (SC-14)."""
        while True:
            news = await channel.next_live_updates()
            if not self.is_alone:
                await self._store.tell_live(channel.name, news)
            await asyncio.sleep(LIVE_PAUSE)
