"""A thread that begins in a chat inherits the chat's transcript (IN-45)."""

from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import Inbound
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, SessionSettings, inherits_from
from rejoinder.store.base import AppendTranscript, Store


class Inheritance:
    def __init__(self, settings: SessionSettings, sessions: Sessions, store: Store) -> None:
        self._settings = settings
        self._sessions = sessions
        self._store = store

    def reconfigure(self, settings: RuntimeSettings) -> None:
        self._settings = settings.rules.settings.session

    async def claim(self, unit: WriteBatch, session: Session, inbound: Inbound, now: datetime) -> Session:
        """Adds the chat's transcript to the unit of a thread's first turn, and marks the session as having it."""
        parent = inherits_from(session, inbound, self._settings)
        if parent is None:
            return session
        chat = await self._sessions.find(parent, session.agent, now)
        past = await self._store.transcript(parent, chat.started)
        # Dated to the start of the session: entries older than a session do not belong to it.
        entries = tuple([replace(entry, at=session.started, turn=None) for entry in past])
        if entries:
            unit.add_all((AppendTranscript(session.key, entries),))
        return replace(session, inherited=True)
