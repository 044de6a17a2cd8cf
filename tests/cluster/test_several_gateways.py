"""Several gateways serve at once; each may die, hang or leave, and nothing is lost or said twice (SC-10, SC-31)."""

import signal
from pathlib import Path

from rejoinder.testing.patience import PATIENCE
from tests.cluster.several import Cluster, gateways, until
from tests.crash.trial import until_done
from tests.postgres import Server, a_database

# On Slack what was sent is found again (DU-3): nothing has to be held because nobody knows whether it arrived.
PEOPLE = ("ann", "bob", "cyd", "dan", "eve", "fay")


async def ask(cluster: Cluster, first: int) -> list[str]:
    """Everybody asks one question; returns what is to be heard."""
    expected: list[str] = []
    for place, person in enumerate(PEOPLE):
        number = first + 4 * place
        await cluster.platform.says(person, person, f"q{number}. What is it?")
        expected.append(f"a{number}. is short.")
    return expected


async def hear(cluster: Cluster, expected: list[str]) -> None:
    for person, text in zip(PEOPLE, expected, strict=True):
        await cluster.platform.hears(person, text, seconds=3 * PATIENCE)


async def test_two_serve_at_once_and_one_is_killed(tmp_path: Path, postgres: Server) -> None:
    """SC-10, SC-11, SC-31: one of the two listens, both answer; the one that listens is killed with kill -9 in the
    midst of it."""
    async with gateways(tmp_path, postgres, a_database(postgres), 2, "slack") as cluster:
        await until(lambda: bool(cluster.listener("slack")))
        expected = await ask(cluster, 3)
        await hear(cluster, expected)
        turns = "SELECT count(DISTINCT shard.holder) FROM turn JOIN shard ON shard.id = turn.shard"
        assert cluster.rows(turns) == [(2,)], "both have answered somebody"
        listens = cluster.of(cluster.listener("slack"))
        (other,) = (each for each in cluster.machines if each is not listens)
        again = await ask(cluster, 103)
        await listens.kill()
        await hear(cluster, again)
        await until_done(other, 2 * len(PEOPLE))
        assert cluster.answers() == sorted((*expected, *again))
        await until(lambda: cluster.shards_of(other) == 64)


async def test_one_that_hangs_loses_everything_and_comes_back(tmp_path: Path, postgres: Server) -> None:
    """SC-31: SIGSTOP for longer than the leases, then SIGCONT: nothing of it is written or sent, and it takes its
    share again."""
    async with gateways(tmp_path, postgres, a_database(postgres), 2, "telegram") as cluster:
        await until(lambda: bool(cluster.listener("telegram")))
        hangs = cluster.of(cluster.listener("telegram"))
        (other,) = (each for each in cluster.machines if each is not hangs)
        hangs.signal(signal.SIGSTOP)
        expected = await ask(cluster, 3)
        await hear(cluster, expected)
        hangs.signal(signal.SIGCONT)
        await until(lambda: cluster.shards_of(hangs) >= 32)
        again = await ask(cluster, 103)
        await hear(cluster, again)
        await until_done(other, 2 * len(PEOPLE))
        assert cluster.answers() == sorted((*expected, *again))


async def test_one_that_ends_cleanly_hands_over_at_once(tmp_path: Path, postgres: Server) -> None:
    """SC-5, SC-24: a clean stop gives back what it had; nobody waits for a lease to run out."""
    async with gateways(tmp_path, postgres, a_database(postgres), 2, "slack", lease=600.0) as cluster:
        await until(lambda: bool(cluster.listener("slack")))
        listens = cluster.of(cluster.listener("slack"))
        (other,) = (each for each in cluster.machines if each is not listens)
        assert await listens.terminate() in (0, 143)
        expected = await ask(cluster, 3)
        await hear(cluster, expected)
        await until_done(other, len(PEOPLE))
        assert cluster.answers() == sorted(expected)


async def test_a_front_listens_and_a_worker_answers(tmp_path: Path, postgres: Server) -> None:
    """SC-24: the front claims no shard, the worker does not listen."""
    async with gateways(tmp_path, postgres, a_database(postgres), 1, "slack", fronts=1) as cluster:
        worker, front = cluster.machines
        await until(lambda: bool(cluster.listener("slack")))
        assert cluster.of(cluster.listener("slack")) is front
        expected = await ask(cluster, 3)
        await hear(cluster, expected)
        assert (cluster.shards_of(worker), cluster.shards_of(front)) == (64, 0)
        await until_done(worker, len(PEOPLE))
        assert cluster.answers() == sorted(expected)
        for each in (worker, front):
            assert await each.terminate() in (0, 143)
