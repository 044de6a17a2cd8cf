"""All processes on a store are configured alike where it matters (SC-25)."""

import asyncio
import logging
from contextlib import AsyncExitStack
from functools import partial

import pytest
from msgspec.structs import replace

from rejoinder.config.load import read
from rejoinder.config.schema import Settings
from rejoinder.errors import RejoinderError
from rejoinder.programs.config_writing import EACH_ITS_OWN, attach
from rejoinder.programs.doctor import Finding, examined
from rejoinder.programs.reloading import SettingsSource, Watch
from rejoinder.programs.store_moves import rehome_store
from rejoinder.session import SessionSettings
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import configuration, front_and_worker, owns, serving
from tests.postgres import Server, a_database
from tests.web.running import Site, running
from tests.web.running import settings as page_settings

OTHERS = {
    "session.scope": 'session.scope = "shared"',
    "session.identity_links": 'session.identity_links = { ann = ["telegram:1", "telegram:2"] }',
    "channels": "[channels.other]\n{here}",
}


async def rehomed(url: str, settings: Settings) -> bool:
    """As soon as the server has let go of the gateways that have just ended."""
    try:
        await asyncio.to_thread(rehome_store, url, settings, None)
    except RejoinderError:
        return False
    return True


@pytest.mark.parametrize("key", OTHERS)
async def test_one_that_differs_claims_nothing(postgres: Server, caplog: pytest.LogCaptureFixture, key: str) -> None:
    """SC-25: it names the key; the other one goes on. `rejoinder store rehome` applies the change when none runs."""
    url = a_database(postgres, "four_shards")
    agent = ScriptedAgent("Hello.")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        text = configuration(platform, "telegram", agent.name)
        more = OTHERS[key].replace("{here}", platform.config())
        more = f"{more}\n{text}" if key != "channels" else f"{text}\n{more}"
        same, other = (read(each, "rejoinder.toml", {}) for each in (text, more))
        async with serving(same, {agent.name: agent}, url) as first:
            await until(lambda: owns(first, 4))
            with caplog.at_level(logging.ERROR):
                async with serving(other, {agent.name: ScriptedAgent()}, url) as second:
                    await until(lambda: second.cluster_member.disagrees)
                    looks: list[None] = []
                    second.cluster_member.tell(lambda: looks.append(None))
                    await until(lambda: len(looks) > 1)
                    assert owns(second, 0)
                    assert owns(first, 4)
                    assert not second.cluster_member.duties.leases
                    await platform.says("ann", "ann", "hello")
                    await platform.hears("ann", "Hello.")
        assert f"{key}" in caplog.text
        assert "answers no chats" in caplog.text
        if key != "channels":
            await until(partial(rehomed, url, other))
        async with serving(other, {agent.name: agent}, url) as alone:
            await until(lambda: owns(alone, 4))


async def test_the_file_is_not_written_from_a_chat(postgres: Server) -> None:
    """SC-25: each machine has its own, so `/config set` is refused, with the reason."""
    async with front_and_worker(postgres, "telegram", ScriptedAgent(), top="commands.config = true") as pair:
        attach(pair.worker, SettingsSource(Watch("nowhere.toml"), lambda: pair.worker.configured))
        await pair.platform.says("ann", "ann", "/config set messages.queue.debounce_ms 5")
        assert (await pair.platform.hears("ann")).text == EACH_ITS_OWN


async def test_the_key_that_differs_is_shown_to_operators(postgres: Server) -> None:
    """SC-25: `/health` and `/ready` of the process that serves nobody name the key, and so does `rejoinder doctor` with
    its configuration, before anybody starts it; that of the others is fine."""
    same = page_settings(store=a_database(postgres, "one_shard"))
    other = replace(same, session=SessionSettings(scope="shared"))
    async with running(same) as first:
        await until(partial(_is_ready, first))
        async with running(other) as second:
            sentence = "session.scope is"
            await until(partial(_says, second, sentence))
            status, told = await second.get("/ready")
            assert status == 503
            assert sentence in told["problems"][0]
            assert "rejoinder store rehome" in told["problems"][0]
            assert await _is_ready(first)
        assert (await _of_doctor(same)).ok
        differs = await _of_doctor(other)
        assert not differs.ok
        assert differs.found.startswith(sentence)


async def _is_ready(site: Site) -> bool:
    return (await site.get("/ready"))[0] == 200


async def _says(site: Site, sentence: str) -> bool:
    return any(sentence in problem for problem in (await site.get("/health"))[1]["problems"])


async def _of_doctor(settings: Settings) -> Finding:
    return next(iter([finding async for finding in examined(settings) if finding.what == "settings"]))
