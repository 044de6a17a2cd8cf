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


@pytest.mark.parametrize("crash_at", ["K3", "K3:3", "K4", "K4:3", "K1", "K1:4"])
def test_killed_around_the_commit(tmp_path, crash_at):
    """Killed before or after the one commit of room and inbox, or before the browser hears of it."""
    confirmed = live(tmp_path, "first", rounds=20, crash_at=crash_at)
    confirmed += live(tmp_path, "second", rounds=3, lines=3)
    confirmed += live(tmp_path, "first", rounds=20)  # the browser sends again what was not confirmed, and more
    check(tmp_path, confirmed)


def check(folder: Path, confirmed: list[list[str]]) -> None:
    store = sqlite3.connect(folder / "rejoinder.db")
    rows = store.execute("SELECT id, author, key, words FROM room_entry").fetchall()
    taken = Counter(id for (id,) in store.execute("SELECT message FROM inbox"))
    store.close()
    said = Counter(text for _, author, _, text in rows if author == "you")
    sent = {key: id for id, _, key, _ in rows if key is not None}
    by_id = {id: text for id, _, _, text in rows}
    assert set(said.values()) == {1}, "said twice"
    assert {f"first-{number}" for number in range(20)} <= set(said), "lost"
    assert taken == Counter(id for id, text in by_id.items() if not text.startswith("re ")), "inbox and rooms differ"
    for what, name, id in confirmed:
        assert (by_id[id] == name) if what == "done" else (sent[name] == id)
