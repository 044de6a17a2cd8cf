"""Reads pages that people link to (ME-20), loaded under the guard of `guarded_client.py`.

Nothing is executed: text is taken out of the page.
"""

import asyncio
import re
import shutil
import tempfile
from codecs import lookup
from html import unescape
from pathlib import Path

from rejoinder.errors import NotUnderstood
from rejoinder.events import LinkedPage
from rejoinder.media.documents import DocumentReader
from rejoinder.media.guarded_client import GuardedClient, Loaded, within
from rejoinder.media.program import run
from rejoinder.media.settings import DocumentSettings, LinkSettings
from rejoinder.media_services import CanReadPages
from rejoinder.unicode_repair import repair_text

AT_ONCE = 4
HEADERS = {
    "Accept": "text/html, application/xhtml+xml, text/plain, text/markdown;q=0.9",
    "Accept-Encoding": "gzip, deflate",
}
_HTML = ("text/html", "application/xhtml+xml")
_TEXT = ("text/plain", "text/markdown", "text/x-markdown", "application/json")
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,2000})", re.IGNORECASE)
_CODECS = re.compile(
    r"utf-(?:8|16(?:-[lb]e)?)|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|gb\w+|big5\w*|euc_\w+|shift_jis\w*|mac-\w+"
)
MOST_BEFORE_TITLE = 65536


class LinkReader:
    def __init__(self, settings: LinkSettings, guarded: GuardedClient | None = None) -> None:
        self._settings = settings
        self._guarded = guarded or GuardedClient()
        self._free = asyncio.Semaphore(AT_ONCE)
        limits = DocumentSettings(max_chars=settings.max_chars, timeout_s=settings.timeout_s)
        self._documents = DocumentReader(limits)

    async def read(self, address: str) -> LinkedPage:
        async with within(self._settings.timeout_s), self._free, self._guarded.load(address, HEADERS) as loaded:
            return await self._page(loaded)

    async def _page(self, loaded: Loaded) -> LinkedPage:
        kind, charset = content_type(loaded.response.headers.get("Content-Type", ""))
        if kind not in (*_HTML, *_TEXT):
            raise NotUnderstood("it is not a page of text", kind[:80])
        most = self._settings.max_bytes
        content = b"".join([piece async for piece in loaded.pieces(most)])
        text = _decoded(content[:most], charset)  # the beginning of a long page is worth reading
        if kind in _TEXT:
            return LinkedPage(loaded.url, "", repair_text(text)[: self._settings.max_chars])
        words = (await self._documents.read("html", loaded.host, text.encode())).text.strip()
        if not any(map(str.isalnum, words)):
            raise NotUnderstood("there is no text on it")
        return LinkedPage(loaded.url, _title(text), words[: self._settings.max_chars])


class CommandReader:
    """A program in place of our own reader. It fetches by itself: none of the rules above holds for it."""

    def __init__(self, settings: LinkSettings) -> None:
        self._settings = settings
        self._free = asyncio.Semaphore(AT_ONCE)

    async def read(self, address: str) -> LinkedPage:
        settings = self._settings
        command = [argument.replace("{url}", address) for argument in settings.command]
        async with self._free:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rejoinder-page-"))
            try:
                ran = await run(command, folder, seconds=settings.timeout_s, most=settings.max_bytes)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        words = repair_text(ran.output.decode("utf-8", "replace").strip())
        if not words:
            raise NotUnderstood("there is no text on it")
        return LinkedPage(address, "", words[: settings.max_chars])


def page_reader(settings: LinkSettings) -> CanReadPages:
    return CommandReader(settings) if settings.command else LinkReader(settings)


def content_type(header: str) -> tuple[str, str]:
    """The type and the character set."""
    kind, *more = header.split(";")
    given = (each.strip().partition("=") for each in more)
    charset = next((value for name, _, value in given if name.lower() == "charset"), "")
    return kind.strip().lower(), charset.strip().strip("\"'")


def _title(html: str) -> str:
    """What stands between the first title tags, near the beginning."""
    match = _TITLE.search(html[:MOST_BEFORE_TITLE])
    return " ".join(repair_text(unescape(match[1])).split())[:200] if match is not None else ""


def _decoded(content: bytes, charset: str) -> str:
    """By what pages are written in: the server names the codec, and Python knows some that take hours for a page."""
    try:
        codec = lookup(charset or "utf-8").name
    except (LookupError, ValueError):
        codec = "utf-8"
    return content.decode(codec if _CODECS.fullmatch(codec) else "utf-8", "replace")
