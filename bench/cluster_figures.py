"""What `python -m bench.cluster` measures, as values: held against its bars, and kept in docs/cluster.json, from which
`scripts/docs.py` makes the tables of docs/scale.md."""

import json
import statistics
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.postgres import LEAST

FILE = Path(__file__).resolve().parent.parent / "docs" / "cluster.json"
TAKEOVER = 15.0
"""The bar: p99 of the seconds until somebody else answers."""
GROWTH = 1.1
"""The bar: the memory of a process after all sessions, over that after the first quarter."""


class Way(Struct, frozen=True):
    """One store with so many processes; 0: SQLite."""

    processes: int
    per_second: float
    cpu: float
    p50: float
    p50_alone: float

    @property
    def what(self) -> str:
        if not self.processes:
            return "SQLite, 1 process"
        return f"PostgreSQL, {self.processes} process{'es' if self.processes > 1 else ''}"


class Rates(Struct, frozen=True, tag_field="figure", tag="rate"):
    chats: int
    ways: tuple[Way, ...]
    load: float

    def over(self) -> list[str]:
        rate = {way.processes: way.per_second for way in self.ways}
        over = [] if rate[1] >= LEAST * rate[0] else [f"one process has less than {LEAST:g} of SQLite's messages/s"]
        return over + ([] if rate[2] > rate[1] else ["two processes are no faster than one"])


class SessionMemory(Struct, frozen=True, tag_field="figure", tag="sessions"):
    sessions: tuple[int, ...]
    """After how many it was looked at."""
    memory: tuple[tuple[float, ...], ...]
    """MB of each process then."""
    per_second: float
    load: float

    @property
    def growth(self) -> float:
        return max(last / first for first, last in zip(self.memory[1], self.memory[-1], strict=True))

    def over(self) -> list[str]:
        return [] if self.growth <= GROWTH else [f"memory grows to {self.growth:.2f} times that of a quarter"]


class Takeovers(Struct, frozen=True, tag_field="figure", tag="takeover"):
    processes: int
    lease: float
    shards: tuple[float, ...]
    """Seconds from each kill until others held all of its shards."""
    answers: tuple[float, ...]
    """Seconds from each kill until the last of its chats was answered."""
    messages: int
    lost: int
    twice: int
    load: float

    def over(self) -> list[str]:
        p99 = of_hundred(self.answers, 99)
        over = [] if p99 < TAKEOVER else [f"p99 of a takeover is {p99:.1f} s"]
        return over + ([f"{self.lost} lost, {self.twice} twice"] if self.lost or self.twice else [])


Figures = Rates | SessionMemory | Takeovers


def of_hundred(times: tuple[float, ...], percentile: int) -> float:
    if len(times) == 1:
        return times[0]
    return statistics.quantiles(times, n=100, method="inclusive")[percentile - 1]


def keep(figures: Figures, file: Path = FILE) -> None:
    """In the place of what was measured of the same before."""
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    known[figures.__struct_config__.tag] = msgspec.to_builtins(figures)
    file.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def kept(file: Path = FILE) -> dict[str, Figures]:
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return {name: msgspec.convert(figures, Figures) for name, figures in known.items()}
