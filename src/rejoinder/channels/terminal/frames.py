"""Draws whole frames: each change of the screen is one write, so nothing flickers."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"  # synchronised output; terminals without it ignore the code


class Frames(Vt100_Output):
    """The terminal's output. It never asks the terminal for the cursor position, which it need not know."""

    def __init__(self) -> None:
        super().__init__(sys.stdout, _size, term=os.environ.get("TERM"), enable_cpr=False)
        self._holding = False

    @contextmanager
    def frame(self) -> Generator[None]:
        """Holds back a frame until all of it is drawn; a terminal with synchronised output does the same."""
        self._holding = True
        self.write_raw(BEGIN)
        try:
            yield
        finally:
            self.write_raw(END)
            self._holding = False
            self.flush()

    def flush(self) -> None:
        if not self._holding:
            super().flush()


def _size() -> Size:
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    return Size(rows=rows or 24, columns=columns or 80)  # a terminal without a size reports 0
