"""Decides what has to be read from history, and knows when nothing is missing any more: pure.

Rule 1: nothing is complete before the first gap was closed and read: messages from while no gateway ran are read first.
Rule 2: a pass fills the gaps that opened before it began; a gap that opens meanwhile waits for the next pass.
Rule 3: while other sockets take a share of the events, we cannot know what they are given: history is read again and
        again, and once more when they are gone.
Rule 4: a process that hangs keeps its socket, and may have been given messages of a chat that is new to us. So the
        chats that Slack lists are read as well, unless no gateway has ever listened before; if Slack does not list
        them, that is done with the next pass.
"""

from msgspec import Struct


class HistoryPass(Struct, frozen=True):
    """One pass over history."""

    includes_new: bool
    """Whether it also reads chats from which nothing has come yet."""
    gaps: int | None = None
    """How many gaps had opened when it began; None: it fills no gap."""
    others: int = 0
    """How many other sockets there were when it began."""


class UnreadHistory:
    """`is_first`: no gateway has ever listened before."""

    def __init__(self, *, is_first: bool) -> None:
        self.is_complete = False
        self._is_due = False
        self._gaps = 0
        self._others = 0
        self._owes_new = False
        self._is_first = is_first

    def open(self) -> None:
        """From now on messages may be missed."""
        self._gaps += 1
        self.is_complete = False

    def close(self) -> None:
        """Events arrive again, so what was missed can be read."""
        self._is_due = True

    def share(self, others: int) -> None:
        """Sets how many other sockets take a share of the events now."""
        self._is_due = self._is_due or bool(self._others and not others)
        self._others = others

    @property
    def is_due(self) -> bool:
        """Whether history has to be read now."""
        return self._is_due

    def next(self, *, has_missed: bool) -> HistoryPass | None:
        """The pass to begin now; None: there is nothing to read. `has_missed`: history may have messages we do not
        have."""
        if self._is_due:
            self._is_due = False
            return HistoryPass(not self._is_first or self._owes_new, self._gaps, self._others)
        if has_missed or self._others or self._owes_new:
            return HistoryPass(bool(self._others) or self._owes_new)
        return None

    def listed_new(self, *, is_known: bool) -> None:
        """Notes whether Slack has listed the chats that there are."""
        self._owes_new = not is_known

    def done(self, reading: HistoryPass) -> None:
        """Notes that a pass has ended; single places that could not be read are read again later."""
        if reading.gaps is not None:
            self._is_first = False
            self.is_complete = self.is_complete or reading.gaps == self._gaps

    def is_shared(self, reading: HistoryPass) -> bool:
        """Whether other sockets took a share of the events when it began, or do so now."""
        return bool(reading.others or self._others)
