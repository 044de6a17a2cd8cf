"""Reads pages that people link to (ME-20, DE-38).

Rule 1: a name is resolved once, every address it has must be public, and the connection goes to one of these and to no
        other: what the name leads to a moment later does not matter.
Rule 2: a redirect is a new link: it is checked and resolved as the first one.
Rule 3: limits hold for all redirects together: time, bytes as they come and after unpacking.
Rule 4: no cookie, no referrer, no proxy of ours, and nothing is executed: text is taken out of the page.
"""

import asyncio
import re
import shutil
import socket
import tempfile
import zlib
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from rejoinder.errors import NotUnderstood
from rejoinder.events import LinkedPage
from rejoinder.media.addresses import PORT, Target, checked, redirected, target
from rejoinder.media.documents import DocumentReader
from rejoinder.media.program import run
from rejoinder.media.settings import DocumentSettings, LinkSettings
from rejoinder.senses import ReadsPages
from rejoinder.unicode_repair import repair_text

REDIRECTS = 5
AT_ONCE = 4
HEADERS = {
    "User-Agent": "rejoinder (reads links for a chat)",
    "Accept": "text/html, application/xhtml+xml, text/plain, text/markdown;q=0.9",
    "Accept-Encoding": "gzip, deflate",
}
_HTML = ("text/html", "application/xhtml+xml")
_TEXT = ("text/plain", "text/markdown", "text/x-markdown", "application/json")
_PACKED = {"gzip": 31, "x-gzip": 31, "deflate": 15, "": 0, "identity": 0}
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,2000})", re.IGNORECASE)
MOST_BEFORE_TITLE = 65536
_MOVED = (301, 302, 303, 307, 308)

Resolve = Callable[[str], Awaitable[list[str]]]


async def resolve(host: str) -> list[str]:
    """All addresses of a name."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, PORT, type=socket.SOCK_STREAM)
    except OSError:
        raise NotUnderstood("there is no such server") from None
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class _Pinned(AbstractResolver):
    """Gives the addresses that were checked, whatever the name leads to now."""

    def __init__(self, addresses: list[str], port: int | None) -> None:
        self._addresses = addresses
        self._port = port

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=self._port or port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is open."""


class LinkReader:
    def __init__(self, settings: LinkSettings, resolve: Resolve = resolve, connect: "Connect | None" = None) -> None:
        self._settings = settings
        self._resolve = resolve
        self._connect = connect or Connect()
        self._free = asyncio.Semaphore(AT_ONCE)
        limits = DocumentSettings(max_chars=settings.max_chars, timeout_s=settings.timeout_s)
        self._documents = DocumentReader(limits)

    async def read(self, address: str) -> LinkedPage:
        seconds = self._settings.timeout_s
        try:
            async with asyncio.timeout(seconds), self._free:
                return await self._follow(address)
        except TimeoutError:
            raise NotUnderstood("it took too long", f"{seconds:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise NotUnderstood("it could not be loaded", f"{type(problem).__name__}: {problem}") from None

    async def _follow(self, address: str) -> LinkedPage:
        url = address
        for _ in range(REDIRECTS + 1):
            here = target(url)
            found = await self._load(here, await self._addresses(here))
            if isinstance(found, LinkedPage):
                return found
            url = redirected(here.url, found)
        raise NotUnderstood("it leads on and on")

    async def _addresses(self, here: Target) -> list[str]:
        """Checked all: a name with one private address is refused."""
        addresses = [here.address] if here.address is not None else await self._resolve(here.host)
        if not addresses:
            raise NotUnderstood("there is no such server")
        try:
            return [str(checked(each)) for each in addresses]
        except ValueError:
            raise NotUnderstood("there is no such server") from None

    async def _load(self, here: Target, addresses: list[str]) -> LinkedPage | str:
        """The page, or where it has moved."""
        async with (
            self._connect.session(addresses) as session,
            session.get(self._connect.requested(here.url), allow_redirects=False) as response,
        ):
            if response.status in _MOVED and (location := response.headers.get("Location")):
                return location
            if response.status != 200:
                raise NotUnderstood(f"its server says {response.status}")
            kind, charset = _kind(response.headers.get("Content-Type", ""))
            if kind not in (*_HTML, *_TEXT):
                raise NotUnderstood("it is no page of text", kind[:80])
            content = await self._content(response)
        text = _decoded(content, charset)
        if kind in _TEXT:
            return LinkedPage(here.url, "", repair_text(text)[: self._settings.max_chars])
        words = (await self._documents.read("html", here.host, text.encode())).text.strip()
        if not any(map(str.isalnum, words)):
            raise NotUnderstood("there is no text on it")
        return LinkedPage(here.url, _title(text), words[: self._settings.max_chars])

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        """Unpacked here, piece by piece: a small body may unpack to gigabytes."""
        packing, most = response.headers.get("Content-Encoding", "").strip().lower(), self._settings.max_bytes
        if packing not in _PACKED:
            raise NotUnderstood("it is packed in a way that is not known here", packing[:40])
        unpack = zlib.decompressobj(_PACKED[packing]) if _PACKED[packing] else None
        content = bytearray()
        async for piece in response.content.iter_chunked(16 << 10):
            try:
                content += piece if unpack is None else unpack.decompress(piece, most + 1 - len(content))
            except zlib.error:
                raise NotUnderstood("it is broken") from None
            if len(content) > most:
                return bytes(content[:most])  # the beginning of a long page is worth reading
        return bytes(content)


class Connect:
    """How a connection is made; tests lead it to a server of theirs."""

    port: int | None = None

    def requested(self, url: str) -> str:
        return url

    def session(self, addresses: list[str]) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(addresses, self.port), use_dns_cache=False, force_close=True, limit=1
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None),
            max_line_size=8190,
            max_field_size=8190,
        )


class CommandReader:
    """A program in place of our own reader. It fetches by itself: none of the rules above holds for it."""

    def __init__(self, settings: LinkSettings) -> None:
        self._settings = settings
        self._free = asyncio.Semaphore(AT_ONCE)

    async def read(self, address: str) -> LinkedPage:
        said = self._settings
        command = [argument.replace("{url}", address) for argument in said.command]
        async with self._free:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="rejoinder-page-"))
            try:
                ran = await run(command, folder, seconds=said.timeout_s, most=said.max_bytes)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        words = repair_text(ran.output.decode("utf-8", "replace").strip())
        if not words:
            raise NotUnderstood("there is no text on it")
        return LinkedPage(address, "", words[: said.max_chars])


def page_reader(settings: LinkSettings) -> ReadsPages:
    return CommandReader(settings) if settings.command else LinkReader(settings)


def _kind(content_type: str) -> tuple[str, str]:
    kind, *more = content_type.split(";")
    given = (each.strip().partition("=") for each in more)
    charset = next((value for name, _, value in given if name.lower() == "charset"), "")
    return kind.strip().lower(), charset.strip().strip("\"'")


def _title(html: str) -> str:
    """What stands between the first title tags, near the beginning."""
    match = _TITLE.search(html[:MOST_BEFORE_TITLE])
    return " ".join(repair_text(unescape(match[1])).split())[:200] if match is not None else ""


def _decoded(content: bytes, charset: str) -> str:
    try:
        return content.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return content.decode("utf-8", "replace")
