"""A program that is killed: a person writes, the gateway's side is a real store, and answers go out by key.

Prints `done CLIENT ID` when the browser was confirmed, `sent KEY ID` when a part was.
"""

import asyncio
import sys
from datetime import datetime

from rejoinder.channels.base import Delivered
from rejoinder.channels.web import reading
from rejoinder.channels.web.channel import WebChannel
from rejoinder.events import Inbound, Part, Route
from rejoinder.store.base import Accept, Cursor
from rejoinder.store.sqlite import SqliteStore, open_store
from tests.channels.web.browser import a_channel, browsers


class StoredInlet:
    """What the gateway does with a message: in its inbox, with the cursor, in one transaction."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._moved = asyncio.Condition()

    async def __call__(self, *messages: Inbound, cursor: str | None = None, within: float | None = None) -> None:
        position = None if cursor is None else Cursor("web", "journal", cursor)
        await self._store.write(Accept(messages, _now(messages), position))
        async with self._moved:
            self._moved.notify_all()

    async def until_all(self, channel: WebChannel) -> None:
        async with self._moved:
            while await channel.keeper.ask(reading.arrived, int(await self.cursor() or 0)):
                await self._moved.wait()

    async def suggest(self, typed: Inbound, option: str) -> tuple[str, ...]:
        return ()

    async def cursor(self) -> str | None:
        return await self._store.cursor("web", "journal")


def _now(messages: tuple[Inbound, ...]) -> datetime:
    return next(message.sent_at for message in messages if message.sent_at)


def confirm(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


async def main(folder: str, life: str, rounds: int) -> None:
    store = open_store(f"sqlite:{folder}/rejoinder.db")
    channel = a_channel(f"{folder}/rejoinder.db.web.db")
    inlet = StoredInlet(store)
    listening = asyncio.create_task(channel.listen(inlet))
    async with browsers(channel, "") as [page]:
        for number in range(rounds):
            done = await page.ask("say", client=f"{life}-{number}", room="lobby", text=f"{life}-{number}")
            confirm("done", done["client"], done["id"])
            key = f"part-{life}-{number}"
            outcome = await channel.send(Part(Route("web", "lobby"), f"re {life}-{number}", key=key))
            assert isinstance(outcome, Delivered)
            confirm("sent", key, outcome.message)
    await inlet.until_all(channel)
    listening.cancel()
    await channel.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
