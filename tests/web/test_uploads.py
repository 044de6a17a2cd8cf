"""Files that people upload: never whole in memory, within a quota, and gone after a day if no message names them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from rejoinder.channels.web import files
from rejoinder.channels.web.files import Quota, QuotaReached
from rejoinder.channels.web.journal import Journal
from rejoinder.channels.web.schema import VERSION
from rejoinder.testing.patience import PATIENCE
from tests.channels.web.browser import a_channel, browsers
from tests.web.running import Site, running, settings

MARK = {"X-Rejoinder": "1"}
DAY = files.KEPT_UNNAMED
PLENTY = Quota(2**40, 2**40)


async def upload(site: Site, content: Any, name: str = "a.bin") -> tuple[int, Any]:
    data = BytesIO(content) if isinstance(content, bytes) else content
    return await site.post(f"/files?name={name}", data=data, headers=MARK)


async def test_a_large_file_goes_through_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither way is all of it in memory: no piece that is written or read is larger than two."""
    sizes: list[int] = []
    add, piece = files.add, files.piece

    def added(db: sqlite3.Connection, id: str, number: int, content: bytes, received: int, quota: Quota) -> None:
        sizes.append(len(content))
        add(db, id, number, content, received, quota)

    def read(db: sqlite3.Connection, id: str, number: int) -> bytes | None:
        found = piece(db, id, number)
        sizes.append(len(found or b""))
        return found

    monkeypatch.setattr(files, "add", added)
    monkeypatch.setattr(files, "piece", read)
    content = bytes(range(256)) * (5 << 12)  # 5 MB
    async with running(settings()) as site:
        status, file = await upload(site, content)
        assert (status, file["size"]) == (201, len(content))
        async with site.http.get(site.url + file["url"]) as answer:
            assert await answer.read() == content
            assert answer.headers["content-length"] == str(len(content))
    assert len(sizes) > 20
    assert max(sizes) < 2 * files.PIECE


async def test_a_browser_asks_again_before_it_shows_what_it_kept() -> None:
    """What a cache holds is not shown after a logout: each time the server is asked, and answers without the bytes."""
    async with running(settings()) as site:
        _, file = await upload(site, b"a picture")
        async with site.http.get(site.url + file["url"]) as answer:
            assert answer.headers["cache-control"] == "private, no-cache"
            tag = answer.headers["etag"]
        async with site.http.get(site.url + file["url"], headers={"If-None-Match": tag}) as answer:
            assert (answer.status, await answer.read()) == (304, b"")


async def test_a_quota_for_one_and_for_all(tmp_path: Path) -> None:
    """What is over it is refused with a sentence, and nothing of it is kept."""
    store = f"sqlite:{tmp_path}/rejoinder.db"
    for mine, all_of_us, why in ((2, 10, "person_files_mb"), (10, 2, "channels.web.files_mb")):
        async with running(settings(store=store, person_files_mb=mine, files_mb=all_of_us)) as site:
            status, first = await upload(site, b"x" * (1 << 20))
            assert status == 201
            status, answer = await upload(site, b"x" * (3 << 19))
            assert status == 507
            assert why in answer["error"]
            db = sqlite3.connect(f"{tmp_path}/rejoinder.db.web.db")
            assert db.execute("SELECT count(DISTINCT file), sum(length(content)) FROM file_pieces").fetchone() == (
                1,
                1 << 20,
            )
            db.execute("DELETE FROM files WHERE id = ?", (first["id"],))
            db.execute("DELETE FROM file_pieces")
            db.commit()
            db.close()


async def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    made = settings(store=f"sqlite:{tmp_path}/rejoinder.db")

    async def some() -> AsyncIterator[bytes]:
        yield b"x" * (files.PIECE + 1)
        await asyncio.sleep(3600)

    async with running(made) as site:
        task = asyncio.create_task(upload(site, some()))
        db = sqlite3.connect(f"{tmp_path}/rejoinder.db.web.db")

        async def until(count: int) -> None:
            async with asyncio.timeout(PATIENCE):
                while db.execute("SELECT count(*) FROM file_pieces").fetchone() != (count,):
                    await site.get("/health")

        await until(1)
        task.cancel()
        await until(0)
        assert db.execute("SELECT count(*) FROM files").fetchone() == (0,)
        db.close()


async def test_what_no_message_names_is_gone_after_a_day() -> None:
    """Neither a file that a message names nor an agent's; a message that is deleted gives its files up a day later."""
    channel = await a_channel()
    now = channel.keeper.journal._now  # type: ignore[reportPrivateUsage]
    ask, change = channel.keeper.ask, channel.keeper.change

    async def uploaded() -> str:
        id = await change(Journal.begin_file, "a", "text/plain", "ann", 0, PLENTY)
        await ask(files.add, id, 0, b"words", 5, PLENTY)
        await ask(files.finish, id, 5)
        return id

    async def there(*ids: str) -> list[bool]:
        return [await ask(files.file, id) is not None for id in ids]

    try:
        async with browsers(channel, "ann") as [page]:
            named, unnamed, deleted = [await uploaded() for _ in range(3)]
            agents = (await ask(files.keep, "b", "text/plain", b"an agent's", now())).id
            await page.ask("say", room="lobby", text="", files=[named])
            message = (await page.ask("say", room="lobby", text="", files=[deleted]))["id"]
            await change(Journal.drop_unnamed_files)
            assert await there(named, unnamed, deleted, agents) == [True] * 4
            await ask(files.drop_unnamed, now() + DAY)
            assert await there(named, unnamed, deleted, agents) == [True, False, True, True]
            await page.ask("delete", message=message)
            await change(Journal.drop_unnamed_files)
            assert await there(deleted) == [True]
            await ask(files.drop_unnamed, now() + DAY)
            assert await there(named, deleted, agents) == [True, False, True]
            assert await ask(lambda db: db.execute("SELECT count(DISTINCT file) FROM file_pieces").fetchone()) == (2,)
    finally:
        await channel.close()


async def test_one_persons_quota_is_not_anothers() -> None:
    channel = await a_channel()
    ask, change = channel.keeper.ask, channel.keeper.change
    try:
        quota = Quota(5, 9)
        mine = await change(Journal.begin_file, "a", "text/plain", "ann", 0, quota)
        await ask(files.add, mine, 0, b"12345", 5, quota)
        with pytest.raises(QuotaReached):
            await ask(files.add, mine, 1, b"6", 6, quota)
        with pytest.raises(QuotaReached):
            await change(Journal.begin_file, "a", "text/plain", "ann", 1, quota)
        yours = await change(Journal.begin_file, "a", "text/plain", "bob", 4, quota)
        await ask(files.add, yours, 0, b"1234", 4, quota)
        with pytest.raises(QuotaReached):
            await ask(files.add, yours, 1, b"5", 5, quota)
        await ask(files.finish, yours, 3)
        await change(Journal.begin_file, "a", "text/plain", "bob", 1, quota)
    finally:
        await channel.close()


async def test_an_older_room_log_keeps_its_files(tmp_path: Path) -> None:
    """Uploads of the first version are read as before, and those that messages name stay."""
    path = f"{tmp_path}/rejoinder.db.web.db"
    channel = await a_channel(path)
    async with browsers(channel, "") as [page]:
        file = await channel.keeper.ask(files.keep, "plan.txt", "text/plain", b"the plan", 0)
        await page.ask("say", room="lobby", text="", files=[file.id])
    await channel.close()
    db = sqlite3.connect(path)
    db.executescript(
        """
        CREATE TABLE uploads (id TEXT PRIMARY KEY, name TEXT NOT NULL, mime TEXT NOT NULL, content BLOB NOT NULL);
        INSERT INTO uploads SELECT id, name, mime, content FROM files JOIN file_pieces ON file = id;
        INSERT INTO uploads VALUES ('unnamed', 'x', 'text/plain', x'00');
        DROP TABLE files; DROP TABLE file_pieces; DROP TABLE file_uses; DROP TABLE logins;
        ALTER TABLE journal DROP COLUMN address; ALTER TABLE journal DROP COLUMN agents;
        UPDATE journal SET version = 1;
        """
    )
    db.close()
    for _ in range(2):  # the second start finds nothing to do
        channel = await a_channel(path)
        try:
            assert await channel.keeper.ask(files.content, file.id) == b"the plan"
            await channel.keeper.ask(files.drop_unnamed, DAY + 1)
            assert await channel.keeper.ask(files.file, file.id) == file
            assert await channel.keeper.ask(files.file, "unnamed") is None
            assert await channel.keeper.ask(lambda db: db.execute("SELECT version FROM journal").fetchone()) == (
                VERSION,
            )
        finally:
            await channel.close()
