"""kill -9 anywhere between a browser and the gateway's inbox: nothing is lost, nothing is there twice (DU-1, DU-4)."""

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rejoinder.crashpoint import VARIABLE

PROGRAM = [sys.executable, "-m", "tests.channels.web.killed_channel"]
ROOT = Path(__file__).parents[3]
KILLED = -9


def live(folder: Path, life: str, *, rounds: int, crash_at: str = "", lines: int | None = None) -> list[list[str]]:
    """What was confirmed until it ended, or was killed at a crash point or after so many confirmations."""
    command = [*PROGRAM, str(folder), life, str(rounds)]
    environment = {**os.environ, VARIABLE: crash_at}
    confirmed: list[list[str]] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as program:
        assert program.stdout is not None
        for line in program.stdout:
            if line.endswith("\n"):
                confirmed.append(line.split())
            if len(confirmed) == lines:
                program.kill()
        program.wait()
        assert program.returncode == (KILLED if crash_at or lines else 0)
    return confirmed


@pytest.mark.parametrize("crash_at", ["K2", "K2:3", "K3:2", "K4:3", "K1", "K1:4"])
def test_killed_between_journal_and_inbox(tmp_path, crash_at):
    """Killed after the journal's commit, around the inbox's, or before the browser hears of it."""
    confirmed = live(tmp_path, "first", rounds=20, crash_at=crash_at)
    confirmed += live(tmp_path, "second", rounds=3, lines=3)
    confirmed += live(tmp_path, "first", rounds=20)  # the browser sends again what was not confirmed, and more
    check(tmp_path, confirmed)


def check(folder: Path, confirmed: list[list[str]]) -> None:
    journal = sqlite3.connect(folder / "rejoinder.db.web.db")
    said = Counter(text for (text,) in journal.execute("SELECT text FROM messages WHERE author = 'you'"))
    sent = dict(journal.execute("SELECT part, id FROM messages WHERE part IS NOT NULL"))
    by_id = dict(journal.execute("SELECT id, text FROM messages"))
    journal.close()
    store = sqlite3.connect(folder / "rejoinder.db")
    taken = Counter(text for (text,) in store.execute("SELECT message FROM inbox"))
    store.close()
    assert set(said.values()) == {1}, "said twice"
    assert {f"first-{number}" for number in range(20)} <= set(said), "lost"
    assert taken == Counter(id for id, text in by_id.items() if not text.startswith("re ")), "inbox and journal differ"
    for what, name, id in confirmed:
        assert (by_id[id] == name) if what == "done" else (sent[name] == id)
