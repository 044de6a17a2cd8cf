"""Those who are writing in one conversation: each gets its step, so that nobody's words hold up another's."""

import logging
from typing import Protocol

log = logging.getLogger(__name__)


class Drafts(Protocol):
    """A message that is being written; asked for a frame whenever the line is free."""

    async def work(self) -> float | None:
        """Makes one call, or says in how many seconds there will be one to make; None: there is none."""
        ...


class Writing:
    def __init__(self, where: str) -> None:
        self._where = where
        self._turns: list[Drafts] = []

    def __bool__(self) -> bool:
        return bool(self._turns)

    def __contains__(self, drafts: Drafts) -> bool:
        return drafts in self._turns

    def join(self, drafts: Drafts) -> None:
        self._turns.append(drafts)

    def leave(self, drafts: Drafts) -> None:
        if drafts in self._turns:
            self._turns.remove(drafts)

    async def work(self) -> float | None:
        """One step of one draft, 0.0; or in how many seconds there will be one; None: there is none."""
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

    async def _draft(self, drafts: Drafts) -> float | None:
        try:
            return await drafts.work()
        except Exception:  # a channel may be anybody's code; the answer itself does not depend on it
            log.exception("%s failed at a draft", self._where)
            self.leave(drafts)
            return None
