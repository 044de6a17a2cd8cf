"""Accepts messages: each is stored for its home, whichever process owns that.

The owner of the home decides it; another process finds the row in the store.
"""

from collections.abc import Callable
from datetime import datetime

from rejoinder.events import Inbound, MessageReceived
from rejoinder.runtime.engine import Engine
from rejoinder.runtime.gateway import Engines
from rejoinder.runtime.hooks import Hooks
from rejoinder.runtime.live import Live
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.session import deciding_home, home, shard_of
from rejoinder.store.base import Accept, HookEvent, InboxEvent, RecordChanges, SharedStore, StoredCursor


class InboxIntake:
    def __init__(
        self,
        engines: Engines,
        store: SharedStore,
        settings: Live[RuntimeSettings],
        clock: Callable[[], datetime],
        hooks: Hooks,
    ) -> None:
        self._engines = engines
        self._store = store
        self._settings = settings
        self._clock = clock
        self._hooks = hooks

    async def accept(
        self, *messages: Inbound, cursor: StoredCursor | None = None, places: tuple[StoredCursor, ...] = ()
    ) -> None:
        """Called by channels; returns when the messages are durable, not when they are answered (DU-1).

        Deciding starts while they are being written, so the decision is usually part of the same commit.
        """
        await self._accept(self._acceptance(messages, cursor, places), None)

    async def record(self, change: RecordChanges, *messages: Inbound) -> int:
        """Like `accept`, in one transaction with a change of the room log, whose result is returned. People may write
        before channels listen: those messages are decided after recovery."""
        return await self._accept(self._acceptance(messages), change)

    def _acceptance(
        self, messages: tuple[Inbound, ...], cursor: StoredCursor | None = None, places: tuple[StoredCursor, ...] = ()
    ) -> Accept:
        session = self._settings.now.rules.settings.session
        homes = tuple([deciding_home(message, session) for message in messages])
        tells: tuple[tuple[HookEvent, ...], ...] = ()
        if self._hooks.over_http.now:
            tells = tuple([self._hooks.rows(MessageReceived(message)) for message in messages])
        return Accept(messages, self._clock(), cursor, places, homes, tells)

    async def _accept(self, accept: Accept, change: RecordChanges | None) -> int:
        first, waits = 0, change is not None
        taken: list[tuple[Engine, InboxEvent]] = []

        def take(events: tuple[InboxEvent, ...]) -> None:
            if self._is_shared:
                return
            for event in events:
                engine = self._taking(event, waits=waits)
                if engine is not None and engine.may_decide_early(event):
                    taken.append((engine, event))
                    engine.decide(event)

        try:
            if change is None:
                events = await self._store.write(accept, on_result=take)
            else:
                events, first = await self._store.write(accept, change, on_result=take)
        except Exception:
            for engine, event in taken:
                engine.forget(event)
            raise
        early = {event.id for _, event in taken} if len(taken) != len(events) else None  # None: all of them
        for event in events:
            if self._hooks.wants(MessageReceived):
                self._hooks.tell(MessageReceived(event.inbound), kept=True)
            if early is not None and event.id not in early:
                self._hand(event, waits=waits)
        return first

    async def suggest(self, typed: Inbound, option: str) -> tuple[str, ...]:
        """Suggests values for an option of a command that is being typed. Nothing is stored, so any engine can
        answer."""
        shard = shard_of(home(typed, self._settings.now.rules.settings.session), self._store.shards)
        engine = self._engines.of(shard) or next(iter(self._engines), None)
        return () if engine is None else await engine.suggest(typed, option)

    @property
    def _is_shared(self) -> bool:
        """Whether other processes accept messages too. If so, every message is read from the store, in the store's
        order."""
        return self._store.lease_seconds is not None

    def _taking(self, event: InboxEvent, *, waits: bool) -> Engine | None:
        """The engine that takes the event now. `waits`: only if the engine has recovered."""
        engine = self._engines.of(event.shard)
        return None if engine is None or (waits and not engine.is_recovered) else engine

    def _hand(self, event: InboxEvent, *, waits: bool) -> None:
        if self._is_shared:
            if (owner := self._engines.of(event.shard)) is not None:
                owner.arrived()
        elif (engine := self._taking(event, waits=waits)) is not None:
            engine.take(event)
        elif (recovering := self._engines.of(event.shard)) is not None:
            recovering.changed()
