"""Fuzzes the reader of agent output: `make fuzz`, or `make fuzz SECONDS=600`.

Seeds are the files of fuzz/corpus and the cases of tests/data/reply.json. What breaks a promise of
tests/outbound/invariants.py is written to fuzz/work under a name that is printed: moved to fuzz/corpus, it is
replayed by the tests for ever.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "fuzz" / "work"
CUTS = ("", "1", "5", "230")

try:
    import atheris
except ImportError as missing:
    sys.exit(f"Fuzzing needs atheris, which cannot be loaded here ({missing}); `make test` replays the corpus.")

sys.path.insert(0, str(ROOT))
with atheris.instrument_imports(include=["rejoinder.outbound"]):
    from rejoinder import ReplyReader  # noqa: F401  loaded here so that it is instrumented
    from tests.outbound.invariants import check, plan


def write_seeds() -> None:
    """Each known case, cut in a few ways."""
    WORK.mkdir(exist_ok=True)
    cases = json.loads((ROOT / "tests" / "data" / "reply.json").read_text("utf-8"))
    for number, case in enumerate(cases):
        for cuts in CUTS:
            (WORK / f"case-{number:02}-{cuts or 'whole'}").write_bytes(f"{cuts}\n{case['input']}".encode())


def main() -> None:
    write_seeds()
    atheris.Setup([*sys.argv, f"-artifact_prefix={WORK}/"], lambda data: check(plan(data)))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
