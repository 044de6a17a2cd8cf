"""The CPU time of a small request that is repeated, as `rejoinder.posting` sends it and as aiohttp's session does."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from time import process_time

import aiohttp

from bench.timing import Bars, duration, print_table
from rejoinder.channels.http_client import read_all
from rejoinder.posting import Poster
from rejoinder.programs.event_loop import fast_loop

BODY = b'{"chat_id": 4711, "text": "Here is what you asked for."}'
ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}'
REQUESTS, ROUNDS = 500, 9
PATIENT = aiohttp.ClientTimeout(total=None, sock_connect=5.0)


def run() -> None:
    # In a process of its own: only what asking costs is to be counted.
    server = subprocess.Popen([sys.executable, "-m", "bench.posting"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        with asyncio.Runner(loop_factory=fast_loop("sqlite")) as runner:  # as a gateway has it
            ours, theirs = runner.run(_compare(server.stdout.readline().strip()))
    finally:
        server.kill()
        server.wait()
    bars = Bars()
    row = ["a small request", duration(ours), duration(theirs), bars.verdict("a small request", (ours, theirs))]
    print_table("A small request that is repeated, CPU", ["", "rejoinder", "aiohttp's session, our bar", ""], [row])
    bars.settle()


async def _compare(address: str) -> tuple[float, float]:
    """CPU seconds of a request, the best of several rounds, in turns."""
    async with aiohttp.ClientSession(
        headers={"Content-Type": "application/json"}, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        poster = Poster(session)

        async def ours() -> object:
            return await read_all(await poster.post(address, BODY, PATIENT))

        async def theirs() -> object:
            return await read_all(await session.post(address, data=BODY, timeout=PATIENT, allow_redirects=False))

        times = [(await _request(ours), await _request(theirs)) for _ in range(ROUNDS)]
    return min(first for first, _ in times), min(second for _, second in times)


async def _request(ask: Callable[[], Awaitable[object]]) -> float:
    begin = process_time()
    for _ in range(REQUESTS):
        await ask()
    return (process_time() - begin) / REQUESTS


class _Server(asyncio.Protocol):
    """Answers each request in the same words, and reads of it only where it ends."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if data.endswith(BODY):
            self._transport.write(ANSWER)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Server, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/bot/sendMessage", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
