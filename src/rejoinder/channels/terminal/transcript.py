"""The rows above the prompt that may still change.

Rule 1: blocks keep the order in which they began; only the top one can move to the scrollback, and it never comes back.
Rule 2: a block that is being written stays as long as it fits, so it can still be taken back; lines that no longer fit
        move to the scrollback one by one.
Rule 3: it does not use the terminal: it is given a width and a height and returns rows.
"""

from rejoinder.channels.terminal.clean import clean
from rejoinder.channels.terminal.layout import Row, lay_out, wrap

LONGEST_LINE = 1000  # a longer text is laid out in parts, so that adding a piece never lays out a megabyte again
LONGEST_OPENING = 200
INDENT = "   "
TAB = "    "


class _Line:
    def __init__(self) -> None:
        self.text = ""
        self.growing = True
        self._drawn: tuple[int, str, int, bool] | None = None
        self._rows: list[Row] = []
        self._fence = ""

    @property
    def shown(self) -> str:
        return clean(self.text).replace("\t", TAB).removesuffix("␍")

    def rows(self, fence: str, width: int) -> tuple[list[Row], str]:
        if self._drawn != (drawn := (width, fence, len(self.text), self.growing)):
            self._rows, self._fence = lay_out(self.shown, fence, width, growing=self.growing)
            self._drawn = drawn
        return self._rows, self._fence


class ScreenBlock:
    """A message, or a note: a head, and text that may still grow."""

    def __init__(self, head: Row, text: str = "", *, complete: bool = True) -> None:
        self.complete = False
        self.left = False  # part of it is in the scrollback already
        self.opening = ""  # its first words, for quoting it
        self._head: Row | None = head
        self._fence = ""  # the code fence that is open where the text begins
        self._lines: list[_Line] = []
        self.append(text)
        if complete:
            self.finish()

    def append(self, text: str) -> None:
        self.opening += text[: LONGEST_OPENING - len(self.opening)]
        first, *rest = text.split("\n")
        if first:
            self._grow(first)
        for line in rest:
            if not self._lines or not self._lines[-1].growing:
                self._lines.append(_Line())
            self._lines[-1].growing = False
            if line:
                self._grow(line)

    def _grow(self, text: str) -> None:
        at = 0
        while at < len(text):
            if self._lines and len(self._lines[-1].text) == LONGEST_LINE:
                self._lines[-1].growing = False
            if not self._lines or not self._lines[-1].growing:
                self._lines.append(_Line())
            line = self._lines[-1]
            room = LONGEST_LINE - len(line.text)
            line.text += text[at : at + room]
            at += room

    def finish(self) -> None:
        self.complete = True
        while self._lines and not self._lines[-1].shown.strip():
            self._lines.pop()
        if self._lines:
            self._lines[-1].growing = False

    def rows(self, width: int) -> list[Row]:
        rows = [] if self._head is None else _head_rows(self._head, width)
        fence = self._fence
        for line in self._lines:
            laid, fence = line.rows(fence, width - len(INDENT))
            rows += [[("", INDENT), *row] for row in laid]
        return rows

    def release(self, width: int) -> list[Row]:
        """Removes and returns the rows of the top line: the head first, then text that cannot change any more."""
        if self._head is not None:
            rows, self._head, self.left = _head_rows(self._head, width), None, True
            return rows
        if not self._lines or self._lines[0].growing:
            return []
        laid, self._fence = self._lines.pop(0).rows(self._fence, width - len(INDENT))
        return [[("", INDENT), *row] for row in laid]


def _head_rows(head: Row, width: int) -> list[Row]:
    return wrap([(style, clean(text).replace("\n", " ")) for style, text in head], width, hang=len(INDENT))


class Scrollback:
    def __init__(self) -> None:
        self._blocks: list[ScreenBlock] = []

    def add(self, block: ScreenBlock) -> ScreenBlock:
        self._blocks.append(block)
        return block

    def remove(self, block: ScreenBlock) -> None:
        if block in self._blocks:
            self._blocks.remove(block)

    def settle(self, width: int, height: int) -> list[Row]:
        """The rows that move to the scrollback now: complete ones at the top, and those that no longer fit."""
        rows: list[Row] = []
        while self._blocks and self._blocks[0].complete:
            rows += self._blocks.pop(0).rows(width)
        surplus = len(self.rows(width)) - height
        while surplus > 0 and (released := self._blocks[0].release(width)):
            rows += released
            surplus -= len(released)
        return rows

    def rows(self, width: int) -> list[Row]:
        return [row for block in self._blocks for row in block.rows(width)]
