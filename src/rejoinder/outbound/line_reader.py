"""The lowest layer of the reader: it walks through the text step by step, and knows how the current line begins.

A step reads some of the text from `at` on and returns the index it has reached, or `hold(index)` if it needs more
text before it can decide about what begins at `index`.
"""

from collections.abc import Callable

from rejoinder.outbound.visible import VisibleText

_PREFIX = 12  # enough of a line to tell whether it is a quote, or a list item in which a fence may open

Step = Callable[[str, int, bool], int]
"""(text, at, whether this is all) -> the index it has reached."""


def hold(at: int) -> int:
    """Returned by a step to hold back everything from `at` on until more text has come."""
    return ~at


class LineReader:
    """The layers have slots: they share more attributes than Python keeps for an object without a dictionary."""

    __slots__ = (
        "_behind_known",
        "_cut_on_line",
        "_header",
        "_in_block",
        "_indent",
        "_line_is_known",
        "_offset",
        "_prefix",
        "_rest",
        "_step",
        "_visible",
    )

    def __init__(self, visible: VisibleText) -> None:
        self._visible = visible
        self._rest: str = ""  # the text held back
        self._offset: int = 0  # where that begins in the whole turn
        self._begin_segment()

    def _begin_segment(self) -> None:
        self._step: Step = self._in_text
        self._header = True  # nothing visible has come yet in this segment
        self._in_block = False
        self._begin_line()

    def _begin_line(self) -> None:
        self._indent = 0
        self._prefix = ""  # the line's first visible characters
        self._line_is_known = False  # whether the prefix is long enough to tell what the line is
        self._cut_on_line = False
        self._behind_known = False  # whether this line has a known header directive

    def _in_text(self, text: str, at: int, final: bool) -> int:
        raise NotImplementedError

    def _advance(self, text: str, *, final: bool) -> None:
        at, end = 0, len(text)
        while at < end:
            to = self._step(text, at, final)
            if to < 0:
                at = ~to
                break
            at = to
        self._rest = text[at:]
        self._offset += at

    def _plain(self, text: str) -> None:
        """Shows text as written."""
        self._follow_line(text)
        self._show(text)

    def _show(self, text: str) -> None:
        """Like `_plain`, but the caller has already called `_follow_line`."""
        raise NotImplementedError

    def _follow_line(self, text: str) -> None:
        """Keeps track of how the current line begins."""
        newline = text.rfind("\n")
        if newline >= 0:
            self._begin_line()
            text = text[newline + 1 :]
            if not text:
                return
        elif self._line_is_known:
            return
        if not self._prefix:
            visible = text.lstrip(" \t\r")
            if len(visible) < len(text) and not self._cut_on_line:
                blanks = text[: len(text) - len(visible)]
                self._indent += blanks.count(" ") + 4 * blanks.count("\t")
            text = visible
        self._prefix = (self._prefix + text)[:_PREFIX]
        self._line_is_known = len(self._prefix) == _PREFIX

    def _is_inert(self) -> bool:
        """Whether the line is a quote or indented code (OD-36). Inside a block children may be indented."""
        if self._indent >= 4:
            return bool(self._prefix) or not self._in_block
        return self._prefix[:1] == ">"

    def _cut(self) -> None:
        self._visible.cut()
        if not self._prefix:
            self._indent, self._cut_on_line = 0, True

    def _problem(self, code: str, detail: str) -> None:
        self._visible.problem(code, detail)
