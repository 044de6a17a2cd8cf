"""White space around what was taken out (OD-33).

The reader keeps white space back until it knows what follows. When a directive was taken out of it, the lines
have to close again: a line that held only directives goes with its newline, and leaves at most one blank line;
inside a line one blank stays between words; the indentation of the line that follows is kept.
"""

BLANKS = " \t\r"


class Gap:
    """The white space between two visible characters, line by line, and where something was taken out of it."""

    __slots__ = ("_broken", "_first", "_first_cut", "_last", "_last_cut", "_middle", "_middle_cut")

    def __init__(self, before: str) -> None:
        self._first = ""  # blanks behind the text on the left, on its own line
        self._first_cut = False
        self._middle = ""  # the newline behind them, and whole blank lines
        self._middle_cut = False
        self._last = ""  # blanks before the text on the right, on its own line
        self._last_cut = False
        self._broken = False  # whether a line ended in here at all
        self.add(before)

    def __len__(self) -> int:
        return len(self._first) + len(self._middle) + len(self._last)

    def add(self, white: str) -> None:
        """More white space, as it was written."""
        *lines, rest = white.split("\n")
        for blanks in lines:
            self._blank(blanks)
            self.end_line("\n")
        self._blank(rest)

    def _blank(self, blanks: str) -> None:
        if self._broken:
            self._last += blanks
        else:
            self._first += blanks

    def end_line(self, newline: str) -> None:
        """A line ends; with an empty `newline` where one segment ends and the next begins."""
        if not self._broken:
            self._broken = True
            self._middle = newline
        elif self._last_cut:
            self._middle_cut = True
        else:
            self._middle += self._last + newline
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
        if not self.was_cut:
            return self._first + self._middle + self._last
        if not self._broken:
            return self._first[:1] if text_before else ""
        last = "" if self._last_cut else self._last
        if not text_before:
            return last
        middle = self._middle
        if self._middle_cut:
            newline, one, blank_lines = middle.partition("\n")
            middle = newline + one + ("\n" if "\n" in blank_lines else "")
        return ("" if self._first_cut else self._first) + middle + last
