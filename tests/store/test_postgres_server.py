"""Bad days, encryption and rights of a real server that is strict: passwords, certificates, a small disk (SC-22)."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Accept
from rejoinder.store.postgresql.store import PostgresStore, open_store
from rejoinder.testing.store_contract.given import NOW, an_inbound
from tests import disks
from tests.peers import program
from tests.postgres import Server, install

SECRET = "s3cret of @ll"
QUOTED = "s3cret%20of%20%40ll"
NARROW = (
    f"CREATE ROLE narrow LOGIN PASSWORD '{SECRET}' NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT 20",
    "CREATE DATABASE chats OWNER narrow",
    "REVOKE ALL ON DATABASE chats FROM PUBLIC",
)


def certificate(folder: Path, name: str) -> Path:
    """A certificate that signs itself, for 127.0.0.1."""
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    files = ["-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.pem")]
    subprocess.run([*made, *files, "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return folder / f"{name}.pem"


@pytest.fixture(scope="module")
def strict() -> Generator[Server]:
    """A server that wants a password over TLS from everybody but its owner."""
    install()
    program("openssl")
    folder = Path(tempfile.mkdtemp(prefix="rejoinder-strict-postgres-"))
    server = Server(folder)
    server.start()
    try:
        for name in ("right", "wrong"):
            certificate(folder, name)
        data = folder / "data"
        owner = data.stat()
        shutil.copy(folder / "right.pem", data / "server.crt")
        shutil.copy(folder / "right.key", data / "server.key")
        for file in ("server.crt", "server.key"):
            os.chown(data / file, owner.st_uid, owner.st_gid)
            (data / file).chmod(0o600)
        (data / "pg_hba.conf").write_text("host all owner all trust\nhostssl all all all scram-sha-256\n")
        for made in (*NARROW, "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"):
            server.execute(made)
        yield server
    finally:
        if server.runs:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def by_tls(server: Server, root: str, password: str = QUOTED) -> str:
    secret = f":{password}" if password else ""
    where = f"postgresql://narrow{secret}@127.0.0.1:{server.port}/chats"
    return f"{where}?sslmode=verify-full&sslrootcert={server.folder / root}.pem"


def refused(url: str) -> tuple[str, str]:
    with pytest.raises(StoreUnavailable) as caught:
        open_store(url)
    told = str(caught.value)
    assert SECRET not in told
    assert QUOTED not in told
    assert "\n" not in told
    return caught.value.fault, told


async def serves(store: PostgresStore, number: int) -> None:
    assert len(await store.write(Accept((an_inbound(number),), NOW))) == 1
    assert (await store.health()).fault is None
    await store.close()


async def test_over_tls_with_no_more_rights_than_documented(strict: Server) -> None:
    """The owner of its database, and of nothing else, under a certificate that is checked: all that a gateway needs."""
    store = open_store(by_tls(strict, "right"))
    lease = await store.claim(3, "me")
    assert lease is not None
    assert (await store.renew("me", (lease,))).held == (lease,)
    sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'narrow'"
    assert strict.execute(sql) == [(True,)]
    await serves(store, 1)


def test_a_certificate_of_somebody_else(strict: Server) -> None:
    fault, told = refused(by_tls(strict, "wrong"))
    assert (fault, "certificate" in told) == ("no-login", True)


def test_a_wrong_password(strict: Server) -> None:
    fault, told = refused(by_tls(strict, "right", "something-else"))
    assert fault == "no-login"
    assert "something-else" not in told


async def test_the_password_from_a_file_or_the_environment(
    strict: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = by_tls(strict, "right", "")
    assert refused(bare)[0] == "no-login"
    kept = tmp_path / "pgpass"
    kept.write_text(f"127.0.0.1:*:chats:narrow:{SECRET}\n")
    kept.chmod(0o600)
    await serves(open_store(f"{bare}&passfile={kept}"), 2)
    monkeypatch.setenv("PGPASSWORD", SECRET)
    await serves(open_store(bare), 3)


async def test_no_connection_is_left_and_then_there_is(strict: Server) -> None:
    """On with it when it is good again."""
    strict.execute("ALTER ROLE narrow CONNECTION LIMIT 0")
    assert refused(by_tls(strict, "right"))[0] == "crowded"
    strict.execute("ALTER ROLE narrow CONNECTION LIMIT 20")
    await serves(open_store(by_tls(strict, "right")), 4)


async def test_a_server_that_becomes_a_standby_and_back(strict: Server) -> None:
    store = open_store(by_tls(strict, "right"))
    await store.write(Accept((an_inbound(5),), NOW))
    ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'narrow'"
    strict.execute("ALTER ROLE narrow SET default_transaction_read_only = on")
    strict.execute(ended)
    with pytest.raises(StoreUnavailable) as caught:
        await store.write(Accept((an_inbound(6),), NOW))
    assert caught.value.fault == "standby"
    assert (await store.health()).fault == "standby"
    strict.execute("ALTER ROLE narrow RESET default_transaction_read_only")
    strict.execute(ended)
    while (await store.health()).fault is not None:  # noqa: ASYNC110 - each look tries to write
        await asyncio.sleep(0.1)
    await serves(store, 6)


async def accept_until_refused(store: PostgresStore) -> tuple[int, str]:
    for number in range(2, 400):
        try:
            await store.write(Accept((an_inbound(number, text=os.urandom(60_000).hex()),), NOW))
        except StoreUnavailable as fault:
            return number, fault.fault
    return 0, "none"


async def test_the_disk_of_the_server_is_full(strict: Server) -> None:
    """DU-15: a tablespace on a small disk of its own. Nothing is confirmed while it is full, and nothing is lost."""
    with disks.small(strict.folder, 40) as disk:
        owner = (strict.folder / "data").stat()
        os.chown(disk, owner.st_uid, owner.st_gid)
        strict.execute(f"CREATE TABLESPACE small LOCATION '{disk}'")
        strict.execute("CREATE DATABASE cramped TABLESPACE small")
        store = open_store(strict.url("cramped"))
        try:
            await store.write(Accept((an_inbound(1),), NOW))
            disks.fill(disk / "rest")
            number, fault = await accept_until_refused(store)
            assert fault == "full"
            assert sum((await store.count_rows()).events.values()) == number - 1
            (disk / "rest").unlink()
            while (await store.health()).fault is not None:  # noqa: ASYNC110 - each look tries to write
                await asyncio.sleep(0.1)
            assert len(await store.write(Accept((an_inbound(number),), NOW))) == 1
        finally:
            await store.close()
            strict.execute("DROP DATABASE cramped WITH (FORCE)")
            strict.execute("DROP TABLESPACE small")


async def test_a_clock_that_is_an_hour_off(strict: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-6: leases are granted, and run out, by the clock of the database, whatever this machine's clock says."""

    class HourAhead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + timedelta(hours=1)

    store = open_store(by_tls(strict, "right"), lease_seconds=60)
    try:
        assert await store.claim(9, "one") is not None
        right = datetime.now(UTC)
        for name, module in list(sys.modules.items()):
            if name.startswith("rejoinder.store.") and getattr(module, "datetime", None) is datetime:
                monkeypatch.setattr(module, "datetime", HourAhead)
        assert await store.claim(9, "other") is None
        renewal = await store.renew("other", ())
        for now in (renewal.now, await store.now()):
            assert abs(now - right) < timedelta(minutes=1)
    finally:
        await store.close()
