"""Machines are renewed one after the other: for a while an older version runs beside a newer schema (SC-23)."""

from pathlib import Path

from rejoinder.store.sql.schema import migrations
from tests.cluster.several import Cluster, gateways, until
from tests.cluster.test_several_gateways import PEOPLE, ask, hear
from tests.crash.gateway import Machine
from tests.postgres import Server, a_database

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'rejoinder_schema'"
LATEST = migrations()[-1].number


def a_newer_version_migrates(cluster: Cluster, step: int) -> None:
    """What a step may do that only adds: a table, and a column in every table, with a value for those who do not know
    it."""
    for (table,) in cluster.rows(TABLES):
        cluster.rows(f"ALTER TABLE {table} ADD COLUMN later_{step} TEXT NOT NULL DEFAULT 'later'")
    cluster.rows(f"CREATE TABLE later_{step} (id BIGINT PRIMARY KEY)")
    cluster.rows(f"INSERT INTO rejoinder_schema VALUES ({LATEST + step})")


async def test_an_older_process_goes_on_beside_a_newer_schema_and_not_beside_the_one_after(
    tmp_path: Path, postgres: Server
) -> None:
    """SC-23: one step behind it serves, and another of its version may still start; two steps behind it is refused in
    a sentence, and one that runs already keeps no lease."""
    async with gateways(tmp_path, postgres, a_database(postgres), 1, "slack") as cluster:
        (older,) = cluster.machines
        a_newer_version_migrates(cluster, 1)
        await hear(cluster, await ask(cluster, 3))
        late = _beside(cluster, tmp_path)
        await late.start()
        cluster.machines.append(late)
        await until(lambda: cluster.shards_of(late) >= 32)
        await hear(cluster, await ask(cluster, 103))
        assert len(cluster.answers()) == 2 * len(PEOPLE)
        await late.terminate()
        a_newer_version_migrates(cluster, 2)
        await late.start()
        assert await late.ended() == 1
        sentence = "It was written by a newer rejoinder. Install that version, or restore an older backup."
        assert sentence in " ".join(late.log.split())
        await older.says("Until then this process serves nothing")
        await until(lambda: cluster.shards_of(older) == 0)
        assert older.status is None


def _beside(cluster: Cluster, folder: Path) -> Machine:
    """One more of the same configuration."""
    here = folder / "late"
    here.mkdir()
    (first, *_) = cluster.machines
    late = Machine(here, "slack", "", on_unknown="hold", mode="followup", debounce_ms=0, store=cluster.url)
    (here / "rejoinder.toml").write_text((first.folder / "rejoinder.toml").read_text())
    return late
