"""The lowest layer of the reader: it walks through the text step by step, and knows how the current line begins.

A step reads some of the text from `at` on and returns the index it has come to, or `hold(index)` where it needs more
text before it can decide about what begins at `index`.
"""

from collections.abc import Callable

from rejoinder.outbound.visible import Visible

_PREFIX = 12  # so much of a line's beginning tells a quote, and a list item that a fence may open in

Step = Callable[[str, int, bool], int]
"""(text, at, whether this is all) -> where it has come to."""


def hold(at: int) -> int:
    """What a step returns to hold back everything from `at` on until more text has come."""
    return ~at


class LineReader:
    def __init__(self, visible: Visible) -> None:
        self._visible = visible
        self._rest: str = ""  # what is held back
        self._offset: int = 0  # where it begins in the whole turn
        self._begin_segment()

    def _begin_segment(self) -> None:
        self._step: Step = self._in_text
        self._header = True  # nothing visible has come since the segment began
        self._in_block = False
        self._begin_line()

    def _begin_line(self) -> None:
        self._indent = 0
        self._prefix = ""  # the line's first visible characters
        self._line_is_known = False  # we have seen as many of them as tell anything
        self._cut_on_line = False
        self._behind_known = False  # a known header directive stands on this line

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
        """Text that is shown as it stands."""
        self._follow_line(text)
        self._show(text)

    def _show(self, text: str) -> None:
        """The same where the line is followed already."""
        raise NotImplementedError

    def _follow_line(self, text: str) -> None:
        """Keep in mind how the current line begins."""
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
            if not self._cut_on_line:
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
