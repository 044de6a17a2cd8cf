"""The look of the operator's screens: ages, durations, tables, and harmless versions of strangers' texts.

Rule 1: on a terminal long text is folded to its width; in a pipe every row is one line, for `grep`.
Rule 2: what people wrote never moves the cursor or turns the text around (`harmless`).
Rule 3: numbers and times are for reading; programs take `--json`.
"""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rejoinder.unicode_repair import one_line

IN_A_PIPE = 10_000
AT_ONCE = 200
"""How many rows share their column widths on a terminal; so the first of many rows are shown early."""
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
"""The colour of a word for a state or a decision; it adds nothing to the word."""


def console() -> Console:
    width = None if sys.stdout.isatty() else IN_A_PIPE
    return Console(highlight=False, markup=False, emoji=False, width=width)


def quoted(text: str, most: int = 400) -> Text:
    """A person's text, in one line that is cut at the edge of the screen."""
    line = one_line(text)
    shortened = line if len(line) <= most else line[: most - 1] + "…"
    return Text(f"“{shortened}”" if line else "(no text)", style="italic", no_wrap=True, overflow="ellipsis")


def worded(state: str) -> Text:
    return Text(state, style=COLOURS.get(state, ""))


def counted(number: int, one: str) -> str:
    return f"{number:,} {one if number == 1 else one + 's'}"


def abbreviated(number: int) -> str:
    """1234 as 1.2k."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + letter
    return str(number)


def ago(then: datetime, now: datetime) -> str:
    """A rough age; the exact time is in `--json`."""
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


Row = Sequence[Text]


def print_table(
    out: Console, heads: Sequence[str], rows: Iterable[Row], right: Sequence[str] = (), indent: int = 0
) -> None:
    """Columns whose heads are in `right` hold numbers. On a terminal the columns share its width; a text that may not
    be wrapped is cut with an ellipsis."""
    if not out.is_terminal:
        _print_lines(out, [[Text(head) for head in heads], *rows], [head in right for head in heads], indent)
        return
    left = list(rows)
    for at in range(0, max(1, len(left)), AT_ONCE):
        made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_header=at == 0)
        for head in heads:
            made.add_column(head, justify="right" if head in right else "left", overflow="fold")
        for row in left[at : at + AT_ONCE]:
            made.add_row(*row)
        out.print(Padding(made, (0, 0, 0, indent), expand=False))


def _print_lines(out: Console, rows: Sequence[Row], right: Sequence[bool], indent: int) -> None:
    """Prints each row in one line, whatever its width, thousands at once."""
    cells = [[cell.plain.replace("\n", "  ") for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (
            (" " * (width - cell_len(cell)) + cell if to_right else cell + " " * (width - cell_len(cell)))
            for cell, width, to_right in zip(row, widths, right, strict=True)
        )
        out.file.write((" " * indent + "  ".join(padded)).rstrip() + "\n")


def shown_of(shown: int, total: int, order: str) -> str:
    """Says that there are more and how to see them; empty if there are not."""
    return f"{shown:,} of {total:,}, {order}; --limit 0 shows all." if shown < total else ""
