"""Renders text with marks such as `*bold*` and `_italic_`, and handles the differences between such platforms
(DE-12)."""

from collections.abc import Callable
from itertools import groupby

from msgspec import Struct

from rejoinder.rendering.layout import Mark, StyledRun, TextBlock

ZERO_WIDTH_SPACE = "\u200b"


class Marks(Struct, frozen=True):
    """How one platform writes marks."""

    bold: str
    italic: str
    strike: str
    tick: str
    fence: str
    quote: str
    escape: Callable[[str], str]
    """Applied to text and code."""
    literal: Callable[[str], str]
    """Applied to text only, so that a mark that the agent meant as a character stays one."""
    link: Callable[[str, str], str]
    """Takes an address and its label."""

    def of(self, mark: Mark) -> str:
        match mark:
            case "bold":
                return self.bold
            case "italic":
                return self.italic
            case "strike":
                return self.strike


def write(blocks: list[TextBlock], marks: Marks) -> str:
    text, quote = "", 0
    for block in blocks:
        gap = block.gap
        if block.quote and block.quote == quote:
            gap = gap.replace("\n\n", f"\n{marks.quote.rstrip()}\n")
        quote = block.quote if block.language is None else 0
        text += gap + _block(block, marks)
    return text


def _block(block: TextBlock, marks: Marks) -> str:
    if block.language is not None:
        code = marks.escape(block.text)
        if not marks.fence:
            return code
        torn = marks.fence[:-1] + ZERO_WIDTH_SPACE + marks.fence[-1]  # a longer fence is not possible here
        return f"{marks.fence}\n{code.replace(marks.fence, torn)}\n{marks.fence}"
    text = _Line(marks).write(block.runs)
    return "\n".join(marks.quote + line for line in text.split("\n")) if block.quote else text


class _Line:
    """Opens and closes marks as the runs come; no mark extends past the end of a line."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._open: list[Mark] = []
        self._text = ""
        self._just_closed = False

    def write(self, runs: tuple[StyledRun, ...]) -> str:
        for link, group in groupby(runs, key=lambda run: run.link):
            if link:
                self._link(link, list(group))
            else:
                for run in group:
                    self._run(run)
        self._keep(())
        return self._text

    def _run(self, run: StyledRun) -> None:
        if run.code:
            self._keep(run.marks)
            ticked = "`" in run.text or not run.text.strip()
            tick = "" if ticked else self._marks.tick
            self._put(tick + self._marks.escape(run.text) + tick, bounded=bool(tick))
            return
        for number, line in enumerate(run.text.split("\n")):
            if number:
                self._keep(())
                self._put("\n")
            if line:
                self._keep(run.marks)
                self._put(self._marks.literal(self._marks.escape(line)))

    def _link(self, link: str, runs: list[StyledRun]) -> None:
        self._keep(runs[0].marks)
        label = " ".join("".join(run.text for run in runs).split())
        self._put(self._marks.link(link, self._marks.escape(label)), bounded=True)

    def _keep(self, wanted: tuple[Mark, ...]) -> None:
        while self._open and self._open[-1] not in wanted:
            self._close()
        while any(mark not in wanted for mark in self._open):
            self._close()
        for mark in wanted:
            if mark not in self._open:
                self._put(self._marks.of(mark), bounded=True)
                self._just_closed = False
                self._open.append(mark)

    def _close(self) -> None:
        closing = self._marks.of(self._open.pop())
        self._text += closing
        self._just_closed = bool(closing)

    def _put(self, text: str, *, bounded: bool = False) -> None:
        """Adds a piece. A mark with a letter next to its outer side would not count, so a zero-width space separates
        them."""
        if not text:
            return
        beside_mark = self._just_closed and text[0].isalnum()
        mark_beside = bounded and text[0] in _ALL_MARKS and self._text[-1:].isalnum()
        if beside_mark or mark_beside:
            self._text += ZERO_WIDTH_SPACE
        self._text += text
        self._just_closed = bounded and text[-1] in _ALL_MARKS


_ALL_MARKS = "*_~`"
