"""Five hundred browsers on one gateway: how long a word takes to reach each of them, and what a browser costs.

Server and browsers are two processes on this machine, and share its cores: the figures hold for both together.
"""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from statistics import quantiles

import aiohttp
import msgspec

from bench.timing import Bars, duration, print_table
from bench.web_server import PER_SECOND

SOCKETS = 500
SECONDS = 3
ROUNDS = 3
SLOWEST = 0.25
"""Bar: seconds from delta to the last but one in a hundred sockets, in the best round."""
LARGEST = 100
"""Bar: kB of the server's memory for each browser."""

HELLO = msgspec.json.encode({"type": "hello", "protocol": 1}).decode()


async def _browse(http: aiohttp.ClientSession, url: str, took: list[float], here: "asyncio.Queue[None]") -> None:
    async with http.ws_connect(f"{url}/socket", compress=0, autoping=True) as socket:
        await socket.send_str(HELLO)
        async for message in socket:
            if message.data.startswith('{"type":"delta"'):
                made = int(msgspec.json.decode(message.data)["text"].strip(" ."))
                took.append((time.monotonic_ns() - made) / 1e9)
            elif message.data.startswith('{"type":"welcome"'):
                here.put_nowait(None)


async def _load(server: "subprocess.Popen[str]", url: str) -> tuple[list[list[float]], float]:
    took: list[float] = []
    here: asyncio.Queue[None] = asyncio.Queue()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http, asyncio.TaskGroup() as group:
        first = group.create_task(_browse(http, url, took, here))  # what is imported and allocated once is nobody's
        await here.get()
        before = _memory(server.pid)
        browsing = [group.create_task(_browse(http, url, took, here)) for _ in range(SOCKETS - 1)]
        for _ in browsing:
            await here.get()
        each = (_memory(server.pid) - before) / (SOCKETS - 1)
        assert server.stdin is not None
        server.stdin.write("\n")
        server.stdin.flush()
        rounds: list[list[float]] = []
        for _ in range(ROUNDS):
            took.clear()
            await asyncio.sleep(SECONDS)
            rounds.append(took.copy())
        for task in (first, *browsing):
            task.cancel()
    return rounds, each


def _memory(process: int) -> float:
    """Resident kB."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS:")))


def run() -> None:
    if not Path("/proc/self/status").exists():
        print("\nBrowsers: the memory of a process can be read on Linux only; left out.")
        return
    command = [sys.executable, "-m", "bench.web_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            rounds, each = asyncio.run(_load(server, server.stdout.readline().strip()))
        finally:
            server.kill()
    bars = Bars()
    told = min(len(took) for took in rounds) / (SOCKETS * SECONDS * PER_SECOND)
    cuts = [quantiles(took, n=100) for took in rounds]
    p50, p99 = min(cut[49] for cut in cuts), min(cut[98] for cut in cuts)
    rows = [
        ["delta to socket, p50", duration(p50), "", ""],
        ["delta to socket, p99", duration(p99), duration(SLOWEST), bars.verdict("delta to socket", (p99, SLOWEST))],
        ["memory per connection", f"{each:.0f} kB", f"{LARGEST} kB", bars.verdict("memory", (each, LARGEST))],
        ["deltas that came in time", f"{told:.0%}", "", ""],
    ]
    print_table(f"{SOCKETS} browsers, {PER_SECOND} deltas a second each", ["", "", "bar", ""], rows)
    bars.settle()
