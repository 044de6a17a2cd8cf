"""What is code in a line of Markdown: fences and back-tick spans, found without looking ahead (OD-36).

Rule 1: it is known at the end of a line, at the latest, whether a back-tick span closes.
Rule 2: nothing here holds text back; the reader does, and only from a `<` onwards.
"""

import re

QUIET_TICKS = r"`(?P<quiet>`?)(?!`)(?:[^`\n]{0,99}`(?P=quiet)(?=[^`])|(?=[^`\n]{0,99}\n))"
"""A pattern for one or two back-ticks on a line without open ones, if what follows soon settles them: either the equal
run that closes them (then it matches the whole span) or the end of the line. No state is left to remember."""

_LIST_MARKER = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]+")


class Fence:
    """An open code fence."""

    __slots__ = ("_anywhere", "run")

    def __init__(self, character: str, length: int, *, in_list: bool) -> None:
        self.run = character * length
        self._anywhere = in_list  # the closing fence in a list item is indented like the item's text

    def closes(self, line: str) -> bool:
        """Whether this whole line is the closing fence."""
        if self.run not in line:
            return False
        bare = line.strip(" \t\r")
        indent = len(line) - len(line.lstrip(" "))
        return bare == self.run[0] * len(bare) and (self._anywhere or indent < 4)


def fence_may_open(prefix: str) -> bool:
    """Whether a fence may open after this beginning of a line (without its indentation)."""
    return not prefix or _LIST_MARKER.fullmatch(prefix) is not None


class Ticks:
    """The back-tick runs of one line.

    A run opens a span that the next run of equal length on the line closes; a run that is never closed is text,
    and then the runs after it count. So the open runs form a stack, all of different lengths: a run as long as
    one of them closes it together with everything opened since; any other run is pushed on top. What is left at
    the end of the line was never closed.
    """

    __slots__ = ("_starts", "fence", "open", "spans")

    def __init__(self) -> None:
        self.open: list[int] = []
        """The lengths of the open runs."""
        self._starts: list[int] = []
        self.spans: list[tuple[int, int]] = []
        self.fence = 0
        """Length of a run that opens a fence, if the line has no further run."""

    def run(self, length: int, start: int, end: int, *, fence: bool) -> None:
        self.fence = length if fence else 0
        if length not in self.open:
            self.open.append(length)
            self._starts.append(start)
            return
        depth = self.open.index(length)
        opened = self._starts[depth]
        del self.open[depth:], self._starts[depth:]
        while self.spans and self.spans[-1][0] >= opened:
            self.spans.pop()
        if depth:
            self.spans.append((opened, end))
        else:
            self.spans.clear()

    def end_line(self) -> list[tuple[int, int]]:
        """Forgets the line and returns the closed spans among its unclosed runs."""
        spans = self.spans
        self.open, self._starts, self.spans, self.fence = [], [], [], 0
        return spans
