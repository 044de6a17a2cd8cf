"""The pages in a process of their own, for bench/web.py: a message grows for ever, each delta says when it was made."""

import asyncio
import sys
import time

from rejoinder.channels.base import Delivered
from rejoinder.channels.web import Settings, open_channel
from rejoinder.channels.web.port import bind
from rejoinder.events import Part, Route
from rejoinder.listener import ConnectionLimits
from rejoinder.room_log import ChannelStorage
from rejoinder.runtime.engine import utc_now
from rejoinder.runtime.place.room_log import ChannelLog
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.blob_keeper import StoredBlobs
from rejoinder.store.sqlite.address import MEMORY
from rejoinder.store.sqlite.store import open_store
from rejoinder.web.login import Login
from rejoinder.web.server import Pages, address
from rejoinder.web.services import PageServices

EVERYBODY = ConnectionLimits(per_address=100_000, in_all=100_000)
PER_SECOND = 10
WORDS = 40
"""Characters of a delta: about what a model says in a tenth of a second."""


class NoPrograms:
    def name_of(self, _: str) -> None:
        return None


async def main() -> None:
    channel = open_channel("web", Settings(), ("one", "two"))
    store = open_store(MEMORY)

    async def nothing(*_: object) -> None:
        """Nobody asks here."""

    async def no_commands(*_: object) -> frozenset[tuple[str, bool]]:
        return frozenset()

    def no_answer(*_: object) -> None:
        raise NotImplementedError

    log = ChannelLog("web", nothing, store, utc_now)  # type: ignore[arg-type]
    await channel.use_store(ChannelStorage(log, StoredBlobs(store, utc_now, lambda: "")))
    async with Tasks() as tasks:
        services = PageServices(
            channel=channel,
            agents=("one", "two"),
            version="bench",
            store=store,
            health=store.health,
            channels=lambda: (),
            complete=no_answer,  # type: ignore[arg-type]
            resend=nothing,
            drop=nothing,
            rerun=nothing,
            change_job=nothing,
            not_in_effect=lambda: "",
            approve=nothing,  # type: ignore[arg-type]
            start=tasks.start,
            programs=NoPrograms(),  # type: ignore[arg-type]
            sees_subagent=nothing,  # type: ignore[arg-type]
            usable_commands=no_commands,
        )
        pages, listening = Pages(services, Login(None), limits=EVERYBODY), bind("127.0.0.1", 0)
        tasks.start("pages", pages.serve(listening))
        await pages.up.wait()
        print(address(listening), flush=True)
        await asyncio.to_thread(sys.stdin.readline)  # everybody is there
        lobby = Route("web", "lobby")
        begun = await channel.begin(Part(lobby, "Begin.", author="one"))
        assert isinstance(begun, Delivered)
        while True:
            await asyncio.sleep(1 / PER_SECOND)
            await channel.append(lobby, begun.message, f" {time.monotonic_ns()}".ljust(WORDS, "."))


if __name__ == "__main__":
    asyncio.run(main())
