"""White space around what was taken out (OD-33).

The reader keeps white space back until it knows what follows. When a directive was taken out of it, the lines
have to close again: a line that held only directives goes with its newline, and leaves at most one blank line;
inside a line one blank stays between words; the indentation of the line that follows is kept.
"""

import re

MOST_WHITE = 65_536
"""So much white space is kept back at most (OD-5)."""

_LINE_END = re.compile(r"\r?\n")


class Gap:
    """The white space between two visible characters, line by line, and where something was taken out of it."""

    __slots__ = ("_broken", "_first", "_first_cut", "_last", "_last_cut", "_middle", "_middle_cut")

    def __init__(self, before: str) -> None:
        self._first = ""  # blanks behind the text on the left, on its own line
        self._first_cut = False
        self._middle: list[str] = []  # the newline behind them, and whole blank lines
        self._middle_cut = False
        self._last = ""  # blanks before the text on the right, on its own line
        self._last_cut = False
        self._broken = False  # whether a line ended in here at all
        self.add(before)

    def add(self, white: str) -> None:
        """More white space, as it was written."""
        first, last = white.find("\n"), white.rfind("\n")
        if first < 0:
            self._blank(white)
            return
        self._blank(white[:first])
        self.end_line("\n")
        if last > first:
            self._middle.append(white[first + 1 : last + 1])  # whole blank lines, however many
        self._last = white[last + 1 :]

    def _blank(self, blanks: str) -> None:
        if self._broken:
            self._last += blanks
        else:
            self._first += blanks

    def end_line(self, newline: str) -> None:
        """A line ends; with an empty `newline` where one segment ends and the next begins."""
        blanks = self._last if self._broken else self._first
        if newline and blanks.endswith("\r"):
            blanks, newline = blanks[:-1], "\r" + newline
        if not self._broken:
            self._broken, self._first = True, blanks
            self._middle.append(newline)
        elif self._last_cut:
            self._middle_cut = True
        else:
            self._middle.append(blanks + newline)
        self._last, self._last_cut = "", False

    def cut(self) -> None:
        """A directive was taken out here."""
        if self._broken:
            self._last_cut = True
        else:
            self._first_cut = True

    @property
    def was_cut(self) -> bool:
        return self._first_cut or self._middle_cut or self._last_cut

    def close(self, *, text_before: bool) -> str:
        """The white space that stays, now that text follows."""
        middle = "".join(self._middle)
        if not self.was_cut:
            return self._first + middle + self._last
        if not self._broken:
            return self._first[:1] if text_before else ""
        last = "" if self._last_cut else self._last
        if not text_before:
            return last
        if self._middle_cut:
            middle = "".join(_LINE_END.findall(middle)[:2])
        return ("" if self._first_cut else self._first) + middle + last
