"""What can be wrong with a database is a sentence with what to do, and never a password (SC-22)."""

import errno

import psycopg
import pytest

from rejoinder.errors import BadConfiguration, StoreUnavailable
from rejoinder.store.postgresql.faults import unavailable
from rejoinder.store.postgresql.store import open_store
from tests.postgres import Server

SECRET = "hunter2secret"


@pytest.fixture(scope="module")
def strict(postgres: Server) -> Server:
    """Roles with few rights, and one that has to give a password."""
    for made in (
        f"CREATE ROLE stranger LOGIN PASSWORD '{SECRET}'",
        "CREATE ROLE lonely LOGIN CONNECTION LIMIT 0",
        "ALTER ROLE stranger SET default_transaction_read_only = off",
    ):
        already = "duplicate_object OR unique_violation"  # the second, when another process makes it at this moment
        postgres.execute(f"DO $$ BEGIN {made}; EXCEPTION WHEN {already} THEN NULL; END $$")
    return postgres


def said(url: str) -> tuple[str, str]:
    with pytest.raises(StoreUnavailable) as caught:
        open_store(url)
    told = str(caught.value)
    assert SECRET not in told
    assert told.count("\n") == 0
    assert caught.value.__cause__ is None
    return caught.value.fault, told


def test_nobody_listens(strict: Server) -> None:
    fault, told = said(f"postgresql://owner:{SECRET}@127.0.0.1:1/here")
    assert fault == "away"
    assert "postgresql://owner@127.0.0.1:1/here" in told
    assert "continues by itself" in told


def test_there_is_no_such_database(strict: Server) -> None:
    fault, told = said(strict.url("nowhere"))
    assert (fault, "Create it with createdb" in told) == ("no-database", True)


def test_there_is_no_such_user(strict: Server) -> None:
    assert said(strict.url("postgres", "nobody_at_all"))[0] == "no-login"


def test_the_user_may_not_make_tables(strict: Server) -> None:
    strict.execute("CREATE DATABASE bare")
    strict.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC", "bare")
    fault, told = said(strict.url("bare", "stranger"))
    assert fault == "no-rights"
    assert "docs/scale.md" in told


def test_no_connection_is_free(strict: Server) -> None:
    assert said(strict.url("postgres", "lonely"))[0] == "crowded"


def test_it_can_only_be_read(strict: Server) -> None:
    strict.execute("CREATE DATABASE empty_one")
    strict.execute("ALTER DATABASE empty_one SET default_transaction_read_only = on")
    assert said(strict.url("empty_one"))[0] == "standby"


@pytest.mark.parametrize("url", ["postgresql://u:p@ss@host:port/x", f"postgresql://u:{SECRET}@h:{SECRET}/x"])
def test_an_address_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        open_store(url)
    assert SECRET not in str(caught.value)
    assert "postgresql://USER@HOST/DATABASE" in str(caught.value)


def test_a_deadlock_passes() -> None:
    """SC-22: whoever met it tries again."""
    found = unavailable(psycopg.errors.DeadlockDetected("deadlock detected"), "here")
    assert found is not None
    assert found.fault == "locked"


def test_no_file_descriptor_is_left_for_a_connection() -> None:
    """SC-22: the operating system refuses it, not the server."""
    resolving = psycopg.OperationalError("failed to resolve host 'db': [Errno 24] Too many open files")
    for problem in (OSError(errno.EMFILE, "Too many open files"), resolving):
        found = unavailable(problem, "here")
        assert found is not None
        assert found.fault == "no-files"
        assert "Raise its limit" in str(found)
