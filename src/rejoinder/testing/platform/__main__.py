"""`python -m rejoinder.testing.platform telegram --port 8081 --seed 7`: serves until it is ended."""

import argparse
import asyncio
import signal
import sys

from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.fake import PERSONALITIES


async def serve(personality: str, port: int, seed: int) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with FakePlatform(personality, port=port, seed=seed) as platform:
        sys.stdout.write(f"{platform.url}\n")
        sys.stdout.flush()
        await ended.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m rejoinder.testing.platform", description=__doc__)
    parser.add_argument("personality", choices=PERSONALITIES)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one; the address is printed")
    parser.add_argument("--seed", type=int, default=0, help="what the faults are drawn from")
    given = parser.parse_args()
    asyncio.run(serve(given.personality, given.port, given.seed))
