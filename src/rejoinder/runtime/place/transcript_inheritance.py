"""A thread that begins in a chat inherits the chat's transcript (IN-45)."""

from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import Inbound
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, inherits_from
from rejoinder.store.base import AppendTranscript


class TranscriptInheritance:
    def __init__(self, services: Services, sessions: Sessions) -> None:
        self._settings = services.settings
        self._sessions = sessions
        self._store = services.store

    async def claim(self, batch: WriteBatch, session: Session, inbound: Inbound, now: datetime) -> Session:
        """Adds the chat's transcript to the batch of a thread's first turn, and marks the session as having it."""
        parent = inherits_from(session, inbound, self._settings.now.rules.settings.session)
        if parent is None:
            return session
        chat = await self._sessions.find(parent, session.agent, now)
        past = await self._store.transcript(parent, chat.started)
        # Dated to the start of the session: entries older than a session do not belong to it.
        entries = tuple([replace(entry, at=session.started, turn=None) for entry in past])
        if entries:
            batch.add_all((AppendTranscript(session.key, entries),))
        return replace(session, inherited=True)
