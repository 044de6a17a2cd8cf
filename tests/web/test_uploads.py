"""Files that people upload: never whole in memory, within a quota, and gone after a day if no message names them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from yarl import URL

from rejoinder.blobs import CHUNK, Upload, whole
from rejoinder.channels.base import OutgoingFile
from rejoinder.events import Attachment, Part, Route
from rejoinder.store.base import AddChunk, Retention, Sweep
from rejoinder.store.sql import blobs
from rejoinder.store.sql.perform import PERFORM
from rejoinder.store.sqlite.connection import Connection
from rejoinder.testing.patience import PATIENCE
from tests.channels.web.browser import NOW, a_channel, browsers
from tests.web.running import Site, running, settings

MARK = {"X-Rejoinder": "1"}


async def upload(site: Site, content: Any, name: str = "a.bin") -> tuple[int, Any]:
    data = BytesIO(content) if isinstance(content, bytes) else content
    return await site.post(f"/files?name={name}", data=data, headers=MARK)


async def test_a_large_file_goes_through_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-14: neither way is all of it in memory: nothing that is written or read is larger than a chunk."""
    sizes: list[int] = []
    add, chunk = blobs.add_chunk, blobs.chunk

    def added(db: Connection, verb: AddChunk) -> None:
        sizes.append(len(verb.content))
        add(db, verb)

    def read(db: Connection, blob: str, number: int) -> bytes | None:
        found = chunk(db, blob, number)
        sizes.append(len(found or b""))
        return found

    monkeypatch.setitem(PERFORM, AddChunk, added)
    monkeypatch.setattr(blobs, "chunk", read)
    content = bytes(range(256)) * (5 << 12)  # 5 MB
    async with running(settings()) as site:
        status, file = await upload(site, content)
        assert (status, file["size"]) == (201, len(content))
        async with site.http.get(site.url + file["url"]) as answer:
            assert await answer.read() == content
            assert answer.headers["content-length"] == str(len(content))
    assert len(sizes) > 20
    assert max(sizes) == CHUNK


HOSTILE = [
    ("text/html", b"<script>alert(1)</script>"),
    ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
    ("IMAGE/SVG+XML; charset=utf-8", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
    ("image/png", b"<html><script>alert(1)</script></html>"),
    ("image/gif", b"GIF89a/*<html>*/=1;alert(1)//<script>alert(1)</script>"),
    ("application/xhtml+xml", b"<html xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></html>"),
    ("application/javascript", b"alert(1)"),
    ("multipart/x-mixed-replace; boundary=x", b"--x\r\nContent-Type: text/html\r\n\r\n<script>alert(1)</script>"),
    ("application/pdf", b"%PDF-1.4 <script>alert(1)</script>"),
]


async def test_nothing_that_somebody_uploads_runs_as_a_page_of_ours() -> None:
    """ME-10: whatever it claims to be, and whatever else it is: a browser saves it, and runs nothing."""
    async with running(settings()) as site:
        for claimed, content in HOSTILE:
            headers = {**MARK, "Content-Type": claimed}
            _, file = await site.post("/files?name=a.html", data=content, headers=headers)
            async with site.http.get(site.url + file["url"]) as answer:
                assert await answer.read() == content
                assert answer.headers["content-disposition"].startswith("attachment;")
                assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert answer.content_type in ("application/octet-stream", "image/png", "image/gif")


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("..%5C..%5Cboot.ini", "boot.ini"),
        ("a%0D%0ASet-Cookie:%20x=1.png", "aSet-Cookie: x=1.png"),
        ("gnp.%E2%80%AEexe", "gnp.exe"),
        ("%00%1B%5B31m.pdf", "[31m.pdf"),
        ("%22%3B%20filename%3Dx.exe%3B%20%22.txt", '"; filename=x.exe; ".txt'),
        ("...", "file"),
        ("%F0%9F%90%88%20%C3%BC.txt", "🐈 ü.txt"),
    ],
)
async def test_a_name_is_only_a_name(wanted: str, name: str) -> None:
    """ME-10: no path, no line of a header, nothing that turns the order round."""
    async with running(settings()) as site:
        url = URL(f"{site.url}/files?name={wanted}", encoded=True)
        async with site.http.post(url, data=b"x", headers=MARK) as answer:
            file = await answer.json()
        assert file["name"] == name
        async with site.http.get(site.url + file["url"]) as answer:
            assert "Set-Cookie" not in answer.headers
            said = answer.headers["content-disposition"]
            assert said == f"attachment; filename*=UTF-8''{quote(name, safe='')}"


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
            db = sqlite3.connect(f"{tmp_path}/rejoinder.db")
            assert db.execute("SELECT id, size FROM blob").fetchall() == [(first["id"], 1 << 20)]
            assert db.execute("SELECT count(*) FROM blob_chunk").fetchone() == (4,)
            db.execute("DELETE FROM blob_chunk")
            db.execute("DELETE FROM blob")
            db.commit()
            db.close()


async def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    made = settings(store=f"sqlite:{tmp_path}/rejoinder.db")

    async def some() -> AsyncIterator[bytes]:
        yield b"x" * (CHUNK + 1)
        await asyncio.sleep(3600)

    async with running(made) as site:
        task = asyncio.create_task(upload(site, some()))
        db = sqlite3.connect(f"{tmp_path}/rejoinder.db")

        async def until(count: int) -> None:
            async with asyncio.timeout(PATIENCE):
                while db.execute("SELECT count(*) FROM blob_chunk").fetchone() != (count,):
                    await site.get("/health")

        await until(1)
        task.cancel()
        await until(0)
        assert db.execute("SELECT count(*) FROM blob").fetchone() == (0,)
        db.close()


async def test_what_no_message_names_is_gone_after_a_day() -> None:
    """SC-14: not a file that a message names; a message that is deleted gives its files up a day later."""
    channel = await a_channel()
    store, kept = channel.inbox.store, channel.journal.blobs

    async def swept(after: timedelta) -> None:
        while await store.write(Sweep(Retention(ended_before=NOW - timedelta(days=30)), NOW + after)):
            continue

    try:
        async with browsers(channel, "ann") as [page]:
            files = [(await kept.keep(Upload(name="a", owner="ann"), whole(b"words"))).id for _ in range(4)]

            async def there() -> list[bool]:
                return [await kept.find(id) is not None for id in files]

            named, _, deleted, agents = files
            await page.ask("say", room="lobby", text="", files=[named])
            message = (await page.ask("say", room="lobby", text="", files=[deleted]))["id"]
            part = Part(Route("web", "lobby"), "Look", author="helper", files=(Attachment(agents),))
            await channel.send_files(
                part, (OutgoingFile(agents, "a", "text/plain", 5, "document", lambda: whole(b"words")),)
            )
            await swept(timedelta(hours=23))
            assert await there() == [True] * 4
            await swept(timedelta(hours=25))
            assert await there() == [True, False, True, True]
            await page.ask("delete", message=message)
            await swept(timedelta(hours=23))
            assert await there() == [True, False, True, True]
            await swept(timedelta(hours=25))
            assert await there() == [True, False, False, True]
    finally:
        await channel.close()


async def test_why_names_the_files_of_a_message_without_words() -> None:
    """IN-64: the page's "Why?" and the row of the console would be about nothing otherwise."""
    async with running(settings()) as site, site.page() as page, site.page(path="/console/socket") as console:
        files = [(await upload(site, b"abc", name))[1]["id"] for name in ("plan.pdf", "a.bin")]
        await page.send(type="say", client="c1", room="helper~you", text="", files=files)
        said = (await page.told("done"))["id"]
        assert (await console.told("received", message=said))["text"] == "plan.pdf, a.bin"
        [event] = (await site.get(f"/api/messages/{said}/trace"))[1]["events"]
        assert event["text"] == "plan.pdf, a.bin"
