"""A PostgreSQL of the tests' own: a cluster in a temporary folder on a free port, shared by all tests of a run.

Root may not run it: then it belongs to the user that the package made. The process that started the run ends it.
"""

import asyncio
import fcntl
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from rejoinder.testing.ports import free_port
from tests.peers import missing

RUN = "REJOINDER_TEST_POSTGRES"
"""Names the folder of this run to the processes that share its tests."""
PATIENCE = 300
"""Seconds: a server that was stopped at once first puts the files of all its databases on the disk."""
_COUNT = count(1)


class Server:
    def __init__(self, folder: Path, settings: tuple[str, ...] = ("fsync=off",)) -> None:
        self.folder = folder
        self.port = 0
        self._settings = settings

    def start(self) -> None:
        """Makes the cluster if there is none, and waits until it takes connections."""
        if not (self.folder / "data").exists():
            self._make_folder()
            made = ["initdb", "-D", self.folder / "data", "-A", "trust", "-U", "owner", "-E", "UTF8", "--no-sync"]
            self._run(*made, "--locale=C")
        self.port = self.port or free_port()
        wanted = (
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self.folder}",
            "max_connections=200",
            *self._settings,
        )
        options = " ".join(f"-c {each}" for each in wanted)
        log, data, seconds = self.folder / "log", self.folder / "data", PATIENCE - 10
        self._run("pg_ctl", "-D", data, "-l", log, "-w", "-t", seconds, "-o", options, "start")

    def start_as_standby(self, primary: "Server") -> None:
        """As a copy of a running server, which sends it what is written from now on."""
        self._make_folder()
        self._run("pg_basebackup", "-D", self.folder / "data", "-R", "-c", "fast", "-d", primary.url("postgres"))
        self.start()

    def promote(self) -> None:
        """Returns when the standby can be written."""
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "promote")

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self.folder / "data", "-m", mode, "-w", "stop")

    @property
    def runs(self) -> bool:
        return (self.folder / "data" / "postmaster.pid").exists()

    def url(self, database: str, user: str = "owner") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as db:
            done = db.execute(sql.encode())
            return done.fetchall() if done.description else []

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(_programs() / program), *map(str, arguments)]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=self.folder)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")


def _programs() -> Path:
    """Where the server's programs are; Debian keeps them out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda each: int(each.parent.parent.name))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else Path()


def install() -> None:
    if _programs() != Path():
        return
    if os.getuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "postgresql"]):
            subprocess.run(command, env=environment, capture_output=True, timeout=600, check=False)
    if _programs() == Path():
        missing("PostgreSQL is not installed (Debian: apt-get install postgresql)")


def name_the_run() -> None:
    """Called once for a run, before it has several processes."""
    os.environ.setdefault(RUN, str(Path(tempfile.gettempdir()) / f"rejoinder-postgres-{os.getpid()}"))


def end_the_run() -> None:
    """Called by the process that named the run, when its tests are over."""
    folder = Path(os.environ.get(RUN, ""))
    if folder.name == f"rejoinder-postgres-{os.getpid()}" and folder.exists():
        if (folder / "data" / "postmaster.pid").exists():
            Server(folder).stop()
        shutil.rmtree(folder, ignore_errors=True)


def shared_server() -> Server:
    """The server of this run, started by the first test that needs it."""
    install()
    folder = Path(os.environ[RUN])
    folder.mkdir(exist_ok=True)
    server = Server(folder)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        port = folder / "port"
        if port.exists():
            server.port = int(port.read_text())
        else:
            server.start()
            for name, shards in (("one_shard", 1), ("four_shards", 4), ("shards", 64)):
                prepare(server, name, shards)
            port.write_text(str(server.port))
    (folder.parent / f"{folder.name}.lock").unlink(missing_ok=True)
    return server


def prepare(server: Server, name: str, shards: int) -> None:
    """A database from which others are copied: a gateway has opened it before."""
    from rejoinder.store.postgresql.store import open_store

    server.execute(f"CREATE DATABASE {name}")
    asyncio.run(open_store(server.url(name), shards=shards).close())


@contextmanager
def durable_server() -> Generator[Server]:
    """One of its own, with every commit on the disk."""
    install()
    folder = Path(tempfile.mkdtemp(prefix="rejoinder-postgres-"))
    server = Server(folder, settings=())
    try:
        server.start()
        prepare(server, "shards", 64)
        yield server
    finally:
        if server.runs:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def a_database(server: Server, template: str = "shards") -> str:
    """The address of a new database that a gateway has opened before."""
    name = f"t_{os.getpid()}_{next(_COUNT)}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return server.url(name)


_EMPTIED: dict[str, str] = {}


def an_emptied_database(server: Server, template: str) -> str:
    """The address of a database of this process that is emptied each time: a new one takes a while to copy."""
    if template not in _EMPTIED:
        _EMPTIED[template] = a_database(server, template)
        return _EMPTIED[template]
    url = _EMPTIED[template]
    name = database_of(url)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'rejoinder_schema'"
    emptied = ";".join(
        f"DELETE FROM {table}" for (table,) in server.execute(tables, name) if table not in ("shard", "gateway")
    )
    others = f"datname = '{name}' AND pid <> pg_backend_pid()"
    ended = f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {others}"
    free = "UPDATE shard SET holder = NULL, lease_until = NULL"
    first = "SELECT setval(quote_ident(sequencename)::regclass, 1, false) FROM pg_sequences"
    server.execute(f"{ended}; SET session_replication_role = replica; {emptied}; {free}; {first}", name)
    return url


@pytest.fixture(scope="session")
def postgres() -> Server:
    return shared_server()


def database_of(url: str) -> str:
    found = re.search(r"/([^/?]+)(?:\?|$)", url)
    assert found is not None
    return found[1]
