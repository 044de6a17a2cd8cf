"""The reader of agent output beside the obvious way to write one: typical replies, hostile ones, streams."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from bench.naive import NaiveReader, naive_read
from bench.timing import (
    Bars,
    CommandFailed,
    duration,
    measure,
    measure_at_most,
    measure_command,
    measure_together,
    print_table,
)
from rejoinder import ReplyReader, read_reply

TYPICAL = (
    "[[reply_to:1502606076451885136]]\n"
    "<actions>\n"
    '  <react emoji="thumbsup" />\n'
    "</actions>\n"
    "I looked at the failing job. The test waits for a port that another test has taken, so it fails only "
    "when both run at once.\n\n"
    "Two ways out:\n"
    "- ask the system for a free port (`port=0`) and read it back;\n"
    "- keep the two tests on one worker.\n\n"
    "I would take the first: three lines, and it holds on every machine. Shall I open a pull request? It "
    "touches one file only, and no API."
)

KB = 1000
SIZES = (25 * KB, 50 * KB, 100 * KB)
FAMILIES: dict[str, Callable[[int], str]] = {
    "plain text": lambda size: _repeat(
        "The quick brown fox jumps over the lazy dog, and then it does so again. Well.\n", size
    ),
    "`<` only": lambda size: _repeat("<", size),
    "`<actions>` repeated": lambda size: _repeat("<actions>", size),
    "`<react ` repeated": lambda size: _repeat("<react ", size),
    "`<react ` in a block": lambda size: "<actions>" + _repeat("<react ", size),
    "one endless attribute": lambda size: '<react emoji="' + _repeat("a", size),
    "the same in a block": lambda size: '<actions><react emoji="' + _repeat("a", size),
    "`[[` repeated": lambda size: _repeat("[[", size),
}
STREAM_SIZES = (10 * KB, 20 * KB, 40 * KB)

MOST_GROWTH = 5.0
GROWS_FROM = 0.001
"""Seconds below which growth is not judged: there the step at a limit of the reader weighs more than the text."""
MOST_WORST = 0.100
MOST_PLAIN = 0.005
MOST_STREAM = 0.040
MOST_START = 0.4
NAIVE_LIMIT = 2.0  # CPU seconds after which the naive reading is given up


def run() -> None:
    bars = Bars()
    _typical()
    _families(bars)
    _stream(bars)
    _start(bars)
    bars.settle()


def _repeat(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _pieces(text: str, size: int) -> list[str]:
    return [text[begin : begin + size] for begin in range(0, len(text), size)]


class Reader(Protocol):
    def feed(self, piece: str, /) -> object: ...
    def finish(self) -> object: ...


def _reading(reader: Callable[[], Reader], pieces: Sequence[str]) -> Callable[[], None]:
    def read() -> None:
        one = reader()
        for piece in pieces:
            one.feed(piece)
        one.finish()

    return read


def _typical() -> None:
    ours, naive = read_reply(TYPICAL), naive_read(TYPICAL)
    if ours.text != naive.text or len(ours.directives) != len(naive.directives):
        sys.exit("The two readers disagree on the typical reply, so their times cannot be compared.")
    rows: list[list[str]] = []
    for name, read in (("ours", read_reply), ("naive", naive_read)):
        best, median = measure(partial(read, TYPICAL))
        rows.append([name, f"{1 / best:,.0f}", duration(best), duration(median)])
    print_table(
        f"A typical reply of {len(TYPICAL)} characters with a header and a block, read whole",
        ["", "replies/s", "best", "median"],
        rows,
    )


def _families(bars: Bars) -> None:
    rows: list[list[str]] = []
    for name, build in FAMILIES.items():
        works = [_pieces(build(size), 4096) for size in SIZES]
        ours = _ours(works)
        growth = ours[-1] / ours[0]
        bar = MOST_PLAIN if name == "plain text" else MOST_WORST
        rows.append(
            [
                name,
                *map(duration, ours),
                f"{growth:.1f}",
                f"{duration(bar).strip()}, {MOST_GROWTH:g}",
                bars.verdict(
                    f"{name}, 100 KB", (ours[-1], bar), (growth if ours[-1] >= GROWS_FROM else 1, MOST_GROWTH)
                ),
                *_naive(works),
            ]
        )
    print_table(
        f"Hostile text in 4 KB pieces (CPU time, best sample; naive given up after {NAIVE_LIMIT:g} s)",
        ["", "25 KB", "50 KB", "100 KB", "growth", "bar", "", "naive 25", "naive 100", "growth"],
        rows,
    )


def _stream(bars: Bars) -> None:
    text = _repeat(TYPICAL + "\n\n", STREAM_SIZES[-1])
    works = [_pieces(text[:size], 5) for size in STREAM_SIZES]
    ours = _ours(works)
    growth = ours[-1] / ours[0]
    print_table(
        f"A reply in pieces of 5 characters (CPU time, best sample; naive given up after {NAIVE_LIMIT:g} s)",
        ["", "10 KB", "20 KB", "40 KB", "growth", "bar", "", "naive 10", "naive 40", "growth"],
        [
            [
                "typical text",
                *map(duration, ours),
                f"{growth:.1f}",
                f"{duration(MOST_STREAM).strip()}, {MOST_GROWTH:g}",
                bars.verdict("40 KB in 5-character pieces", (ours[-1], MOST_STREAM), (growth, MOST_GROWTH)),
                *_naive(works),
            ]
        ],
    )


def _ours(works: Sequence[Sequence[str]]) -> list[float]:
    return [timing.best for timing in measure_together([_reading(ReplyReader, pieces) for pieces in works])]


def _naive(works: Sequence[Sequence[str]]) -> list[str]:
    """The naive reader's first and last size, and its growth; sizes after one it fails on are not tried."""
    times: list[float | None] = []
    for pieces in works:
        hopeless = bool(times) and times[-1] is None
        times.append(None if hopeless else measure_at_most(NAIVE_LIMIT, _reading(NaiveReader, pieces)))
    first, last = times[0], times[-1]
    over = f"> {NAIVE_LIMIT:g} s "
    return [
        duration(first) if first else over,
        duration(last) if last else over,
        f"{last / first:.1f}" if first and last else f"> {NAIVE_LIMIT / first:.1f}" if first else "?",
    ]


def _start(bars: Bars) -> None:
    command = str(Path(sys.executable).with_name("rejoinder"))
    rows: list[list[str]] = []
    for arguments, stdin in ((["--help"], b""), (["reply"], TYPICAL.encode())):
        shown = " ".join(["rejoinder", *arguments])
        try:
            timing = measure_command([command, *arguments], stdin)
        except CommandFailed as failed:
            bars.miss(str(failed))
            continue
        rows.append(
            [
                shown,
                duration(timing.best),
                duration(timing.median),
                duration(MOST_START),
                bars.verdict(shown, (timing.best, MOST_START)),
            ]
        )
    print_table("Start-up (CPU time of the whole process)", ["", "best", "median", "bar", ""], rows)
