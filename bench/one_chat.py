"""One person asks a gateway on Telegram, one question after the other.

`python -m bench beside` runs this with older trees, too: it uses only what they have.
"""

import asyncio

from rejoinder.app import Gateway
from rejoinder.testing import FakePlatform

CONFIG = """\
[gateway]
store = "{store}"

[agents.plain]
kind = "python"
call = "bench.platform:answer"

[channels.telegram]
kind = "telegram"
token = "{token}"
api_root = "{api}"
agent = "plain"
dm = "open"
pace = {{ chat = "unlimited", account = "unlimited" }}
"""


class Course:
    """One person asks, one question after the other."""

    def __init__(self, platform: FakePlatform, gateway: Gateway) -> None:
        self._platform = platform
        self._gateway = gateway
        self._tasks = gateway.tasks._tasks
        self._standing: set[asyncio.Task[None]] = set()
        self._number = 0

    async def warm_up(self, times: int) -> None:
        """Returns when the gateway holds everything and has met such questions before."""
        for _ in range(times):
            await self.exchange()
        while not self._holds_all():  # noqa: ASYNC110 - there is nobody to wait for
            await asyncio.sleep(0.01)
        self._standing = set(self._tasks)  # nobody waits for their end
        await self.ask()

    async def ask(self) -> None:
        """Returns when the answer is there and the gateway has nothing left to do."""
        await self.exchange()
        while self._tasks - self._standing:  # noqa: ASYNC110 - there is nobody to wait for
            await asyncio.sleep(0.001)

    def _holds_all(self) -> bool:
        engines = tuple(self._gateway.engines)
        return len(engines) == self._gateway.store.shards and all(engine.is_recovered for engine in engines)

    async def exchange(self) -> None:
        """Returns when the answer is there."""
        self._number += 1
        await self._platform.says("ann", "ann", f"question {self._number}")
        await self._platform.hears("ann")
