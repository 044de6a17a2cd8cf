"""The crash suite over PostgreSQL, with three gateways and two workers (SC-31): trouble x process x personality.

    python -m tests.cluster.suite                        all of it
    python -m tests.cluster.suite --trouble freeze,partition,database
    python -m tests.cluster.suite --trouble point --points K3,K17 --target worker --personalities slack
    python -m tests.cluster.suite --trouble kill --seeds 10

Prints a line for each trial as it ends, then the table; ends with 1 when anything is lost, out of order, or there twice
of which it could be known that it had arrived, when nobody took over within 15 s, or when a point was not reached.
The rows of troubles that were tried whole are kept in counted.json, from which docs/scale.md has them.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.trial import LEASE, TAKEOVER, Result, Target, Trial, Trouble, run
from tests.crash.points import FILE_KEPT, POINTS, Personality
from tests.crash.suite import say
from tests.postgres import Server, durable_server

PERSONALITIES: tuple[Personality, ...] = ("telegram hold", "telegram resend", "slack", "discord")
TARGETS: tuple[Target, ...] = ("run", "worker")
LISTENING = ("K1", "K2", "K3", "K4", "K5")
"""Points to which only a process comes that listens."""
TROUBLES: tuple[Trouble, ...] = (
    "point",
    "kill",
    "freeze",
    "partition",
    "database",
    "database, longer than the leases",
)
MESSAGES, SEEDS = 32, 3
COUNTED = Path(__file__).with_name("counted.json")
HEADS = ("what", "trials", "messages", "lost", "held", "twice (DU-3)", "takeover p50", "longest", "violations")


def trials(given: argparse.Namespace) -> list[Trial]:
    wanted, points = _named(given.trouble) or list(TROUBLES), _named(given.points)
    targets = [each for each in TARGETS if not given.target or each == given.target]
    chosen = [each for each in PERSONALITIES if each in _named(given.personalities)]
    more = {"messages": given.messages, "lease": given.lease}
    found: list[Trial] = []
    for index, (at, target) in enumerate(_points(targets)):
        # Each point on one platform, in turn, unless it is said which.
        for personality in chosen or [PERSONALITIES[index % len(PERSONALITIES)]]:
            if "point" in wanted and (not points or at.partition(":")[0] in points):
                found.append(Trial("point", target, personality, at, **more))
    for trouble in ("kill", "freeze", "partition"):
        if trouble in wanted:
            for seed in range(1, given.seeds + 1):
                for place, target in enumerate(targets):
                    for personality in chosen or [PERSONALITIES[(seed + 2 * place) % len(PERSONALITIES)]]:
                        found.append(Trial(trouble, target, personality, seed=seed, **more))
    for trouble in ("database", "database, longer than the leases"):
        if trouble in wanted or ("database" in wanted and given.trouble):
            found += [Trial(trouble, "run", each, **more) for each in chosen or PERSONALITIES[::2]]
    return found


def _points(targets: Sequence[Target]) -> list[tuple[str, Target]]:
    named = [each for each in (*POINTS, FILE_KEPT) if each.way != "grown old"]
    return [
        (f"{each.name}:{each.passes[0] if each.way == 'first start' else 1}", target)
        for each in named
        for target in targets
        if target == "run" or each.name not in LISTENING
    ]


async def run_all(wanted: Sequence[Trial], server: Server, jobs: int, tell: bool = True) -> list[Result]:
    """Those that stop the server come last, each alone."""
    free = asyncio.Semaphore(jobs)

    async def one(trial: Trial) -> Result:
        async with free:
            began = time.monotonic()
            try:
                result = await run(trial, server)
            except (
                ExceptionGroup,
                OSError,
                RuntimeError,
            ) as error:  # what was counted of the others is not lost with it
                result = Result(trial, 0, 0, 0, None, [f"it could not be tried: {error!r}"])
        if tell:
            say(f"{trial.name:56} {_told(result)}, {time.monotonic() - began:.0f} s in all")
        return result

    together = await asyncio.gather(*(one(each) for each in wanted if not each.is_common))
    return [*together, *[await one(each) for each in wanted if each.is_common]]


def _told(result: Result) -> str:
    counts = [f"{count} {what}" for count, what in ((result.held, "held"), (result.duplicated, "twice")) if count]
    taken = [f"taken over in {result.takeover:.1f} s"] if result.takeover is not None else []
    return ", ".join(["; ".join(result.wrong) or "ok", *counts, *taken])


def table(results: Sequence[Result]) -> str:
    rows: list[tuple[str, ...]] = []
    for trouble in TROUBLES:
        for target in TARGETS:
            of = [each for each in results if (each.trial.trouble, each.trial.target) == (trouble, target)]
            if of:
                what = {"point": "kill -9 at a point", "kill": "kill -9 at any moment"}.get(trouble, trouble)
                rows.append(_row(what if of[0].trial.is_common else f"{what}: {of[0].trial.role}", of))
    rows.append(_row("all", results))
    lines = [HEADS, tuple("---" for _ in HEADS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def counts(results: Sequence[Result], load: float) -> dict[str, dict[str, float]]:
    """What was counted, by trouble; of both processes that it meets together."""
    found: dict[str, dict[str, float]] = {}
    for trouble in TROUBLES:
        if of := [each for each in results if each.trial.trouble == trouble]:
            taken = sorted(each.takeover for each in of if each.takeover is not None)
            found[trouble] = {
                "trials": len(of),
                "messages": sum(each.trial.messages for each in of),
                "lost": sum(each.lost for each in of),
                "held": sum(each.held for each in of),
                "twice": sum(each.duplicated for each in of),
                "takeover p50": round(taken[len(taken) // 2], 1) if taken else 0.0,
                "takeover longest": round(taken[-1], 1) if taken else 0.0,
                "violations": sum(bool(each.wrong) for each in of),
                "load": round(load, 1),
            }
    return found


def keep(counted: dict[str, dict[str, float]], file: Path = COUNTED) -> None:
    """What was counted before of other troubles stays."""
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    file.write_text(json.dumps(before | counted, indent=1) + "\n", "utf-8")


def is_whole(given: argparse.Namespace) -> bool:
    """Whether each trouble that was asked for was tried as often as by default, with leases and talk as by default."""
    alone = not (given.points or given.target or given.personalities)
    return alone and (given.messages, given.lease) == (MESSAGES, LEASE) and given.seeds >= SEEDS


def _row(what: str, results: Sequence[Result]) -> tuple[str, ...]:
    taken = sorted(each.takeover for each in results if each.takeover is not None)
    figures = (
        len(results),
        sum(each.trial.messages for each in results),
        sum(each.lost for each in results),
        sum(each.held for each in results),
        sum(each.duplicated for each in results),
        f"{taken[len(taken) // 2]:.1f} s" if taken else "",
        f"{taken[-1]:.1f} s" if taken else "",
        sum(bool(each.wrong) for each in results),
    )
    return (what, *map(str, figures))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.suite", description=__doc__)
    parser.add_argument("--trouble", default="", help="of point, kill, freeze, partition, database; all if not given")
    parser.add_argument("--points", default="", help="such as K3,K17; all if not given")
    parser.add_argument("--target", default="", choices=("", *TARGETS), help="the one that listens, or a worker")
    parser.add_argument("--personalities", default="", help=f"of {', '.join(PERSONALITIES)}; in turn if not given")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="in each trial")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="trials of each trouble that is no point")
    parser.add_argument("--lease", type=float, default=LEASE, help="seconds; 10 is the default of a gateway")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time, each of five processes")
    given = parser.parse_args()
    with durable_server() as server:
        results = asyncio.run(run_all(trials(given), server, given.jobs))
    if is_whole(given):
        keep(counts(results, os.getloadavg()[2]))
    failed = [each for each in results if each.wrong]
    for each in failed:
        say(f"\n--- {each.trial.name}: {each.wrong}\n{each.log}")
    say(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; at most {TAKEOVER:.0f} s for a takeover\n")
    say(table(results))
    return 1 if failed else 0


def _named(several: str) -> list[str]:
    return [each.strip() for each in several.split(",") if each.strip()]


if __name__ == "__main__":
    sys.exit(main())
