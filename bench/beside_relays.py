"""`rejoinder run` beside two bots of its platform: the same fake platform, the same model, each in its own process,
in turns. The measure is the least bot that loses nothing, a durable relay; a bare one, which keeps nothing, is shown
beside both without a bar."""

import compileall
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median

import rejoinder
from bench.served import Courses, Served
from bench.timing import Bars, duration, print_table

SLOWEST, LEAST, FIRST = 2.0, 0.5, 2.0
"""Bars: at most so many times the durable relay's p50, at least this share of its messages a second, at most so many
times its first message."""
IDLE_MB, READY_SECONDS = 80.0, 1.0
ALONE = 200
RATES = 9
"""How often each bot is crowded: one course takes a second, and that second may be a slow or a fast one."""
Check = Callable[[float, float], tuple[float, float]]
"""The gateway's figure, and how many times the durable relay's it is: what is held against which bar."""


class Beside:
    """The table of one platform, whose three bots are the bare one, the durable one and the gateway."""

    def __init__(self, served: Served, sessions: int, each: int) -> None:
        compileall.compile_dir(Path(rejoinder.__file__).parent, quiet=1)  # as whoever installs a package does
        self.served = served
        self._sessions, self._each = sessions, each
        self._bars = Bars()
        self._rows: list[list[str]] = []

    def measure(self, *, rate_bar: bool) -> None:
        alone, crowd = self.served.rounds(1, ALONE, 5), self.served.rounds(self._sessions, self._each, RATES)
        of, add, sessions = self._of, self._add, f"{self._sessions} sessions"
        add("message -> send, p50", of(min, alone, "p50"), "time", f"<= {SLOWEST:g} x", _times(SLOWEST))
        add("message -> send, p95", of(min, alone, "p95"), "time")
        add("first message", of(min, alone, "first"), "time", f"<= {FIRST:g} x", _times(FIRST))
        add("CPU per message", of(min, alone, "cpu"), "time")
        rate = (f">= {LEAST:g} x", _share(LEAST)) if rate_bar else ("", None)
        add(f"messages/s, {sessions}", of(median, crowd, "per_second"), ".0f", *rate, times=self._of_pairs(crowd))
        add(f"CPU per message, {sessions}", of(min, crowd, "cpu"), "time")
        add("ready", of(min, alone, "ready"), "time", f"<= {READY_SECONDS:g} s", _limit(READY_SECONDS))
        idle = [self.served.idle_mb(bot) for bot in self.served.bots]
        add("memory, idle (MB)", idle, ".0f", f"< {IDLE_MB:g}", _limit(IDLE_MB))
        add(f"memory, after {self._sessions * self._each} messages (MB)", of(max, crowd, "after_mb"), ".0f")

    def add_own(self, what: str, figure: float, most: float) -> None:
        """A figure of the gateway alone."""
        self._rows.append([what, "", "", f"{figure:.2f}", "", f"<= {most:g}", self._bars.verdict(what, (figure, most))])

    def show(self, title: str, names: tuple[str, str]) -> None:
        """`names`: of the bare bot and of the durable one. Raises `BarsMissed`."""
        print_table(title, ["", *names, "gateway", "gateway/durable", "bar", ""], self._rows)
        self._bars.settle()

    def _add(
        self,
        what: str,
        figures: Sequence[float],
        show: str,
        bar: str = "",
        check: Check | None = None,
        times: float | None = None,
    ) -> None:
        _, durable, ours = figures
        times = times or ours / durable
        verdict = "" if check is None else self._bars.verdict(what, check(ours, times))
        shown = [duration(each) if show == "time" else f"{each:{show}}" for each in figures]
        self._rows.append([what, *shown, f"{times:.2f}", bar, verdict])

    def _of_pairs(self, courses: Courses) -> float:
        """The gateway's messages/s over the durable relay's just before, in the middle one of all pairs: a moment that
        is slow or fast for only one of the two does not decide."""
        _, durable, ours = (courses[bot] for bot in self.served.bots)
        return median(each.per_second / beside.per_second for each, beside in zip(ours, durable, strict=True))

    def _of(self, best: Callable[[Iterable[float]], float], courses: Courses, figure: str) -> list[float]:
        return [best(getattr(each, figure) for each in courses[bot]) for bot in self.served.bots]


def _times(most: float) -> Check:
    return lambda _, times: (times, most)


def _share(least: float) -> Check:
    return lambda _, times: (least, times)


def _limit(most: float) -> Check:
    return lambda ours, _: (ours, most)
