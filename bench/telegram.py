"""The whole gateway as it is run: `rejoinder run` with its store on the disk, serving Telegram.

Beside it, on the same fake Bot API and the same model and each in a process of its own (bench/bots.py): the least that
loses nothing, a durable relay, which is the measure; and a bare relay that keeps nothing, shown without a bar.
The stopwatch is the platform's (bench/bot_platform.py): from a message written to the answer shown.
"""

import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep

import msgspec
from msgspec import Struct

import rejoinder
from bench.timing import Bars, duration, print_table
from rejoinder.testing.platform.telegram.world import TOKEN

SLOWEST, LEAST = 2.0, 0.5
"""Bars: at most so many times the durable relay's p50, at least this share of its messages a second."""
FIRST = 2.0
"""At most so many times its first message."""
IDLE_MB, READY_SECONDS = 80.0, 1.0
IDLE_SECONDS = 4.0
"""How long a bot is left alone before its memory is looked at."""
GROWTH = 1.25
"""How much slower the last messages of a long chat may be, with an agent that has no prompt to grow."""
SESSIONS, EACH, ALONE, LONG = 50, 20, 200, 2000
CONFIG = """\
[gateway]
store = "sqlite:{folder}/bench.db"

[agents.model]
kind = "openai"
base_url = "{model}/v1"
model = "any"

[agents.plain]
kind = "python"
call = "bench.bots:answer"

[channels.telegram]
kind = "telegram"
token = "{token}"
api_root = "{api}"
agent = "{agent}"
dm = "open"
pace = {{ chat = "unlimited", account = "unlimited" }}
"""


class Measured(Struct):
    """One bot's way through one course."""

    ready: float
    first: float
    times: list[float]
    took: float
    cpu: float
    """Seconds a message."""
    after_mb: float

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20)[-1]

    @property
    def per_second(self) -> float:
        return len(self.times) / self.took

    @property
    def growth(self) -> float:
        """Of the last tenth over the second: in the first much is done for the first time."""
        tenth = len(self.times) // 10
        return statistics.median(self.times[-tenth:]) / statistics.median(self.times[tenth : 2 * tenth])


Courses = Mapping[str, Sequence[Measured]]


def measure(bot: str, chats: int, rounds: int, agent: str = "model") -> Measured:
    with _polling(bot, chats, rounds, agent) as (platform, process, ready):
        return timed(platform, process, ready)


def timed(platform: "subprocess.Popen[str]", process: "subprocess.Popen[bytes]", ready: float) -> Measured:
    """Lets people ask, and looks at what that cost."""
    assert platform.stdin is not None
    assert platform.stdout is not None
    spent = cpu_seconds(process.pid)
    platform.stdin.write("go\n")
    platform.stdin.flush()
    told = msgspec.json.decode(platform.stdout.readline())
    spent, after = cpu_seconds(process.pid) - spent, resident_mb(process.pid)
    times = told["times"]
    return Measured(ready, times[0], times, told["took"], spent / len(times), after)


def idle_mb(bot: str) -> float:
    """When all is loaded that is loaded by itself."""
    with _polling(bot, 1, 1, "model") as (_, process, _ready):
        sleep(IDLE_SECONDS)
        return resident_mb(process.pid)


@contextmanager
def _polling(
    bot: str, chats: int, rounds: int, agent: str
) -> Iterator[tuple["subprocess.Popen[str]", "subprocess.Popen[bytes]", float]]:
    """The platform, a bot that has begun to poll it, and the seconds that took."""
    with tempfile.TemporaryDirectory() as folder, platform_of("telegram", chats, rounds) as platform:
        assert platform.stdout is not None
        api, model = platform.stdout.readline().split()
        file = Path(folder) / "rejoinder.toml"
        file.write_text(CONFIG.format(folder=folder, model=model, api=api, token=TOKEN, agent=agent), "utf-8")
        arguments = ["gateway", str(file)] if bot == "gateway" else [bot, api, model, folder]
        begin = perf_counter()
        log = Path(folder) / "log"
        with log.open("wb") as said, started("bench.bots", *arguments, stderr=said) as process:
            try:
                assert platform.stdout.readline() == "polled\n", log.read_text("utf-8")
                yield platform, process, perf_counter() - begin
            finally:
                process.terminate()
                platform.terminate()


def platform_of(name: str, chats: int, rounds: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.bot_platform", name, str(chats), str(rounds)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def started(module: str, *arguments: str, stderr: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.DEVNULL, stderr=stderr)  # type: ignore[call-overload]


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


# --- the table ----------------------------------------------------------------------------------


def run() -> None:
    compileall.compile_dir(Path(rejoinder.__file__).parent, quiet=1)  # as whoever installs a package does
    bars = Bars()
    alone, crowd = _rounds(1, ALONE, 5), _rounds(SESSIONS, EACH, 3)
    long = measure("gateway", 1, LONG, "plain")
    rows: list[list[str]] = []

    def add(what: str, figures: Sequence[float], show: str, bar: str = "", check: Check | None = None) -> None:
        """Figures of the three bots, in their order."""
        _, durable, ours = figures
        verdict = bars.verdict(what, check(ours, durable)) if check is not None else ""
        shown = [duration(each) if show == "time" else f"{each:{show}}" for each in figures]
        rows.append([what, *shown, f"{ours / durable:.2f}", bar, verdict])

    def of(best: Callable[[Iterator[float]], float], courses: Courses, figure: str) -> list[float]:
        return [best(getattr(each, figure) for each in courses[bot]) for bot in BOTS]

    at_most, at_least = f"<= {SLOWEST:g} x", f">= {LEAST:g} x"
    add("message -> send, p50", of(min, alone, "p50"), "time", at_most, lambda ours, durable: (ours / durable, SLOWEST))
    add("message -> send, p95", of(min, alone, "p95"), "time")
    add("first message", of(min, alone, "first"), "time", at_most, lambda ours, durable: (ours / durable, FIRST))
    rate = of(max, crowd, "per_second")
    add(f"messages/s, {SESSIONS} sessions", rate, ".0f", at_least, lambda ours, durable: (LEAST, ours / durable))
    add(f"CPU per message, {SESSIONS} sessions", of(min, crowd, "cpu"), "time")
    ready = of(min, alone, "ready")
    add("ready", ready, "time", f"<= {READY_SECONDS:g} s", lambda ours, _: (ours, READY_SECONDS))
    idle = [idle_mb(bot) for bot in BOTS]
    add("memory, idle (MB)", idle, ".0f", f"< {IDLE_MB:g}", lambda ours, _: (ours, IDLE_MB))
    add(f"memory, after {SESSIONS * EACH} messages (MB)", of(max, crowd, "after_mb"), ".0f")
    what = f"p50 of the last of {LONG} messages over the first"
    verdict = bars.verdict(what, (long.growth, GROWTH))
    rows.append([what, "", "", f"{long.growth:.2f}", "", f"<= {GROWTH:g}", verdict])
    head = ["", "bare relay", "durable relay", "gateway", "gateway/durable", "bar", ""]
    print_table("`rejoinder run` on Telegram, every step on the disk", head, rows)
    bars.settle()


BOTS = ("bare", "durable", "gateway")
Check = Callable[[float, float], tuple[float, float]]
"""The gateway's figure and the durable relay's: what is held against which bar."""


def _rounds(chats: int, rounds: int, times: int) -> Courses:
    """In turns, so that a busy moment meets all."""
    found: dict[str, list[Measured]] = {bot: [] for bot in BOTS}
    for _ in range(times):
        for bot in BOTS:
            found[bot].append(measure(bot, chats, rounds))
    return found
