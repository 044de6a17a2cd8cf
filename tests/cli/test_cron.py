"""`rejoinder cron`, with and without a gateway that has the store open (TU-27)."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.store.base import (
    BeginTurn,
    CreateOwnEvent,
    Destination,
    EndRun,
    PutJob,
    RunClaim,
    SkipTick,
    Store,
    StoredJob,
    Tick,
    Verb,
)
from rejoinder.store.sqlite.store import open_store

NOW = datetime.now(UTC)
THEN = NOW - timedelta(hours=2)
SOON = NOW + timedelta(hours=3, minutes=30)
DAILY = "0 9 * * * Europe/Berlin"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["cron", *arguments])


def told(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*arguments: str) -> Any:
    return json.loads(told(*arguments, "--json"))


def refused(status: int, *arguments: str) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    return result.stderr


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store on which a gateway with three jobs has run, and where one of former days is no longer configured."""
    monkeypatch.chdir(tmp_path)
    asyncio.run(_make(f"sqlite:{tmp_path / 'rejoinder.db'}"))
    return f"sqlite:{tmp_path / 'rejoinder.db'}"


async def _make(url: str) -> None:
    store = open_store(url)
    await store.write(
        PutJob("morning", DAILY, THEN),
        PutJob("heartbeat/helper", "30m", THEN),
        PutJob("party", "2026-12-24 18:00 UTC", None),
        PutJob("former", "", None),
    )
    await _fires(store, "morning", "failed")
    await store.write(SkipTick(Tick("heartbeat/helper", THEN, SOON), "these are quiet hours", THEN))
    await store.close()


async def _fires(store: Store, job: str, outcome: Any) -> None:
    inbound = Inbound("web", f"{job}@1", "", Chat("c"), Sender(""), entry="cron")
    event = await store.write(CreateOwnEvent(inbound, Destination("s"), THEN, Tick(job, THEN, SOON)))
    assert event is not None
    claim = await store.write(BeginTurn("s", inbound.route, (event.id,), THEN))
    assert isinstance(claim, RunClaim)
    await store.write(EndRun(claim, outcome, THEN, "timeout"))


def kept(url: str, *verbs: Verb[Any]) -> dict[str, StoredJob]:
    async def look() -> dict[str, StoredJob]:
        store = open_store(url)
        try:
            for verb in verbs:
                await store.write(verb)
            return {job.name: job for job in await store.jobs()}
        finally:
            await store.close()

    return asyncio.run(look())


def test_the_list(url: str) -> None:
    """TU-27: when each is due, and what became of its last tick; what is no longer configured is not in it."""
    _, beats, morning, party = told().splitlines()
    assert beats.startswith("heartbeat/helper  30m")
    assert beats.endswith("skipped 2 h ago: these are quiet hours")
    assert DAILY in morning
    assert "  in 3 h " in morning
    assert morning.endswith("failed 2 h ago: timeout")
    assert party.endswith("no further run")


def test_the_list_as_json(url: str) -> None:
    """TU-27: stable keys."""
    jobs = {job.pop("name"): job for job in document()["jobs"]}
    assert list(jobs) == ["heartbeat/helper", "morning", "party"]
    morning = jobs["morning"]
    assert datetime.fromisoformat(morning.pop("next")) == SOON
    assert datetime.fromisoformat(morning.pop("fired")) == THEN
    assert morning == {
        "schedule": DAILY,
        "paused": False,
        "state": "over",
        "needs_schedule": False,
        "outcome": "failed",
        "detail": "timeout",
        "passed": None,
        "reason": "",
    }


def test_run_pause_and_resume(url: str) -> None:
    """TU-27: kept, and done by the gateway that runs next; resumed, its next tick is found again."""
    assert told("run", "morning").startswith("morning runs now. No gateway runs on this store; the next")
    assert kept(url)["morning"].wanted
    assert document("pause", "morning") == {"job": "morning", "asked": "pause", "gateway": None}
    assert kept(url)["morning"].paused
    assert "  paused" in told().splitlines()[2]
    assert "resumes it" in told("resume", "morning")
    assert not kept(url)["morning"].paused
    assert "  once a gateway runs" in told().splitlines()[2]
    assert "  in 3 h " in (kept(url, PutJob("morning", DAILY, SOON)) and told()).splitlines()[2]


def test_beside_a_gateway(url: str) -> None:
    """TU-27: the sentence says who does it."""

    async def beside() -> str:
        store = open_store(url)
        try:
            return await asyncio.to_thread(told, "run", "party")
        finally:
            await store.close()

    assert "The running gateway (process" in asyncio.run(beside())


def test_what_is_wrong(url: str) -> None:
    """Errors say what to do; 1 what cannot be done, 2 wrong use."""
    assert "there is no job 'mourning'; there are: heartbeat/helper, morning, party" in refused(1, "run", "mourning")
    assert "there is no job 'former'" in refused(1, "resume", "former")
    assert "which job?" in refused(2, "pause")
    assert "with run, pause or resume" in refused(2, "stop", "morning")


def test_nothing_to_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store without jobs, and no store at all."""
    monkeypatch.chdir(tmp_path)
    assert "there is no such file" in refused(1)
    kept(f"sqlite:{tmp_path / 'rejoinder.db'}")
    assert told() == "There are no scheduled jobs: configure a [cron.NAME] or a heartbeat, and start the gateway.\n"
    assert "no gateway with jobs has run on this store" in refused(1, "run", "morning")
