"""Killed around the tick of a job: it is fired once, and its turn is not lost (TU-27, DU-5, DU-20)."""

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rejoinder.crashpoint import VARIABLE
from rejoinder.store.base import StoredJob
from rejoinder.store.sqlite import open_reader
from rejoinder.testing.patience import until
from rejoinder.testing.ports import free_port
from tests.crash.gateway import REJOINDER

PATIENCE = 60
KILLED = -9
CONFIG = """
[agents.clock]
kind = "python"
call = "agent:tick"
path = "{here}"

[agents.other]
kind = "tour"

[channels.web]
port = {port}
agents = ["clock", "other"]

[cron.tick]
every = "1s"
agent = "clock"
channel = "web"
chat = "lobby"
prompt = "Tick?"
"""


async def live(folder: Path, crash_at: str = "", until_fired: int = 0) -> int:
    """A gateway, until it dies or has fired so often."""
    environment = {**os.environ, VARIABLE: crash_at}
    with (folder / "log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *REJOINDER, "run", cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        async with asyncio.timeout(PATIENCE):
            if until_fired:
                await until(lambda: len(fired(folder)) >= until_fired, f"tick {until_fired}")
                process.terminate()
            return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "rejoinder.db")) as db:
        return db.execute(sql).fetchall()


def fired(folder: Path) -> list[tuple[object, ...]]:
    if not (folder / "rejoinder.db").exists():
        return []
    try:
        return rows(folder, "SELECT event, id FROM inbox WHERE event LIKE 'tick@%'")
    except sqlite3.OperationalError:  # it is being made
        return []


async def job(folder: Path) -> StoredJob:
    store = open_reader(f"sqlite:{folder / 'rejoinder.db'}")
    try:
        (kept,) = await store.jobs()
        return kept
    finally:
        await store.close()


@pytest.mark.parametrize("point", ["K3", "K4", "K15"])
async def test_a_tick_is_fired_once_and_never_lost(tmp_path, point):
    """Inside the commit of a tick; committed, not in its lane; answered, not sent: each tick has one turn, each turn
    one end, and people read each answer once."""
    config = CONFIG.format(here=Path(__file__).parent, port=free_port())
    (tmp_path / "rejoinder.toml").write_text(config)
    assert await live(tmp_path, crash_at=point) == KILLED, (tmp_path / "log").read_text()
    before = await job(tmp_path)
    seen = len(fired(tmp_path))
    assert seen == (0 if point == "K3" else 1)
    assert before.is_open is (point != "K3")
    await live(tmp_path, until_fired=seen + 2)
    ticks = fired(tmp_path)
    assert len({tick for tick, _ in ticks}) == len(ticks) >= seen + 2
    waits = "SELECT count(i.session) FROM inbox LEFT JOIN turn_input i ON i.event = inbox.id"
    assert set(rows(tmp_path, f"{waits} WHERE inbox.event LIKE 'tick@%' GROUP BY inbox.id")) == {(1,)}
    ended = rows(tmp_path, "SELECT outcome FROM turn WHERE state = 'closed'")
    assert set(ended) == {("answered",)}
    assert len(ended) >= len(ticks) - 1  # one may have been under way in the end
    assert len(rows(tmp_path, "SELECT id FROM room_entry WHERE author = 'clock'")) == len(ended)
