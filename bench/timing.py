"""How we measure: CPU time of the best of several samples, against a bar, in aligned tables.

CPU time and the best sample tell what the code costs; wall time and the mean, how busy the machine was.
"""

import os
import signal
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import process_time
from typing import NamedTuple


class Timing(NamedTuple):
    best: float
    median: float


SAMPLE = 0.002
"""CPU seconds a sample lasts at least: a shorter one tells more of the clock than of the code."""


def measure(work: Callable[[], object]) -> Timing:
    """CPU seconds of one call, over several samples of as many calls as fill one."""
    return measure_together([work])[0]


def measure_together(works: Sequence[Callable[[], object]], *, rounds: int = 15) -> list[Timing]:
    """The same of several whose times are to be compared: in turns, so that a busy moment meets them all."""
    calls = [_calls(work) for work in works]
    times = [[_sample(work, count) / count for work, count in zip(works, calls, strict=True)] for _ in range(rounds)]
    return [Timing(min(column), statistics.median(column)) for column in zip(*times, strict=True)]


def _calls(work: Callable[[], object]) -> int:
    calls = 1
    while _sample(work, calls) < SAMPLE:
        calls *= 2
    return calls


def _sample(work: Callable[[], object], calls: int) -> float:
    begin = process_time()
    for _ in range(calls):
        work()
    return process_time() - begin


class _TimeUp(Exception):
    pass


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(_signal: int, _frame: object) -> None:
        raise _TimeUp

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def measure_at_most(seconds: float, work: Callable[[], object]) -> float | None:
    """CPU seconds of one call, or None when it takes longer than allowed."""
    try:
        with _alarm(seconds):
            once = _sample(work, 1)
    except _TimeUp:
        return None
    return once if once > 50 * SAMPLE else measure(work).best


class CommandFailed(Exception):
    """A command that cannot be measured; its text holds the command's complaint."""


def measure_command(command: Sequence[str], stdin: bytes = b"", *, runs: int = 5) -> Timing:
    """CPU seconds, own and the system's, of a process from start to end."""
    times: list[float] = []
    for _ in range(runs):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(stdin)
        process.stdin.close()
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # wait4 has reaped it: Popen must not try
        process.stderr.close()
        if process.returncode:
            raise CommandFailed(f"`{' '.join(command)}` failed: {complaint.decode(errors='replace').strip()}")
        times.append(usage.ru_utime + usage.ru_stime)
    return Timing(min(times), statistics.median(times))


# --- bars ---------------------------------------------------------------------------------------


class BarsMissed(Exception):
    """Raised at the end of a bench whose figures are over their bars; lists them."""


class Bars:
    """Holds figures against their bars and remembers those that are over."""

    def __init__(self) -> None:
        self._missed: list[str] = []

    def verdict(self, what: str, *checks: tuple[float, float]) -> str:
        """`ok` when every figure is within its bar."""
        if all(figure <= bar for figure, bar in checks):
            return "ok"
        self.miss(what)
        return "OVER"

    def miss(self, what: str) -> None:
        self._missed.append(what)

    def settle(self) -> None:
        if self._missed:
            raise BarsMissed("; ".join(self._missed))


# --- showing ------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    for unit, scale in (("s ", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first column is words and stands left, figures stand right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    print(f"\n{title}")
    for row in (head, ["-" * width for width in widths], *rows):
        first, *others = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  " + "  ".join([first, *others]))
