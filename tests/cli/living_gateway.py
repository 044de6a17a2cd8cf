"""A process that has the store open as a gateway has: it sends what it finds when it is told of a change.

It says on stdout what it does, one line each, and ends with its stdin.
"""

import asyncio
import sys
from datetime import UTC, datetime

from rejoinder.store.base import ClaimPart, MarkSent, StoredPart
from rejoinder.store.sqlite.store import SqliteStore, open_store
from tests.cli.a_store import fill


def say(*words: object) -> None:
    print(*words, flush=True)


async def send_all(store: SqliteStore) -> None:
    for route in await store.routes_to_send():
        now = datetime.now(UTC)
        while isinstance(part := await store.write(ClaimPart(route, now)), StoredPart):
            await store.write(MarkSent(part, f"sent-{part.id}", now))
            say("sent", part.id, part.route.chat)


async def main(path: str) -> None:
    store = open_store(f"sqlite:{path}")
    await fill(store)
    changed = asyncio.Event()
    store.on_external_change(lambda _: changed.set())
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    say("ready")
    while not ended.done():
        await asyncio.wait([ended, waiting := asyncio.ensure_future(changed.wait())], return_when="FIRST_COMPLETED")
        waiting.cancel()
        if changed.is_set():
            changed.clear()
            admitted = await store.admission("telegram", "default")
            say("paired", "2002" in [each.sender for each in admitted.paired])
            await send_all(store)
    await store.close()


asyncio.run(main(sys.argv[1]))
