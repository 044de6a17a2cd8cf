"""The stored state of each session: read once, changed by one caller at a time, written through.

Rule 1: a caller that changes a session holds its lock from the read to the commit, so no change is lost.
Rule 2: if a write fails, nothing is assumed about its outcome: the session is read again.
Rule 3: a session that cannot be read is put into quarantine, and a new one starts under its key: its users need not
        wait for a repair.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime

from rejoinder.errors import Superseded, Unreadable
from rejoinder.runtime.recent import Recent, RecentlyUsed
from rejoinder.session import Session
from rejoinder.store.base import PutSession, QuarantineSession, Store, StoredSession

log = logging.getLogger(__name__)


class HeldSession:
    """One session. `version` 0: none is stored yet, and `session` is one that would begin now."""

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

    def put_verbs(self, session: Session) -> tuple[PutSession, ...]:
        """The verbs that change the stored session to this one; none if it is already stored."""
        return () if session == self._session and self.version else (PutSession(session, self.version),)

    def mark_stored(self, session: Session) -> None:
        """The change has been written."""
        self.version += session != self._session or not self.version
        self._session = session

    def read_again(self) -> None:
        """The outcome of a write is unknown: the next caller reads what is stored."""
        self.loaded = False

    async def read(self, store: Store, now: datetime) -> None:
        kept = await self._kept(store, now)
        self._session, self.version = (kept.session, kept.version) if kept is not None else (None, 0)
        self.loaded = True

    async def _kept(self, store: Store, now: datetime) -> StoredSession | None:
        try:
            return await store.session(self.key)
        except Unreadable as problem:
            with suppress(Superseded):  # another reader has just quarantined it
                await store.write(QuarantineSession(self.key, now))
                log.error("%s starts as a new session; its stored state is quarantined: %s", self.key, problem)
            return await store.session(self.key)

    def begin(self, agent: str, now: datetime) -> None:
        """Makes it a new session that begins now."""
        self._session = Session(key=self.key, agent=agent, started=now, touched=now)


class SessionHold:
    """The block in which one session is held. It is a class and not a generator for speed, because every message enters
    two such blocks."""

    def __init__(self, held: HeldSession, store: Store, agent: str, now: datetime) -> None:
        self._held = held
        self._store = store
        self._agent = agent
        self._now = now

    async def __aenter__(self) -> HeldSession:
        held = self._held
        await held.changing.acquire()
        if not held.loaded:
            try:
                await held.read(self._store, self._now)
            except BaseException:
                held.changing.release()
                raise
        if not held.version:
            held.begin(self._agent, self._now)
        return held

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._held.read_again()
        self._held.changing.release()


class Sessions:
    def __init__(self, store: Store, recently_used: RecentlyUsed) -> None:
        self._store = store
        self._held = Recent(HeldSession, recently_used)
        self.forget = self._held.forget

    async def find(self, key: str, agent: str, now: datetime) -> Session:
        """The session with this key; if there is none, one that would begin now."""
        held = self._held.get(key)
        if not held.loaded:
            await held.read(self._store, now)
        return Session(key=key, agent=agent, started=now, touched=now) if held.is_new else held.session

    def changing(self, key: str, agent: str, now: datetime) -> SessionHold:
        return SessionHold(self._held.get(key), self._store, agent, now)
