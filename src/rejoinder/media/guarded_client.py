"""Loads addresses of the public internet (DE-38).

Rule 1: a name is resolved once, all of its addresses must be public, and the connection goes to one of these: it does
        not matter what the name leads to a moment later.
Rule 2: a redirect is a new link, which is checked and resolved like the first one.
Rule 3: the size of a body is limited before and after unpacking. The caller sets the time limit, for all redirects
        together.
Rule 4: no cookies, no referrer, no proxy.
"""

import asyncio
import socket
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from msgspec import Struct

from rejoinder.errors import NotUnderstood, TookTooLong
from rejoinder.media.addresses import PORT, Target, checked, redirected, target

REDIRECTS = 5
USER_AGENT = "rejoinder (reads links for a chat)"
PIECE = 16 << 10
_PACKED = {"gzip": 31, "x-gzip": 31, "deflate": 15, "": 0, "identity": 0}
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
    """Returns the addresses that were checked, whatever the name leads to now."""

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


class Connect:
    """Makes connections; tests direct it to their own server."""

    port: int | None = None

    def requested(self, url: str) -> str:
        return url

    def session(self, addresses: list[str]) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=_Pinned(addresses, self.port), use_dns_cache=False, force_close=True, limit=1
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers={"User-Agent": USER_AGENT},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None),
            max_line_size=8190,
            max_field_size=8190,
        )


class Loaded(Struct, frozen=True):
    """The response at the end of all redirects: its status is 200, and its body is not read yet."""

    url: str
    host: str
    response: aiohttp.ClientResponse

    async def pieces(self, most: int) -> AsyncGenerator[bytes]:
        """The body, unpacked piece by piece, because a small one may unpack to gigabytes. Stops a little after `most`
        bytes, so that the caller can see whether there are more."""
        packing = self.response.headers.get("Content-Encoding", "").strip().lower()
        if packing not in _PACKED:
            raise NotUnderstood("its compression is not supported", packing[:40])
        unpack = zlib.decompressobj(_PACKED[packing]) if _PACKED[packing] else None
        left = most + 1
        async for piece in self.response.content.iter_chunked(PIECE):
            try:
                plain = piece[:left] if unpack is None else unpack.decompress(piece, left)
            except zlib.error:
                raise NotUnderstood("it is broken") from None
            left -= len(plain)
            if plain:
                yield plain
            if not left:
                return
        if unpack is not None and not unpack.eof:
            raise NotUnderstood("it is broken")


class GuardedClient:
    def __init__(self, resolve: Resolve = resolve, connect: Connect | None = None) -> None:
        self._resolve = resolve
        self._connect = connect or Connect()

    @asynccontextmanager
    async def load(self, address: str, headers: Mapping[str, str]) -> AsyncGenerator[Loaded]:
        """Raises `NotUnderstood`."""
        url = address
        for _ in range(REDIRECTS + 1):
            here = target(url)
            async with (
                self._connect.session(await self._addresses(here)) as session,
                session.get(self._connect.requested(here.url), allow_redirects=False, headers=headers) as response,
            ):
                if response.status not in _MOVED or not (location := response.headers.get("Location")):
                    if response.status != 200:
                        raise NotUnderstood(f"its server says {response.status}")
                    yield Loaded(here.url, here.host, response)
                    return
                url = redirected(here.url, location)
        raise NotUnderstood("it has too many redirects")

    async def _addresses(self, here: Target) -> list[str]:
        """All addresses, checked: a name with a single private address is refused."""
        addresses = [here.address] if here.address is not None else await self._resolve(here.host)
        if not addresses:
            raise NotUnderstood("there is no such server")
        try:
            return [str(checked(each)) for each in addresses]
        except ValueError:
            raise NotUnderstood("there is no such server") from None


@asynccontextmanager
async def within(seconds: float) -> AsyncGenerator[None]:
    """Turns every failure of a connection into a sentence. Raises `NotUnderstood`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TookTooLong(f"{seconds:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as problem:
        raise NotUnderstood("it could not be loaded", f"{type(problem).__name__}: {problem}") from None
