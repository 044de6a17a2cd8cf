"""Bots in processes of their own on a fake platform, measured from outside.

The stopwatch is the platform's (bench/bot_platform.py): from a message written to the answer shown.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter, sleep

import msgspec
from msgspec import Struct, field

HERE = Path(__file__).parent.parent
GATEWAY = "from rejoinder.cli import main; main()"
"""`rejoinder`, of whichever tree comes first on the path."""
IDLE_SECONDS = 4.0
"""How long a bot is left alone before its memory is looked at."""
LOOK_SECONDS = 0.1
CONFIG = """\
[gateway]
store = "{store}"

[agents.model]
kind = "openai"
base_url = "{model}/v1"
model = "any"

[agents.plain]
kind = "python"
call = "bench.platform:answer"

[channels.{channel}]
{here}
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


class Addresses(Struct, frozen=True):
    """What the platform's process tells first."""

    url: str
    model: str
    config: str


class Served(Struct, frozen=True):
    """The bots of one platform, by the name each has in bench/bots.py."""

    personality: str
    bots: tuple[str, ...]
    gateways: Mapping[str, Path] = field(default_factory=lambda: {"gateway": HERE})
    """Those of them that are `rejoinder run`, and of which tree."""

    def measure(
        self,
        bot: str,
        chats: int,
        rounds: int,
        agent: str = "model",
        store: str = "",
        processes: int = 1,
        shared: Callable[[], bool] = lambda: True,
    ) -> Measured:
        """`store`: where the gateway keeps what it keeps, if not in a file of its own. `processes`: how many serve
        together; it begins when each has its share."""
        with self._ready(bot, chats, rounds, agent, store, processes) as (platform, several, ready):
            assert platform.stdin is not None
            assert platform.stdout is not None
            while not shared():
                sleep(LOOK_SECONDS)
            spent = sum(cpu_seconds(each.pid) for each in several)
            platform.stdin.write("go\n")
            platform.stdin.flush()
            course = platform.stdout.readline()
            assert course, f"{bot} has stopped answering"
            told = msgspec.json.decode(course)
            spent = sum(cpu_seconds(each.pid) for each in several) - spent
            after = max(resident_mb(each.pid) for each in several)
        times = told["times"]
        return Measured(ready, times[0], times, told["took"], spent / len(times), after)

    def idle_mb(self, bot: str) -> float:
        """When all is loaded that is loaded by itself."""
        with self._ready(bot, 1, 1, "model") as (_, (process,), _ready):
            sleep(IDLE_SECONDS)
            return resident_mb(process.pid)

    def rounds(self, chats: int, rounds: int, times: int) -> Courses:
        """In turns, so that a busy moment meets all."""
        found: dict[str, list[Measured]] = {bot: [] for bot in self.bots}
        for _ in range(times):
            for bot in self.bots:
                found[bot].append(self.measure(bot, chats, rounds))
        return found

    @contextmanager
    def _ready(
        self, bot: str, chats: int, rounds: int, agent: str, store: str = "", processes: int = 1
    ) -> Iterator[tuple["subprocess.Popen[str]", list["subprocess.Popen[bytes]"], float]]:
        """The platform, processes of a bot one of which has begun to serve it, and the seconds that took."""
        with tempfile.TemporaryDirectory() as folder, self._platform(chats, rounds) as platform:
            assert platform.stdout is not None
            where = msgspec.json.decode(platform.stdout.readline(), type=Addresses)
            file = Path(folder) / "rejoinder.toml"
            channel = self.personality
            store = store or f"sqlite:{folder}/bench.db"
            config = CONFIG.format(store=store, model=where.model, channel=channel, here=where.config, agent=agent)
            file.write_text(config, "utf-8")
            tree = self.gateways.get(bot)
            ours = ["-c", GATEWAY, "run", "--config", str(file)]
            command = ours if tree else ["-m", "bench.bots", bot, where.url, where.model, folder]
            begin = perf_counter()
            log = Path(folder) / "log"
            with log.open("wb") as said, ExitStack() as all_of_them:
                several = [
                    all_of_them.enter_context(_process(command, tree or HERE, stderr=said)) for _ in range(processes)
                ]
                try:
                    assert platform.stdout.readline() == "ready\n", log.read_text("utf-8")
                    yield platform, several, perf_counter() - begin
                finally:
                    for each in several:
                        each.terminate()
                    platform.terminate()

    def _platform(self, chats: int, rounds: int) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "bench.bot_platform", self.personality, str(chats), str(rounds)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _process(command: Sequence[str], tree: Path, stderr: object) -> "subprocess.Popen[bytes]":
    env = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{HERE}"}
    return subprocess.Popen([sys.executable, *command], env=env, stdout=subprocess.DEVNULL, stderr=stderr)  # type: ignore[call-overload]


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text("utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
