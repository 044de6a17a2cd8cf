"""What each session remembers, as the store keeps it: read once, changed by one at a time, written through.

Rule 1: who changes a session holds it from the reading to the commit, so no change is lost.
Rule 2: when a write does not come back, nothing is assumed: the session is read again.
Rule 3: one that cannot be read is put aside, and its conversation begins anew: nobody waits for a repair.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime

from rejoinder.errors import Superseded, Unreadable
from rejoinder.runtime.sending.recent import Recent
from rejoinder.session import Session
from rejoinder.store.base import KeptSession, PutSession, SetSessionAside, Store

log = logging.getLogger(__name__)

KEPT = 10_000


class Held:
    """One session. `version` 0: there is none yet, `session` is one that would begin now."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.version = 0
        self.loaded = False
        self.changing = asyncio.Lock()
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        assert self._session is not None, "it is read before it is looked at"
        return self._session

    @property
    def is_new(self) -> bool:
        return self.version == 0

    def becomes(self, session: Session) -> tuple[PutSession, ...]:
        """What has to be written for that; nothing when it is so already."""
        return () if session == self._session and self.version else (PutSession(session, self.version),)

    def became(self, session: Session) -> None:
        """It has been written."""
        self.version += session != self._session or not self.version
        self._session = session

    async def read(self, store: Store, now: datetime) -> None:
        if not self.loaded:
            kept = await self._kept(store, now)
            self._session, self.version = (kept.session, kept.version) if kept is not None else (None, 0)
            self.loaded = True

    async def _kept(self, store: Store, now: datetime) -> KeptSession | None:
        try:
            return await store.session(self.key)
        except Unreadable as problem:
            with suppress(Superseded):  # somebody else reads it at this very moment
                await store.write(SetSessionAside(self.key, now))
                log.error("%s begins anew, and what was kept of it was put aside: %s", self.key, problem)
            return await store.session(self.key)

    def begin(self, agent: str, now: datetime) -> None:
        if self.is_new:
            self._session = Session(key=self.key, agent=agent, started=now, touched=now)


class Changing:
    """The block in which one session is held; written out, for every message passes two of them."""

    def __init__(self, held: Held, store: Store, agent: str, now: datetime) -> None:
        self._held = held
        self._store = store
        self._agent = agent
        self._now = now

    async def __aenter__(self) -> Held:
        held = self._held
        await held.changing.acquire()
        try:
            await held.read(self._store, self._now)
        except BaseException:
            held.changing.release()
            raise
        held.begin(self._agent, self._now)
        return held

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._held.loaded = False
        self._held.changing.release()


class Sessions:
    def __init__(self, store: Store, kept: int = KEPT) -> None:
        self._store = store
        self._held = Recent(Held, kept)

    async def find(self, key: str, agent: str, now: datetime) -> Session:
        """The session of this name; one that would begin now when there is none."""
        held = self._held.get(key)
        await held.read(self._store, now)
        return Session(key=key, agent=agent, started=now, touched=now) if held.is_new else held.session

    def changing(self, key: str, agent: str, now: datetime) -> Changing:
        return Changing(self._held.get(key), self._store, agent, now)
