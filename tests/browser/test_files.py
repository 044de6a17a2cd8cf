"""What an agent sends: pictures in the chat, everything else as a download, there again after the server was killed."""

import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.browser.conftest import PHONE, Open, RealGateway
from tests.browser.hands import messages, say

pytestmark = pytest.mark.asyncio(loop_scope="session")

AGENT = """
import re
from pathlib import Path

def answer(turn):
    folder = Path(re.search("outbox folder is (.*?): ", turn.system)[1])
    for file in Path(__file__).with_name("files").iterdir():
        folder.joinpath(file.name).write_bytes(file.read_bytes())
    name = turn.parts[-1].text.split()[-1]
    return f'<actions><send-file path="{name}" caption="Here is {name}."/></actions>'
"""

CONFIGURATION = """
[gateway]
store = "sqlite:{store}"
[directives]
allow = ["send_file"]
[agents.artist]
kind = "python"
call = "artist:answer"
path = "FOLDER"
[channels.web]
port = {port}
agent = "artist"
"""


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x30\x80\xd0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest_asyncio.fixture(loop_scope="session")
async def artist(tmp_path: Path) -> AsyncIterator[RealGateway]:
    (tmp_path / "artist.py").write_text(AGENT)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "chart.png").write_bytes(png(640, 480))
    (tmp_path / "files" / "broken.png").write_bytes(b"no picture at all")
    (tmp_path / "files" / "report.html").write_bytes(b"<script>alert(1)</script>" * 100)
    real = RealGateway(tmp_path, CONFIGURATION.replace("FOLDER", str(tmp_path)))
    await real.start()
    yield real
    await real.kill()


@pytest.mark.parametrize("viewport", [None, PHONE])
async def test_a_picture_is_shown_and_kept(open_page: Open, artist: RealGateway, viewport: dict | None) -> None:
    page = await open_page(artist.url, **({"viewport": viewport} if viewport else {}))
    await say(page, "draw chart.png")
    picture = messages(page).last.locator(".picture img")
    await expect(picture).to_have_js_property("naturalWidth", 640)
    await expect(messages(page).last.locator(".body")).to_have_text("Here is chart.png.")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await artist.kill()
    await artist.start()
    await page.reload()
    await expect(messages(page).last.locator(".picture img")).to_have_js_property("naturalWidth", 640)


async def test_everything_else_is_a_download_with_name_and_size(
    open_page: Open, artist: RealGateway, tmp_path: Path
) -> None:
    page = await open_page(artist.url)
    await say(page, "write report.html")
    file = messages(page).last.locator("a.file")
    await expect(file).to_contain_text("report.html")
    await expect(file.locator(".file-size")).to_have_text("2 KB")
    async with page.expect_download() as download:
        await file.click()
    got = await download.value
    assert got.suggested_filename == "report.html"
    await got.save_as(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes() == b"<script>alert(1)</script>" * 100


async def test_what_only_calls_itself_a_picture_is_a_download(open_page: Open, artist: RealGateway) -> None:
    page = await open_page(artist.url)
    await say(page, "draw broken.png")
    await expect(messages(page).last.locator("a.file")).to_contain_text("broken.png")
    await expect(messages(page).last.locator("img")).to_have_count(0)


async def test_why_a_file_was_not_taken_is_said(open_page: Open, artist: RealGateway) -> None:
    page = await open_page(artist.url)
    await expect(page.locator("h1")).not_to_have_text("")
    nothing = {"name": "nothing.txt", "mimeType": "text/plain", "buffer": b""}
    await page.locator("main input[type=file]").set_input_files([nothing])
    await expect(page.locator("main .chip")).to_contain_text("the file is empty")
