"""What has to be read from history, and when nothing is missing any more: pure.

Rule 1: nothing is complete before the first gap was closed and read: what came while no gateway ran is read first.
Rule 2: a reading fills the gaps that opened before it began; one that opens meanwhile waits for the next reading.
Rule 3: as long as other sockets take a share of the events, ours cannot tell what they are given: history is read at
        every look, and once more when they are gone.
Rule 4: a process that hangs keeps its socket, and what it did not store is in no place that we know of if a chat was
        new. So the chats that Slack knows are read as well, unless nobody has ever listened before; where Slack did not
        list them, with the next reading.
"""

from msgspec import Struct


class HistoryPass(Struct, frozen=True):
    """One pass over history."""

    includes_new: bool
    """Whether it also reads chats from which nothing has come yet."""
    gaps: int | None = None
    """How many gaps had opened when it began; None: it fills none of them."""
    others: int = 0
    """How many other sockets there were then."""


class UnreadHistory:
    """`is_first`: nobody has ever listened before."""

    def __init__(self, *, is_first: bool) -> None:
        self.is_complete = False
        self._is_due = False
        self._gaps = 0
        self._others = 0
        self._owes_new = False
        self._is_first = is_first

    def open(self) -> None:
        """From here on something may be missed."""
        self._gaps += 1
        self.is_complete = False

    def close(self) -> None:
        """Everything comes again: what was missed can be read."""
        self._is_due = True

    def share(self, others: int) -> None:
        """So many other sockets take a share of the events now."""
        self._is_due = self._is_due or bool(self._others and not others)
        self._others = others

    @property
    def is_due(self) -> bool:
        """Whether history is to be read at once."""
        return self._is_due

    def next(self, *, has_missed: bool) -> HistoryPass | None:
        """The reading to begin now; None: there is nothing to read. `has_missed`: history has what we may not have."""
        if self._is_due:
            self._is_due = False
            return HistoryPass(not self._is_first or self._owes_new, self._gaps, self._others)
        if has_missed or self._others or self._owes_new:
            return HistoryPass(bool(self._others) or self._owes_new)
        return None

    def listed_new(self, *, is_known: bool) -> None:
        """Slack was asked which chats there are, and told them or not."""
        self._owes_new = not is_known

    def done(self, reading: HistoryPass) -> None:
        """It has ended; single places that could not be read are read again later."""
        if reading.gaps is not None:
            self._is_first = False
            self.is_complete = self.is_complete or reading.gaps == self._gaps

    def is_shared(self, reading: HistoryPass) -> bool:
        """Whether others took a share of the events when it began, or do now."""
        return bool(reading.others or self._others)
