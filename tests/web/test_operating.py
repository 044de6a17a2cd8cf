"""What an operator sees and does by the console's API: jobs of the clock, dead letters, the configuration."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest_asyncio
from msgspec.structs import replace

from rejoinder.app import Gateway
from rejoinder.config.jobs import CronJob
from rejoinder.events import PromptText, Route
from rejoinder.store.base import AppendTranscript, BuryPart, PlanParts, PutSubagent, StoredSubagent, TranscriptEntry
from rejoinder.testing.patience import until
from tests.cli.a_store import said, sending
from tests.web.running import Site, running, settings

MARK = {"X-Rejoinder": "1"}
RARELY = CronJob(prompt="Greet.", every="30d", channel="web", chat="lobby")


class Operated:
    """A site, and the gateway behind it."""

    def __init__(self, site: Site, gateway: Gateway) -> None:
        self.site = site
        self.gateway = gateway

    async def does(self, path: str) -> int:
        status, _ = await self.site.post(path, headers=MARK)
        return status

    async def job(self) -> dict:
        _, body = await self.site.get("/api/jobs")
        (found,) = body["jobs"]
        return found

    async def next_tick(self) -> int | None:
        return (await self.job())["next"]


@pytest_asyncio.fixture
async def operated() -> AsyncIterator[Operated]:
    opened: asyncio.Future[Gateway] = asyncio.get_running_loop().create_future()

    async def hold(gateway: Gateway, _: object) -> None:
        opened.set_result(gateway)

    made = replace(settings(("Good morning.",), ("helper", "ada")), cron={"greeting": RARELY})
    async with running(made, hold) as site:
        gateway = await opened
        await until(gateway.store.jobs, "the clock's first look")
        yield Operated(site, gateway)


async def test_a_job_is_run_now_and_watched(operated):
    """TU-27: it is in the flow from its tick to what was said."""
    assert (await operated.job())["fired"] is None
    async with operated.site.page(path="/console/socket") as console:
        assert await operated.does("/api/jobs/greeting/run") == 200
        tick = await console.told("tick", job="greeting", agent="helper")
        sent = await console.told("sent", text="Good morning.", chat="lobby")
        turn = await console.told("turn", outcome="answered", session=tick["session"])
    assert "why" not in tick
    assert turn["message"] == ""
    assert turn["turn"] == sent["turn"]
    job = await operated.job()
    assert (job["outcome"], job["schedule"]) == ("answered", "30d")
    assert job["fired"]


async def test_a_job_is_paused_and_goes_on(operated):
    assert await operated.does("/api/jobs/greeting/pause") == 200
    job = await operated.job()
    assert job["paused"]
    assert job["next"] is None
    assert await operated.does("/api/jobs/greeting/resume") == 200
    await until(operated.next_tick, "the clock's next look")
    assert not (await operated.job())["paused"]


async def test_a_dead_letter_is_dropped_once(operated):
    """DE-33: as `rejoinder dead --drop` does."""
    store, place = operated.gateway.store, Route("gone", "1")
    await store.write(PlanParts((said(place, "a:1", "Lost."),), datetime.now(UTC)))
    dead = await store.write(BuryPart(await sending(store, place), "403"))
    assert await operated.does(f"/api/outbox/{dead.id}/drop") == 200
    assert (await store.part(dead.id)).state == "withdrawn"
    assert await operated.does(f"/api/outbox/{dead.id}/drop") == 404
    assert await operated.does(f"/api/outbox/{dead.id}/retry") == 404


async def test_what_of_the_configuration_does_not_hold_is_told(operated):
    _, body = await operated.site.get("/api/gateway")
    assert body["configuration"] == ""
    operated.gateway.note_not_in_effect("rejoinder.toml is gone.")
    _, body = await operated.site.get("/api/gateway")
    assert body["configuration"] == "rejoinder.toml is gone."
    assert body["agents"] == ["helper", "ada"]


async def test_the_operator_sees_the_runs_beside_conversations(operated: Operated):
    """TU-36: each with its state, its task and its log."""
    now, store = datetime(2030, 1, 2, tzinfo=UTC), operated.gateway.store
    eve = StoredSubagent("s:eve", "s", "s", "eve", "helper", "read the log", Route("web", "lobby"), now)
    said = (
        TranscriptEntry("user", (PromptText("read the log"),), now),
        TranscriptEntry("agent", (PromptText("It says 42."),), now),
    )
    await store.write(PutSubagent(eve), AppendTranscript("s:eve", said))
    _, body = await operated.site.get("/api/subagents")
    (seen,) = body["subagents"]
    assert (seen["name"], seen["state"], seen["task"]) == ("eve", "running", "read the log")
    assert seen["log"] == ["> read the log", "< It says 42."]
