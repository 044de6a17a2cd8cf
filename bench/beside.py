"""`python -m bench beside OLD_TREE [ROUNDS]`: this tree and an older one, in turns, by the same measure.

The program that measures is this tree's; only the package under test changes. One person asks on Telegram, one question
after the other, so a figure is what one message costs. `git worktree add OLD_TREE COMMIT` makes the older tree.
The ratio is that of the medians over all rounds; it misses its bar when this tree is more than 10 % worse.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from bench.timing import BarsMissed, print_table

HERE = Path(__file__).parent.parent
ROUNDS, WARM, TIMED = 5, 30, 200
WORSE = 1.10
FIGURES = {"cpu": "CPU a message", "p50": "p50 of an answer", "p95": "p95 of an answer"}


async def measure() -> dict[str, float]:
    """Seconds, platform included: it is the same for both."""
    from bench.one_chat import CONFIG, Course
    from rejoinder.app import Gateway
    from rejoinder.config.load import load
    from rejoinder.testing import FakePlatform
    from rejoinder.testing.platform.telegram.world import TOKEN

    with tempfile.TemporaryDirectory() as folder:
        async with FakePlatform("telegram") as platform:
            file = Path(folder) / "rejoinder.toml"
            file.write_text(CONFIG.format(store=f"sqlite:{folder}/bench.db", token=TOKEN, api=platform.url), "utf-8")
            async with Gateway(load(str(file), {})) as gateway:
                serving = asyncio.ensure_future(gateway.serve())
                course = Course(platform, gateway)
                for _ in range(WARM):
                    await course.exchange()
                took: list[float] = []
                began = process_time()
                for _ in range(TIMED):
                    asked = perf_counter()
                    await course.exchange()
                    took.append(perf_counter() - asked)
                cpu = (process_time() - began) / TIMED
                await gateway.drain(0)
                await serving
    took.sort()
    return {"cpu": cpu, "p50": took[len(took) // 2], "p95": took[len(took) * 95 // 100]}


def _measured(tree: Path) -> dict[str, float]:
    env = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{HERE}"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.beside"], env=env, cwd=HERE, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def compare(old: Path, rounds: int) -> None:
    """In turns, and each round begins with the other tree, so that a busy moment meets both."""
    found: dict[Path, list[dict[str, float]]] = {old: [], HERE: []}
    for number in range(rounds):
        for tree in (old, HERE) if number % 2 == 0 else (HERE, old):
            found[tree].append(_measured(tree))
    rows: list[list[str]] = []
    missed: list[str] = []
    for key, title in FIGURES.items():
        before, after = (median(each[key] for each in found[tree]) for tree in (old, HERE))
        ratio = after / before
        rows.append([title, f"{before * 1000:.2f} ms", f"{after * 1000:.2f} ms", f"{ratio:.2f}"])
        if ratio > WORSE:
            missed.append(f"{title} is {ratio:.2f} times that of the older tree, at most {WORSE:.2f}")
    print_table(f"One warm Telegram message, {rounds} rounds in turns", ["", "older", "this", "ratio"], rows)
    if missed:
        raise BarsMissed("; ".join(missed))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure())))
