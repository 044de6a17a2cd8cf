"""`python -m bench [NAME ...]` runs every module here that has a `run()`, or those named; `python -m bench beside TREE`
compares with an older tree.

Exit status 1 when a figure is over its bar.
"""

import os
import pkgutil
import platform
import sys
from importlib import import_module
from pathlib import Path

from bench import beside
from bench.timing import BarsMissed


def main(wanted: list[str]) -> int:
    found = [info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)]) if info.name != "__main__"]
    runs = {name: module.run for name in found if hasattr(module := import_module(f"bench.{name}"), "run")}
    if wanted[:1] == ["beside"]:
        return _beside(*wanted[1:])
    if unknown := [name for name in wanted if name not in runs]:
        print(f"No bench is called {unknown[0]!r}; there are: {', '.join(runs)}.", file=sys.stderr)
        return 2
    print(f"{_cpu()}, {os.cpu_count()} cores, {platform.python_implementation()} {platform.python_version()}")
    missed = False
    for name in wanted or runs:
        try:
            runs[name]()
        except BarsMissed as over:
            print(f"\n{name}: over the bar: {over}")
            missed = True
    return 1 if missed else 0


def _beside(tree: str, rounds: str = str(beside.ROUNDS)) -> int:
    try:
        beside.compare(Path(tree), int(rounds))
    except BarsMissed as over:
        print(f"\nbeside: over the bar: {over}")
        return 1
    return 0


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
