"""`rejoinder run` beside a bare bot of a platform's usual library: the same fake platform, the same model, each in a
process of its own, in turns. The bare bot keeps nothing."""

import compileall
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import rejoinder
from bench.served import Courses, Served
from bench.timing import Bars, duration, print_table

SLOWEST = 2.0
"""Bar: at most so many times the bare bot's p50."""
IDLE_MB = 80.0
SESSIONS, EACH, ALONE = 20, 10, 200


def compare(served: Served, title: str, bare: str) -> None:
    compileall.compile_dir(Path(rejoinder.__file__).parent, quiet=1)  # as whoever installs a package does
    bars = Bars()
    alone, crowd = served.rounds(1, ALONE, 5), served.rounds(SESSIONS, EACH, 3)
    rows: list[list[str]] = []

    def add(what: str, figures: Sequence[float], show: str, bar: str = "", most: float | None = None) -> None:
        least, ours = figures
        verdict = "" if most is None else bars.verdict(what, (ours, most))
        shown = [duration(each) if show == "time" else f"{each:{show}}" for each in figures]
        rows.append([what, *shown, f"{ours / least:.2f}", bar, verdict])

    p50 = _of(min, served, alone, "p50")
    add("message -> send, p50", p50, "time", f"<= {SLOWEST:g} x", SLOWEST * p50[0])
    add("message -> send, p95", _of(min, served, alone, "p95"), "time")
    add("first message", _of(min, served, alone, "first"), "time")
    add("CPU per message", _of(min, served, alone, "cpu"), "time")
    add(f"messages/s, {SESSIONS} sessions", _of(max, served, crowd, "per_second"), ".0f")
    add(f"CPU per message, {SESSIONS} sessions", _of(min, served, crowd, "cpu"), "time")
    add("ready", _of(min, served, alone, "ready"), "time")
    add("memory, idle (MB)", [served.idle_mb(bot) for bot in served.bots], ".0f", f"< {IDLE_MB:g}", IDLE_MB)
    add(f"memory, after {SESSIONS * EACH} messages (MB)", _of(max, served, crowd, "after_mb"), ".0f")
    head = ["", bare, "gateway", "gateway/bare", "bar", ""]
    print_table(title, head, rows)
    bars.settle()


def _of(best: Callable[[Iterable[float]], float], served: Served, courses: Courses, figure: str) -> list[float]:
    return [best(getattr(each, figure) for each in courses[bot]) for bot in served.bots]
