"""The slowest inputs known for the reader of agent output, against its bar: 1 MB of anything within 1 s (OD-5).

`python -m bench.worst [UNITS]` looks for slower ones: random short units of the reader's own marks, repeated in every
place where they are read differently. What it finds belongs into `WORST`.
"""

import random
import sys
from collections.abc import Iterator
from functools import partial

from bench.timing import Bars, duration, measure_together, print_table
from rejoinder import ReplyReader

MB = 1_000_000
MOST_PER_MB = 1.0
SIZE = 100_000
PIECE = 5

PLACES = {
    "alone": "",
    "in a block": "<actions>",
    "in a sentence": "x ",
    "behind a back-tick": "`",
    "in a fence": "```\n",
    "indented": "    ",
    "quoted": "> ",
}
ALPHABET = (
    *"<>[]/`\"'~\\ \na=:.N“",
    *("<a", "</", "/>", "<a>", "<a ", "</a>", "<a/>", "[[", "]]", "[[a:", "``", "```", "~~~", "\\<", "\n\n", "    "),
    *("actions", "react", "no-reply", "reply", "voice", "<actions>", "</actions>", "<react", "<reply", "<no-reply"),
    *("<voice>", "</voice>", "NO_REPLY", "to=1", '="'),
)
LONGEST_UNIT = 12
SEED = 5
SEARCHED_SIZE = 30_000
SHOWN = 20

WORST = (
    ("in a block", "</a>>\n<a>"),
    ("in a block", "<react>"),
    ("in a block", "<react/>\n"),
    ("alone", "<react/>\n"),
    ("in a block", "<a></a>\n"),
    ("in a block", "```<voice>"),
    ("in a block", "<a></```"),
    ("in a block", "<a>x"),
    ("in a block", "<a>\nx"),
    ("in a block", " <a>="),
    ("in a block", "\\<a>"),
    ("in a block", "<react "),
    ("in a block", "<a "),
    ("in a block", "<a"),
    ("alone", "[[a:]]\n"),
    ("alone", "`\n"),
    ("alone", "` `` "),
    ("alone", "N`"),
    ("alone", "`<no-reply> x\n"),
    ("in a fence", "\n"),
)


def run() -> None:
    bars = Bars()
    rows: list[list[str]] = []
    for place, unit in WORST:
        whole, cut = _per_megabyte(place, unit, SIZE, rounds=5), _per_megabyte(place, unit, SIZE // 4, PIECE, rounds=2)
        verdict = bars.verdict(f"{unit!r} {place}", (whole, MOST_PER_MB))
        rows.append([f"{unit!r} {place}", duration(whole), duration(MOST_PER_MB), verdict, duration(cut)])
    print_table(
        f"The worst units found, repeated (CPU time per MB, best sample; in pieces of {PIECE} for comparison)",
        ["", "whole", "bar", "", "in pieces"],
        rows,
    )
    bars.settle()


def search(count: int) -> None:
    """Prints the slowest of so many random units."""
    found = [
        (_per_megabyte(place, unit, SEARCHED_SIZE, rounds=2), unit, place)
        for unit in _units(count, random.Random(SEED))
        for place in PLACES
    ]
    rows = [[f"{unit!r} {place}", duration(cost)] for cost, unit, place in sorted(found, reverse=True)[:SHOWN]]
    print_table(f"The slowest of {count} units (CPU time per MB)", ["", "whole"], rows)


def _units(count: int, chance: random.Random) -> Iterator[str]:
    seen: set[str] = set()
    while len(seen) < count:
        unit = "".join(chance.choices(ALPHABET, k=chance.randint(1, 5)))
        if len(unit) <= LONGEST_UNIT and unit not in seen:
            seen.add(unit)
            yield unit


def _per_megabyte(place: str, unit: str, size: int, piece: int = 0, *, rounds: int) -> float:
    text = PLACES[place] + unit * (size // len(unit))
    [timing] = measure_together([partial(_read, text, piece or len(text))], rounds=rounds)
    return timing.best * MB / len(text)


def _read(text: str, piece: int) -> None:
    reader = ReplyReader()
    for begin in range(0, len(text), piece):
        reader.feed(text[begin : begin + piece])
    reader.finish()


if __name__ == "__main__":
    search(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
