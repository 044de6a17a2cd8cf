"""Where sessions are kept between messages. In memory here; the store keeps them for good, behind the same door."""

from datetime import datetime
from typing import Protocol

from rejoinder.session import Session


class Sessions(Protocol):
    async def find(self, key: str, agent: str, now: datetime) -> Session:
        """The session of this name; one that begins now when there is none."""
        ...

    async def save(self, session: Session) -> None: ...

    async def saved_as(self, key: str) -> str | None:
        """The agent's own name for the session (`SessionOpened.saved`), under which it can be continued."""
        ...

    async def save_as(self, key: str, saved: str | None) -> None: ...


class MemorySessions:
    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._saved: dict[str, str] = {}

    async def find(self, key: str, agent: str, now: datetime) -> Session:
        return self._sessions.get(key) or Session(key=key, agent=agent, started=now, touched=now)

    async def save(self, session: Session) -> None:
        self._sessions[session.key] = session

    async def saved_as(self, key: str) -> str | None:
        return self._saved.get(key)

    async def save_as(self, key: str, saved: str | None) -> None:
        if saved is None:
            self._saved.pop(key, None)
        else:
            self._saved[key] = saved
