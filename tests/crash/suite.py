"""The crash suite: kill points x personalities x messages, and the table of what people saw (DU-22).

    python -m tests.crash.suite                      all of it
    python -m tests.crash.suite --points K17,K18 --personalities web --messages 5
    python -m tests.crash.suite --points any         at random moments
    python -m tests.crash.suite --talk files,speaks  answers with files, and voice notes

Prints a line for each trial as it ends, then the table; ends with 1 when anything is lost, twice or leaked that may
not be, or when a point was not reached. The rows of personalities that were run whole are kept in counted.json, from
which README.md has them.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from tests.crash.points import (
    ALONE,
    AT_RANDOM,
    CROSSED,
    HANDING_OVER,
    PERSONALITIES,
    POINTS,
    SENDING_FILES,
    SPEAKING,
    point,
    sends_files,
)
from tests.crash.proofs import Proof, backlog, half_said, outage, stopped_in_mid_answer, waiting_rows
from tests.crash.random_kills import random_kills
from tests.crash.trial import Result, Talk, Trial, run

HEADS = (
    "personality",
    "trials",
    "messages",
    "lost",
    "held",
    "duplicated",
    "under way beside it",
    "leaked bytes",
    "violations",
)


LENGTHS = tuple(product(("short", "long"), repeat=2))
RANDOM_TALKS: tuple[tuple[Talk, int], ...] = (("answers", 1), ("hands over", 2))
"""What is talked about at random moments, and how much less than elsewhere: there all of it is in one room."""
ROWS, SERVING_AGAIN, OUTAGE = 10_000, 5.0, 100.0
"""Rows that wait, seconds until a gateway serves again with them, and seconds for which the platform is away."""
MESSAGES = 20
COUNTED = Path(__file__).with_name("counted.json")
RANDOM_KILLS, RANDOM_MESSAGES, RANDOM_SEEDS = 40, 160, (1, 2)


def trials(points: Sequence[str], personalities: Sequence[str], messages: int) -> list[Trial]:
    spoken_to = [each for each in PERSONALITIES if not personalities or each in personalities]
    answers = [
        Trial(each, personality, at, messages)
        for each in POINTS
        for personality in spoken_to
        if each.applies_to(personality)
        for at in each.passes
    ]
    handed = [
        Trial(point(name), personality, at, max(4, messages // 4), talk="hands over")
        for name, at in HANDING_OVER
        for personality in spoken_to
    ]
    crossed = [
        Trial(point(name), personality, at, messages, crossed_with=(before,))
        for before, name, at in CROSSED
        for personality in spoken_to
    ]
    files = [
        Trial(point(name), personality, at, max(4, messages // 4), talk="files")
        for name, at in SENDING_FILES
        for personality in spoken_to
        if sends_files(personality)
    ]
    spoken = [
        Trial(point(name), personality, at, max(4, messages // 4), talk="speaks")
        for name, at in SPEAKING
        for personality in spoken_to
        if sends_files(personality)
    ]
    alone = [
        Trial(point(name), personality, at, max(4, messages // 4), talk="alone")
        for name, at in ALONE
        for personality in spoken_to
        if personality != "web"
    ]
    at_random = [
        Trial(AT_RANDOM, personality, at, max(4, messages // each), talk=talk)
        for talk, each in RANDOM_TALKS
        for personality in spoken_to
        for at in AT_RANDOM.passes
    ]
    every = (*answers, *handed, *files, *spoken, *crossed, *alone, *at_random)
    return [trial for trial in every if not points or trial.point.name in points]


async def run_all(wanted: Sequence[Trial], jobs: int, tell: bool = True) -> list[Result]:
    free = asyncio.Semaphore(jobs)

    async def one(trial: Trial) -> Result:
        async with free:
            result = await run(trial)
        if tell:
            say(f"{trial.name:36} {'ok' if not result.wrong else '; '.join(result.wrong)}{_asides(result)}")
        return result

    return await asyncio.gather(*map(one, wanted))


def _asides(result: Result) -> str:
    held = f" (held {len(result.held)})" if result.held else ""
    twice = f" (twice: {', '.join(result.duplicated)})" if result.duplicated else ""
    return held + twice + (f" (under way beside it: {len(result.beside)})" if result.beside else "")


def table(results: Sequence[Result]) -> str:
    rows = [*_rows(results), _row("all", results)]
    lines = [HEADS, tuple("---" for _ in HEADS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    by_name = {name: [each for each in results if each.trial.personality == name] for name in PERSONALITIES}
    return [_row(name, its_own) for name, its_own in by_name.items() if its_own]


def keep(rows: Sequence[tuple[str, ...]], file: Path = COUNTED) -> None:
    """What was counted before of others stays."""
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    counted = before | {name: dict(zip(HEADS[1:], map(int, figures), strict=True)) for name, *figures in rows}
    file.write_text(json.dumps(counted, indent=1) + "\n", "utf-8")


def _row(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    figures = (
        len(results),
        sum(each.trial.messages for each in results),
        sum(len(each.lost) for each in results),
        sum(len(each.held) for each in results),
        sum(len(each.duplicated) for each in results),
        sum(len(each.beside) for each in results),
        sum(each.leaked for each in results),
        sum(bool(each.wrong) for each in results),
    )
    return (name, *map(str, figures))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def not_applicable() -> list[str]:
    return [f"{point.name} not on web: {point.not_on_web}" for point in POINTS if point.not_on_web]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.suite", description=__doc__)
    parser.add_argument("--points", default="", help="such as K3,K17; all when not given")
    parser.add_argument("--personalities", default="", help=f"of {', '.join(PERSONALITIES)}; all when not given")
    parser.add_argument("--talk", default="", help="such as files,speaks; all when not given")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="in each trial")
    parser.add_argument("--jobs", type=int, default=4, help="trials at a time")
    given = parser.parse_args()
    wanted = trials(_named(given.points), _named(given.personalities), given.messages)
    talks = _named(given.talk)
    wanted = [trial for trial in wanted if not talks or trial.talk in talks]
    results = asyncio.run(run_all(wanted, given.jobs))
    is_whole = not (given.points or given.talk) and given.messages == MESSAGES
    proven = asyncio.run(prove_all()) if is_whole and not given.personalities else []
    if is_whole:
        keep(_rows(results))
    failed = [result for result in results if result.wrong]
    for result in failed:
        say(f"\n--- {result.trial.name}: the gateway's log\n{result.log[-4000:]}")
    say("\n" + table(results))
    for line in not_applicable():
        say(line)
    say("")
    for proof in proven:
        say(proof.told + "".join(f"; WRONG: {each}" for each in proof.wrong))
    return 1 if failed or any(proof.wrong for proof in proven) else 0


async def prove_all() -> list[Proof]:
    return [
        await waiting_rows(ROWS, at_most=SERVING_AGAIN),
        await backlog(20),
        await stopped_in_mid_answer(),
        *[await half_said(each, f"{first} {second}") for each in PERSONALITIES for first, second in LENGTHS],
        await outage(OUTAGE),
        *[await _random(on_unknown, seed) for on_unknown in ("hold", "resend") for seed in RANDOM_SEEDS],
    ]


async def _random(on_unknown: str, seed: int) -> Proof:
    killed = await random_kills(RANDOM_KILLS, RANDOM_MESSAGES, seed, on_unknown)
    return Proof(f"{killed.told} ({on_unknown})", [*killed.quarantined, *killed.wrong])


def _named(several: str) -> list[str]:
    return [each.strip() for each in several.split(",") if each.strip()]


if __name__ == "__main__":
    sys.exit(main())
