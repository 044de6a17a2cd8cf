"""`rejoinder run` on Slack by Socket Mode, and a bare bot of slack-bolt: the same fake Slack, the same model, each in a
process of its own, in turns. The bare bot keeps nothing: it acknowledges a message before it has done anything."""

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
SERVED = Served("slack", ("bolt", "gateway"))


def run() -> None:
    compileall.compile_dir(Path(rejoinder.__file__).parent, quiet=1)  # as whoever installs a package does
    bars = Bars()
    alone, crowd = SERVED.rounds(1, ALONE, 5), SERVED.rounds(SESSIONS, EACH, 3)
    rows: list[list[str]] = []

    def add(what: str, figures: Sequence[float], show: str, bar: str = "", most: float | None = None) -> None:
        bolt, ours = figures
        verdict = "" if most is None else bars.verdict(what, (ours, most))
        shown = [duration(each) if show == "time" else f"{each:{show}}" for each in figures]
        rows.append([what, *shown, f"{ours / bolt:.2f}", bar, verdict])

    p50 = _of(min, alone, "p50")
    add("message -> send, p50", p50, "time", f"<= {SLOWEST:g} x", SLOWEST * p50[0])
    add("message -> send, p95", _of(min, alone, "p95"), "time")
    add("first message", _of(min, alone, "first"), "time")
    add("CPU per message", _of(min, alone, "cpu"), "time")
    add(f"messages/s, {SESSIONS} sessions", _of(max, crowd, "per_second"), ".0f")
    add(f"CPU per message, {SESSIONS} sessions", _of(min, crowd, "cpu"), "time")
    add("ready", _of(min, alone, "ready"), "time")
    add("memory, idle (MB)", [SERVED.idle_mb(bot) for bot in SERVED.bots], ".0f", f"< {IDLE_MB:g}", IDLE_MB)
    add(f"memory, after {SESSIONS * EACH} messages (MB)", _of(max, crowd, "after_mb"), ".0f")
    head = ["", "bare slack-bolt", "gateway", "gateway/bolt", "bar", ""]
    print_table("`rejoinder run` on Slack by Socket Mode, every step on the disk", head, rows)
    bars.settle()


def _of(best: Callable[[Iterable[float]], float], courses: Courses, figure: str) -> list[float]:
    return [best(getattr(each, figure) for each in courses[bot]) for bot in SERVED.bots]
