"""The whole gateway as it is run: `rejoinder run` with its store on the disk, serving Telegram.

Beside it, on the same fake Bot API and the same model and each in a process of its own (bench/bots.py): the least that
loses nothing, a durable relay, which is the measure; and a bare relay that keeps nothing, shown without a bar.
"""

import compileall
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import rejoinder
from bench.served import Courses, Served
from bench.timing import Bars, duration, print_table

SLOWEST, LEAST = 2.0, 0.5
"""Bars: at most so many times the durable relay's p50, at least this share of its messages a second."""
FIRST = 2.0
"""At most so many times its first message."""
IDLE_MB, READY_SECONDS = 80.0, 1.0
GROWTH = 1.25
"""How much slower the last messages of a long chat may be, with an agent that has no prompt to grow."""
SESSIONS, EACH, ALONE, LONG = 50, 20, 200, 2000
SERVED = Served("telegram", ("bare", "durable", "gateway"))


def run() -> None:
    compileall.compile_dir(Path(rejoinder.__file__).parent, quiet=1)  # as whoever installs a package does
    bars = Bars()
    alone, crowd = SERVED.rounds(1, ALONE, 5), SERVED.rounds(SESSIONS, EACH, 3)
    long = SERVED.measure("gateway", 1, LONG, "plain")
    rows: list[list[str]] = []

    def add(what: str, figures: Sequence[float], show: str, bar: str = "", check: Check | None = None) -> None:
        """Figures of the three bots, in their order."""
        _, durable, ours = figures
        verdict = bars.verdict(what, check(ours, durable)) if check is not None else ""
        shown = [duration(each) if show == "time" else f"{each:{show}}" for each in figures]
        rows.append([what, *shown, f"{ours / durable:.2f}", bar, verdict])

    def of(best: Callable[[Iterator[float]], float], courses: Courses, figure: str) -> list[float]:
        return [best(getattr(each, figure) for each in courses[bot]) for bot in SERVED.bots]

    at_most, at_least = f"<= {SLOWEST:g} x", f">= {LEAST:g} x"
    add("message -> send, p50", of(min, alone, "p50"), "time", at_most, lambda ours, durable: (ours / durable, SLOWEST))
    add("message -> send, p95", of(min, alone, "p95"), "time")
    add("first message", of(min, alone, "first"), "time", at_most, lambda ours, durable: (ours / durable, FIRST))
    rate = of(max, crowd, "per_second")
    add(f"messages/s, {SESSIONS} sessions", rate, ".0f", at_least, lambda ours, durable: (LEAST, ours / durable))
    add(f"CPU per message, {SESSIONS} sessions", of(min, crowd, "cpu"), "time")
    ready = of(min, alone, "ready")
    add("ready", ready, "time", f"<= {READY_SECONDS:g} s", lambda ours, _: (ours, READY_SECONDS))
    idle = [SERVED.idle_mb(bot) for bot in SERVED.bots]
    add("memory, idle (MB)", idle, ".0f", f"< {IDLE_MB:g}", lambda ours, _: (ours, IDLE_MB))
    add(f"memory, after {SESSIONS * EACH} messages (MB)", of(max, crowd, "after_mb"), ".0f")
    what = f"p50 of the last of {LONG} messages over the first"
    verdict = bars.verdict(what, (long.growth, GROWTH))
    rows.append([what, "", "", f"{long.growth:.2f}", "", f"<= {GROWTH:g}", verdict])
    head = ["", "bare relay", "durable relay", "gateway", "gateway/durable", "bar", ""]
    print_table("`rejoinder run` on Telegram, every step on the disk", head, rows)
    bars.settle()


Check = Callable[[float, float], tuple[float, float]]
"""The gateway's figure and the durable relay's: what is held against which bar."""
