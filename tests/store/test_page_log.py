"""SC-14: the page of the version before, which had a database of its own, is part of the store after one start.

`tests/data/page_log/make.py` made both files with that version.
"""

import asyncio
import gzip
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rejoinder.blobs import read_whole
from rejoinder.channels.web import reading
from rejoinder.crashpoint import VARIABLE
from rejoinder.errors import StoreUnavailable
from rejoinder.programs.store_moves import copy_store
from rejoinder.store.base import Retention, Sweep
from rejoinder.store.sqlite.migrate import migrations, statements
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing.store_contract.given import NOW
from tests.channels.web.browser import a_channel, browsers

DATA = Path(__file__).parents[1] / "data" / "page_log"
AGENTS = ("helper", "coder")
OF_THAT_VERSION = 9
"""The schema of its store."""


@pytest.fixture
def store(tmp_path: Path) -> str:
    for name in ("rejoinder.db", "rejoinder.db.web.db"):
        (tmp_path / name).write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    return f"sqlite:{tmp_path}/rejoinder.db"


async def test_the_rooms_are_as_they_were(store: str, tmp_path: Path) -> None:
    """Messages, threads, reactions, marks, rooms, people and logins; a browser resumes where it was."""
    channel = await a_channel(store, AGENTS)
    async with browsers(channel, "Ada", journal="90428a9674abc665", seq=17) as [page]:
        welcome = page.frames[0]
        assert (welcome["resumed"], welcome["journal"], welcome["seq"]) == (True, "90428a9674abc665", 20)
        shown = {room["id"]: room for room in welcome["rooms"]}
        assert sorted(room["title"] for room in shown.values()) == ["Coder", "Garden", "Helper", "lobby"]
        assert (shown["helper~ada"]["read"], shown["helper~ada"]["unread"]) == (16, 2)
        assert await page.told("message", seq=20)
        outside = (await page.ask("history", room="helper~ada"))["messages"]
        assert [(each["id"], each["text"]) for each in outside] == [
            ("w5", "Hello, Grüße, 漢字"),
            ("w6", "Hello Ada."),
            ("w10", "A picture"),
            ("w11", "To the picture."),
            ("w13", "Right words"),
            ("w14", "To the words."),
            ("w17", "To the edit."),
            ("w19", "The report"),
            ("w20", "Said before the end"),
        ]
        assert outside[1]["reactions"] == [{"emoji": "👍", "who": ["ada"]}]
        assert outside[1]["under"]["replies"] == 2
        assert (outside[4]["edited"], outside[5]["outdated"]) == (True, True)
        inside = (await page.ask("history", room="helper~ada", thread="w6"))["messages"]
        assert [each["text"] for each in inside] == ["Under it", "In the thread."]
        assert len((await page.ask("search", query="GRÜSSE"))["messages"]) == 1
        assert await page.ask("say", client="c1", room="helper~ada", text="Hello, Grüße, 漢字") == {
            "type": "done",
            "client": "c1",
            "id": "w5",
        }
        assert (await page.ask("say", room="helper~ada", text="And on"))["type"] == "done"
    assert [message.text for message in channel.got] == ["And on"]
    assert await channel.journal.token() == ("sha256:95da76ee022ce619b3ed8d65da229b0692e13f0f9c4e8b0e1ac5dfcf8c0a5fe6")
    assert [each.person.name for each in await channel.journal.invited()] == ["Bob"]
    kept = await reading.message(channel.journal.log, "w19")
    assert kept is not None
    assert kept.entry.key == "key-of-a-part"
    await channel.close()
    assert not (tmp_path / "rejoinder.db.web.db").exists()
    assert (tmp_path / "rejoinder.db.web.db.taken").exists()


async def test_files_are_there_and_those_that_nobody_names_go(store: str) -> None:
    channel = await a_channel(store, AGENTS)
    inbox = channel.inbox.store
    picture = await reading.message(channel.journal.log, "w10")
    assert picture is not None
    file = picture.message.files[0]
    assert await read_whole(channel.journal.blobs, file.id, 1 << 20) == b"meow " * 60_000
    report = await channel.journal.blobs.find_key("key-of-a-file")
    assert report is not None
    assert await read_whole(channel.journal.blobs, report.id, 99) == b"# Report\n"
    while await inbox.write(Sweep(Retention(ended_before=NOW.replace(year=2000)), NOW.replace(year=2090))):
        continue
    assert [await inbox.blob(id) is not None for id in (file.id, report.id)] == [True, True]
    assert await inbox.blob("8C1xIfoj0rHx6yPibm-T4vlX") is None
    await channel.close()


async def test_a_store_that_is_copied_first_takes_its_page_along(store: str, tmp_path: Path) -> None:
    """SC-23: no gateway of this version has opened it yet; what nobody has answered is in the copy too."""
    copied = f"sqlite:{tmp_path}/copied.db"
    await asyncio.to_thread(copy_store, store, copied, lambda _: None)
    await test_what_was_said_last_is_in_the_inbox_once(copied)
    await test_files_are_there_and_those_that_nobody_names_go(copied)
    await test_the_rooms_are_as_they_were(copied, tmp_path)


async def test_what_was_said_last_is_in_the_inbox_once(store: str) -> None:
    """DU-1: what the gateway had not taken when it was killed; and what it had is not there a second time."""
    for _ in range(2):
        opened = open_store(store)
        events = (await opened.recover(NOW)).events
        assert [event.inbound.text for event in events] == ["Said before the end"]
        assert (await opened.count_rows()).events == {"new": 1, "routed": 5, "settled": 1}
        await opened.close()


@pytest.mark.parametrize("passed", [1, 3, 4])
def test_killed_on_the_way_it_starts_over(store: str, passed: int) -> None:
    """DU-14: at the first file, at the last, or before the old database has its new name."""
    before = sum(len([*statements(step.sql)]) for step in migrations() if step.number > OF_THAT_VERSION)
    program = f"from rejoinder.store.sqlite import open_store; open_store({store!r})"
    environment = {**os.environ, VARIABLE: f"K26:{before + passed}"}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == -9
    asyncio.run(test_what_was_said_last_is_in_the_inbox_once(store))
    asyncio.run(test_files_are_there_and_those_that_nobody_names_go(store))


def test_a_page_of_a_newer_version_is_refused(store: str, tmp_path: Path) -> None:
    page = sqlite3.connect(tmp_path / "rejoinder.db.web.db")
    page.execute("UPDATE journal SET version = 99")
    page.commit()
    page.close()
    with pytest.raises(StoreUnavailable, match=r"web\.db is unavailable") as refusal:
        open_store(store)
    assert refusal.value.fault == "newer"


BEFORE_LOGINS = """
ALTER TABLE journal DROP COLUMN address;
ALTER TABLE journal DROP COLUMN agents;
DROP TABLE logins;
DROP TABLE files;
DROP TABLE file_pieces;
DROP TABLE file_uses;
UPDATE journal SET version = 1;
"""


async def test_a_page_of_the_first_version_is_imported_too(store: str, tmp_path: Path) -> None:
    """It had no logins, and each file was one value."""
    page = sqlite3.connect(tmp_path / "rejoinder.db.web.db")
    page.execute("CREATE TABLE uploads (id TEXT PRIMARY KEY, name TEXT, mime TEXT, content BLOB) STRICT")
    for file in page.execute("SELECT id, name, mime FROM files WHERE whole").fetchall():
        pieces = page.execute("SELECT content FROM file_pieces WHERE file = ? ORDER BY number", file[:1])
        page.execute("INSERT INTO uploads VALUES (?, ?, ?, ?)", (*file, b"".join(piece for (piece,) in pieces)))
    page.executescript(BEFORE_LOGINS)
    page.close()
    await test_what_was_said_last_is_in_the_inbox_once(store)
    channel = await a_channel(store, AGENTS)
    picture = await reading.message(channel.journal.log, "w10")
    assert picture is not None
    pieces = [len(piece) async for piece in channel.journal.blobs.read(picture.message.files[0].id)]
    assert pieces == [262_144, 300_000 - 262_144]
    assert await channel.journal.invited() == ()
    async with browsers(channel, "Ada", journal="90428a9674abc665", seq=17) as [ada]:
        assert (ada.frames[0]["resumed"], ada.frames[0]["seq"]) == (True, 20)
    await channel.close()
    await test_files_are_there_and_those_that_nobody_names_go(store)
