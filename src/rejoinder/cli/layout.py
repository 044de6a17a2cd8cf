"""How the operator's screens look: ages, durations, tables, and text of strangers made harmless.

Rule 1: on a terminal what is long is folded to its width; in a pipe every row is one line, for `grep`.
Rule 2: what people wrote never moves the cursor or turns the text around (`harmless`).
Rule 3: numbers and times are for reading; programs take `--json`.
"""

import io
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import IO, TextIO, cast

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

IN_A_PIPE = 10_000
COLOURS = {
    "answered": "green",
    "sent": "green",
    "turn": "green",
    "answer": "cyan",
    "settled": "cyan",
    "drop": "yellow",
    "dropped": "yellow",
    "held": "yellow",
    "unknown": "yellow",
    "retry": "yellow",
    "dead": "red",
    "failed": "red",
    "quarantined": "red",
    "continue": "dim",
    "withdrawn": "dim",
}
"""The colour of a word that stands for a state or a decision; the word says the same."""

# Control characters but for the end of a line, and the marks that change the direction of what follows.
_HARMFUL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def console() -> Console:
    if sys.stdout.isatty():
        return Console(highlight=False, markup=False, emoji=False)
    return Console(
        highlight=False, markup=False, emoji=False, width=IN_A_PIPE, file=cast("IO[str]", _Trimmed(sys.stdout))
    )


class _Trimmed(io.TextIOBase):
    """Lines without the blanks that fill up the last column."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str, /) -> int:
        return self._out.write(re.sub(r" +$", "", text, flags=re.MULTILINE))

    def flush(self) -> None:
        self._out.flush()


def harmless(text: str) -> str:
    return _HARMFUL.sub(" ", text)


def one_line(text: str) -> str:
    return " ".join(harmless(text).split())


def quoted(text: str, most: int = 400) -> Text:
    """What somebody wrote, in one line that ends where the screen does."""
    line = one_line(text)
    shortened = line if len(line) <= most else line[: most - 1] + "…"
    return Text(f"“{shortened}”" if line else "(no text)", style="italic", no_wrap=True, overflow="ellipsis")


def worded(state: str) -> Text:
    return Text(state, style=COLOURS.get(state, ""))


def counted(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def abbreviated(number: int) -> str:
    """1234 as 1.2k."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + letter
    return str(number)


def lasted(seconds: float) -> str:
    if seconds < 0.001:
        return f"{max(0.0, seconds) * 1e6:.0f} µs"  # clocks of two machines differ
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def ago(then: datetime, now: datetime) -> str:
    """Roughly: the exact time is in `--json`."""
    past = now - then
    if past < timedelta(minutes=1):
        return "just now" if past < timedelta(seconds=1) else f"{past.seconds} s ago"
    if past < timedelta(hours=1):
        return f"{past.seconds // 60} min ago"
    if past < timedelta(days=1):
        return f"{past.seconds // 3600} h ago"
    if past < timedelta(days=100):
        return f"{past.days} d ago"
    return f"{then.astimezone():%Y-%m-%d}"


def table(heads: Sequence[str], rows: Iterable[Sequence[RenderableType]], right: Sequence[str] = ()) -> Table:
    """Heads named in `right` stand over numbers. The last column takes what is left of the width."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in heads:
        made.add_column(head, justify="right" if head in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def shown_of(shown: int, total: int, order: str) -> str:
    """Says that there is more, and how to see it; nothing when there is not."""
    return f"{shown:,} of {total:,}, {order}; --limit 0 shows all." if shown < total else ""


def print_json(document: object) -> None:
    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    sys.stdout.buffer.flush()
