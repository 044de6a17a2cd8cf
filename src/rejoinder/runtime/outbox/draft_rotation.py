"""The drafts being written in one conversation: they take turns, so that none holds up another."""

import logging
from typing import Protocol

from rejoinder.runtime.foreign_calls import guarded

log = logging.getLogger(__name__)


class DraftWriter(Protocol):
    """A message that is being written; the sender asks it for a frame whenever its line is free."""

    async def work(self) -> float | None:
        """Makes one call and returns 0.0, or returns the seconds until the next call; None if there is none to make."""
        ...


class DraftRotation:
    def __init__(self, where: str) -> None:
        self._where = where
        self._turns: list[DraftWriter] = []

    def __bool__(self) -> bool:
        return bool(self._turns)

    def __contains__(self, drafts: DraftWriter) -> bool:
        return drafts in self._turns

    def join(self, drafts: DraftWriter) -> None:
        self._turns.append(drafts)

    def leave(self, drafts: DraftWriter) -> None:
        if drafts in self._turns:
            self._turns.remove(drafts)

    async def work(self) -> float | None:
        """Takes one step of one draft and returns 0.0, or returns the seconds until the next step; None if there is
        none to take."""
        waits: list[float] = []
        for drafts in tuple(self._turns):
            seconds = await self._draft(drafts)
            if seconds == 0.0:
                if drafts in self._turns:
                    self._turns.remove(drafts)
                    self._turns.append(drafts)
                return seconds
            if seconds is not None:
                waits.append(seconds)
        return min(waits, default=None)

    async def _draft(self, drafts: DraftWriter) -> float | None:
        try:
            return await guarded(drafts.work())
        except Exception:  # a channel may be third-party code; the answer itself does not depend on its draft
            log.exception("%s failed while showing a draft", self._where)
            self.leave(drafts)
            return None
