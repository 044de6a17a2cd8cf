"""The layer that knows code: fences, and back-tick spans that are still open (OD-36).

A `<` in an open span is held back, with the rest of its line: only the closing run or the end of the line tells whether
it is code.
"""

import re

from rejoinder.outbound.actions import LONGEST
from rejoinder.outbound.code_spans import Fence, Ticks, fence_may_open
from rejoinder.outbound.line_reader import LineReader, hold

_RUN = {"`": re.compile("`+"), "~": re.compile("~+")}
_TICK_OR_NEWLINE = re.compile(r"[`\n]")


class CodeReader(LineReader):
    __slots__ = (
        "_code",
        "_fence",
        "_fence_line",
        "_hold_scanned",
        "_in_list",
        "_resolved_until",
        "_run",
        "_run_opens_fence",
        "_ticks",
    )

    def _begin_segment(self) -> None:
        super()._begin_segment()
        self._fence: Fence | None = None
        self._fence_line: str | None = None
        self._ticks = Ticks()
        self._run = 0  # length of the run of back-ticks or tildes being read
        self._run_opens_fence = False
        self._in_list = False
        self._hold_scanned = 0
        self._resolved_until = 0  # the back-ticks of the line are resolved up to here
        self._code: list[tuple[int, int]] = []  # the code spans found, the last one first

    def _count_ticks(self, begin: int, end: int) -> None:
        """Counts a complete run of back-ticks."""
        opens_fence = self._opens_fence(begin, end)
        if opens_fence:
            self._in_list = bool(self._prefix)
        self._ticks.run(end - begin, self._offset + begin, self._offset + end, fence=opens_fence)

    def _opens_fence(self, begin: int, end: int) -> bool:
        return end - begin >= 3 and fence_may_open(self._prefix)

    def _begin_run(self, mark: str, at: int) -> int:
        self._run_opens_fence, self._in_list = fence_may_open(self._prefix), bool(self._prefix)
        self._step = self._in_tick_run if mark == "`" else self._in_tilde_run
        return at

    def _in_tick_run(self, text: str, at: int, final: bool) -> int:
        end = self._extend_run("`", text, at)
        if end == len(text) and not final:
            return end
        stop = self._offset + end
        fence = self._run >= 3 and self._run_opens_fence
        self._ticks.run(self._run, stop - self._run, stop, fence=fence)
        self._run, self._step = 0, self._in_text
        return end

    def _in_tilde_run(self, text: str, at: int, final: bool) -> int:
        end = self._extend_run("~", text, at)
        if end == len(text) and not final:
            return end
        self._step = self._in_text
        if self._run >= 3 and self._run_opens_fence:
            self._open_fence("~", self._run)
        self._run = 0
        return end

    def _extend_run(self, mark: str, text: str, at: int) -> int:
        run = _RUN[mark].match(text, at)
        end = run.end() if run else at
        if end > at:
            self._run += end - at
            self._plain(text[at:end])
        return end

    def _open_fence(self, mark: str, length: int) -> None:
        self._fence = Fence(mark, length, in_list=self._in_list)
        self._fence_line = None  # the opening line closes nothing
        self._step = self._in_fence
        self._visible.code(True)

    def _in_fence(self, text: str, at: int, final: bool) -> int:
        fence = self._fence
        assert fence is not None
        start = at
        while True:
            if self._fence_line == "":  # a line without the fence's run does not close it
                run = text.find(fence.run, at)
                at = max(at, text.rfind("\n", at, run if run >= 0 else len(text)) + 1)
            newline = text.find("\n", at)
            end = newline if newline >= 0 else len(text)
            if self._fence_line is not None:
                self._fence_line = (self._fence_line + text[at : min(end, at + LONGEST)])[:LONGEST]
            if newline < 0:
                self._plain(text[start:])
                return len(text)
            if self._fence_line is not None and self._closes_fence(fence, self._fence_line):
                self._plain(text[start:newline])
                self._fence, self._step = None, self._in_text
                self._visible.code(False)
                return newline
            self._fence_line = ""
            at = newline + 1
            if at == len(text):
                self._plain(text[start:])
                return at

    @staticmethod
    def _closes_fence(fence: Fence, line: str) -> bool:
        return len(line) < LONGEST and fence.closes(line)

    def _open_fence_with_ticks(self, newline: int) -> int:
        fence = self._ticks.fence
        self._ticks.end_line()
        self._open_fence("`", fence)
        return newline

    def _hold_in_ticks(self, at: int) -> int:
        self._hold_scanned = 0
        self._step = self._in_ticks
        return at

    def _in_ticks(self, text: str, at: int, final: bool) -> int:
        """After a `<` in an open span: the closing run or the end of the line tells whether it is code."""
        stop = min(len(text), at + LONGEST)
        scan = at + self._hold_scanned
        while scan < stop:
            if self._run or text[scan] == "`":
                run = _RUN["`"].match(text, scan, stop)
                end = run.end() if run else scan
                self._run += end - scan
                scan = end
                if end == stop:
                    break
                where = self._offset + end
                self._ticks.run(self._run, where - self._run, where, fence=False)
                self._run = 0
                if not self._ticks.open:
                    return self._release_hold(text, at, end)
            found = _TICK_OR_NEWLINE.search(text, scan, stop)
            if found is None:
                scan = stop
            elif found[0] == "\n":
                return self._resolve_ticks(text, at, found.start())
            else:
                scan = found.start()
        if stop - at >= LONGEST:
            self._run = 0
            self._ticks.end_line()
            return self._release_hold(text, at, stop)
        if final:
            if self._run:
                where = self._offset + stop
                self._ticks.run(self._run, where - self._run, where, fence=False)
                self._run = 0
                if not self._ticks.open:
                    return self._release_hold(text, at, stop)
            return self._resolve_ticks(text, at, stop)
        self._hold_scanned = scan - at
        return hold(at)

    def _release_hold(self, text: str, at: int, end: int) -> int:
        self._step = self._in_text
        self._plain(text[at:end])
        return end

    def _resolve_ticks(self, text: str, at: int, line_end: int) -> int:
        """The line is over and its first run was never closed: reads the held part again, now knowing what is code."""
        fence = self._ticks.fence
        spans = self._ticks.end_line()
        self._step = self._in_text
        if fence:
            self._plain(text[at:line_end])
            self._open_fence("`", fence)
            return line_end
        self._code = spans[::-1]
        self._resolved_until = self._offset + line_end
        return at

    def _code_end(self, hit: int) -> int:
        """The end of the known code span around `hit`, or 0."""
        where = self._offset + hit
        while self._code and self._code[-1][1] <= where:
            self._code.pop()
        return self._code[-1][1] - self._offset if self._code and self._code[-1][0] <= where else 0
