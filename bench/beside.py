"""`python -m bench beside OLD_TREE [ROUNDS]`: `rejoinder run` of this tree and of an older one, by the same measure.

Platform, model and stopwatch are this tree's; only the package under test changes. `git worktree add OLD_TREE COMMIT`
makes the older tree. Both are measured in turns, and a ratio is the middle one of all pairs; it misses its bar when
this tree is more than 10 % worse.
"""

import compileall
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.served import HERE, Measured, Served
from bench.timing import Bars, duration, print_table

ROUNDS = 5
ALONE, CROWD = (1, 200), (50, 20)
"""Chats, and what each of them asks."""
WORSE = 1.10
FIGURES: tuple[tuple[str, tuple[int, int], Callable[[Measured], float], Callable[[float], str]], ...] = (
    ("ready", ALONE, lambda one: one.ready, duration),
    ("first message", ALONE, lambda one: one.first, duration),
    ("message -> send, p50", ALONE, lambda one: one.p50, duration),
    ("message -> send, p95", ALONE, lambda one: one.p95, duration),
    ("CPU per message", ALONE, lambda one: one.cpu, duration),
    ("seconds per message, 50 chats", CROWD, lambda one: 1 / one.per_second, duration),
    ("CPU per message, 50 chats", CROWD, lambda one: one.cpu, duration),
    ("memory after 1000 messages (MB)", CROWD, lambda one: one.after_mb, "{:.0f}".format),
)


def compare(old: Path, rounds: int) -> None:
    """Each round begins with the other tree, so that a busy moment meets both."""
    served = Served("telegram", ("older", "this"), {"older": old, "this": HERE})
    for tree in served.gateways.values():
        compileall.compile_dir(tree / "src", quiet=1)  # as whoever installs a package does
    found: dict[tuple[str, tuple[int, int]], list[Measured]] = {}
    for number in range(rounds):
        for course in (ALONE, CROWD):
            for bot in served.bots if number % 2 == 0 else reversed(served.bots):
                found.setdefault((bot, course), []).append(served.measure(bot, *course))
    rows: list[list[str]] = []
    bars = Bars()
    for title, course, figure, show in FIGURES:
        older, ours = ([figure(one) for one in found[bot, course]] for bot in served.bots)
        ratio = median(after / before for before, after in zip(older, ours, strict=True))
        rows.append(
            [title, show(median(older)), show(median(ours)), f"{ratio:.2f}", bars.verdict(title, (ratio, WORSE))]
        )
    print_table(f"`rejoinder run` on Telegram, {rounds} rounds in turns", ["", "older", "this", "ratio", ""], rows)
    bars.settle()
