"""`/restart` where several gateways share a store (SC-25)."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.errors import BadConfiguration
from rejoinder.runtime.place.restarting import IN_TURN, Restart, RestartCheck
from rejoinder.runtime.restart_turns import ASKED, SCOPE, TURN, RestartTurns
from rejoinder.runtime.settings_agreement import DEBUG
from rejoinder.store.base import PutFact
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from rejoinder.turns.restarts import RestartRequest, RestartTurn
from tests.cluster.beside import configuration, owns, serving
from tests.cluster.several import Cluster, gateways
from tests.cluster.several import until as until_outside
from tests.postgres import Server, a_database


def fine() -> None:
    """Nothing is in its way."""


def wrong() -> None:
    raise BadConfiguration("rejoinder.toml:3: there is no such key")


async def test_the_next_one_waits_until_the_last_is_back(
    postgres: Server, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-25: of three, two start again, one after the other, each once, and a row says whose turn it is; the third
    would not start again, and goes on. What /debug has set is gone."""
    url, ended = a_database(postgres, "four_shards"), dict[str, Restart]()
    at_work, begin = set[RestartTurns](), RestartTurns._return

    async def noted(turns: RestartTurns) -> None:
        await begin(turns)
        if turns._began is not None:
            at_work.add(turns)

    monkeypatch.setattr(RestartTurns, "_return", noted)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        settings = read(configuration(platform, "telegram", "echo"), "rejoinder.toml", {})

        async def start(name: str, restart_check: RestartCheck) -> Gateway:
            here = serving(settings, {"echo": ScriptedAgent(name="echo")}, url, restart_check=restart_check)
            gateway = await stack.enter_async_context(here)
            gateway._begin_restart = lambda restart: ended.__setitem__(name, restart)
            return gateway

        first = await start("first", RestartCheck(fine))
        await until(lambda: owns(first, 4))
        await start("second", RestartCheck(fine))
        await start("bad", RestartCheck(wrong))
        await until(lambda: owns(first, 1) or owns(first, 2))
        await until(lambda: len(at_work) == 3)  # who starts after the request need not start again
        await first.store.write(PutFact(DEBUG, "messages.response_prefix", b"B:"))
        await first.store.write(PutFact(SCOPE, ASKED, msgspec.json.encode(RestartRequest(first._clock(), "earlier"))))
        await until(lambda: ended)
        ((name, restart),) = ended.items()
        row = msgspec.json.decode((await first.store.facts(SCOPE))[TURN], type=RestartTurn)
        assert row.by == restart.returns
        looks: list[None] = []
        first.cluster_member.tell(lambda: looks.append(None))
        await until(lambda: len(looks) > 2)
        assert list(ended) == [name], "the other one waits"
        await start("returned", RestartCheck(fine, restart.obeyed, restart.returns))
        await until(lambda: len(ended) == 2)
        assert {*ended} == {"first", "second"}
        refused = "Not restarted, because it would not start: rejoinder.toml:3"
        await until(lambda: refused in caplog.text)  # it may look after both others have restarted


async def test_all_start_again_and_chats_go_on(tmp_path: Path, postgres: Server) -> None:
    """SC-25: `/restart` in a chat: two processes start again, never both at a time, each once, in the process they
    were; what is said meanwhile is answered."""
    async with gateways(tmp_path, postgres, a_database(postgres), 2, owner="ann") as cluster:
        before, seen = {*_alive(cluster)}, set[frozenset[str]]()
        await cluster.platform.says("ann", "ann", "/restart")
        await cluster.platform.hears("ann", IN_TURN)

        def both_are_others() -> bool:
            now = frozenset(_alive(cluster))
            seen.add(now)
            return len(now) == 2 and not now & before and cluster.listener("telegram") in now

        await until_outside(both_are_others)
        assert all(seen), "one of them is always there"
        after = {*_alive(cluster)}
        assert {name.split(":")[1] for name in after} == {name.split(":")[1] for name in before}
        await cluster.platform.says("ann", "ann", "q3. What is it?")
        await cluster.platform.hears("ann", "a3. is short.")
        await until_outside(lambda: not cluster.rows(f"SELECT 1 FROM fact WHERE scope = '{SCOPE}' AND key = '{TURN}'"))
        assert {*_alive(cluster)} == after, "each once"


def _alive(cluster: Cluster) -> list[str]:
    now = "extract(epoch FROM clock_timestamp()) * 1000000"
    return [str(name) for (name,) in cluster.rows(f"SELECT name FROM process WHERE lease_until > {now}")]
