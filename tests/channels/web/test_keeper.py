"""The room log under faults: they are said in the operator's words, and a mistake of one takes nobody along."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from rejoinder.channels.web.journal import Journal
from rejoinder.channels.web.keeper import Keeper
from rejoinder.channels.web.nouns import Person
from rejoinder.errors import Fault, StoreUnavailable


def keeper(path: Path) -> Keeper:
    return Keeper(str(path), "web", ("helper",), now=lambda: 0)


@pytest.mark.parametrize(
    ("place", "content", "fault"),
    [("nowhere/log.db", None, "unreachable"), ("log.db", b"no database at all" * 100, "corrupt")],
)
def test_a_log_that_cannot_be_opened_says_why(tmp_path: Path, place: str, content: bytes | None, fault: Fault) -> None:
    """DU-15: as of the store itself, in one sentence."""
    path = tmp_path / place
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match=r"log\.db is unavailable") as refusal:
        keeper(path)
    assert refusal.value.fault == fault


def _breaks_a_rule(journal: Journal) -> None:
    journal.arrive(Person("ada", "Ada"))
    journal.db.execute("INSERT INTO journal (id, version) VALUES (NULL, 1)")


async def test_a_mistake_of_one_takes_nobody_along(tmp_path: Path) -> None:
    """DU-11: a broken constraint is a bug of its own and no fault of the disk; what it was part of is taken back."""
    kept = keeper(tmp_path / "log.db")
    try:
        broken, arrived = await asyncio.gather(
            kept.change(_breaks_a_rule), kept.change(Journal.arrive, Person("bob", "Bob")), return_exceptions=True
        )
        assert isinstance(broken, sqlite3.IntegrityError)
        assert not isinstance(arrived, BaseException)
        names = await kept.ask(lambda db: [name for (name,) in db.execute("SELECT name FROM people")])
        assert names == ["Bob"]
    finally:
        kept.close()
