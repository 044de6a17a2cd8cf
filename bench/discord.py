"""The whole gateway on a fake Discord, and a bare bot of discord.py on the same (bench/discord_bot.py), in turns.

The stopwatch is the platform's, as in bench/telegram.py: from a message written to the answer shown.
"""

import compileall
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep

import rejoinder
from bench.telegram import Measured, platform_of, resident_mb, started, timed
from bench.timing import Bars, duration, print_table
from rejoinder.testing.platform.discord.world import BOT_NAME, token_of

SLOWEST = 2.0
"""At most so many times the p50 of a bare bot."""
ROUNDS, MESSAGES, CHATS, EACH = 3, 150, 20, 20
IDLE_SECONDS = 3.0
BOTS = ("discord", "gateway")
CONFIG = """\
[gateway]
store = "sqlite:{folder}/bench.db"

[agents.model]
kind = "openai"
base_url = "{model}/v1"
model = "any"

[channels.discord]
token = "{token}"
api_root = "{api}/api"
agent = "model"
dm = "open"
pace = {{ chat = "unlimited", account = "unlimited" }}
"""


@contextmanager
def _connected(
    bot: str, chats: int, rounds: int
) -> Iterator[tuple["subprocess.Popen[str]", "subprocess.Popen[bytes]", float]]:
    """The platform, a bot that has connected to it, and the seconds that took."""
    with tempfile.TemporaryDirectory() as folder, platform_of("discord", chats, rounds) as platform:
        assert platform.stdout is not None
        api, model = platform.stdout.readline().split()
        file, log = Path(folder) / "rejoinder.toml", Path(folder) / "log"
        file.write_text(CONFIG.format(folder=folder, model=model, api=api, token=token_of(BOT_NAME)), "utf-8")
        arguments = ["gateway", str(file)] if bot == "gateway" else [bot, api, model, folder]
        begin = perf_counter()
        with log.open("wb") as said, started("bench.bots", *arguments, stderr=said) as process:
            try:
                assert platform.stdout.readline() == "polled\n", log.read_text("utf-8")
                yield platform, process, perf_counter() - begin
            finally:
                process.terminate()
                platform.terminate()


def measure(bot: str, chats: int, rounds: int) -> Measured:
    with _connected(bot, chats, rounds) as come:
        return timed(*come)


def idle_mb(bot: str) -> float:
    with _connected(bot, 1, 1) as (_, process, _ready):
        sleep(IDLE_SECONDS)
        return resident_mb(process.pid)


def run() -> None:
    compileall.compile_dir(Path(rejoinder.__file__).parent, quiet=1)  # as whoever installs a package does
    alone: dict[str, list[Measured]] = {bot: [] for bot in BOTS}
    crowd: dict[str, list[Measured]] = {bot: [] for bot in BOTS}
    for _ in range(ROUNDS):
        for bot in BOTS:
            alone[bot].append(measure(bot, 1, MESSAGES))
            crowd[bot].append(measure(bot, CHATS, EACH))
    bars, rows = Bars(), list[list[str]]()

    def add(what: str, figures: list[float], show: Callable[[float], str], bar: float | None = None) -> None:
        bare, ours = figures
        verdict = "" if bar is None else bars.verdict(what, (ours / bare, bar))
        rows.append([what, *map(show, figures), f"{ours / bare:.2f}", "" if bar is None else f"<= {bar:g} x", verdict])

    def best(courses: dict[str, list[Measured]], figure: str) -> list[float]:
        return [min(getattr(each, figure) for each in courses[bot]) for bot in BOTS]

    add("message -> answer sent, p50", best(alone, "p50"), duration, SLOWEST)
    add("message -> answer sent, p95", best(alone, "p95"), duration)
    add("CPU per message", best(alone, "cpu"), duration)
    add(f"p50, {CHATS} chats at once", best(crowd, "p50"), duration)
    add(f"CPU per message, {CHATS} chats at once", best(crowd, "cpu"), duration)
    add("connected", best(alone, "ready"), duration)
    add("memory, idle (MB)", [idle_mb(bot) for bot in BOTS], "{:.0f}".format)
    rest = [[statistics.median(each.after_mb for each in crowd[bot]) for bot in BOTS]]
    add(f"memory, after {CHATS * EACH} messages (MB)", rest[0], "{:.0f}".format)
    head = ["", "bare discord.py", "gateway", "gateway/bare", "bar", ""]
    print_table("`rejoinder run` on Discord, every step on the disk", head, rows)
    bars.settle()
