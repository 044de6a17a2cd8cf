"""A program that is killed: a person writes, the gateway's side is a real store, and answers go out by key.

Prints `done CLIENT ID` when the browser was confirmed, `sent KEY ID` when a part was.
"""

import asyncio
import sys

from rejoinder.channels.base import Delivered
from rejoinder.events import Part, Route
from tests.channels.web.browser import a_channel, browsers


def confirm(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


async def main(folder: str, life: str, rounds: int) -> None:
    channel = await a_channel(f"sqlite:{folder}/rejoinder.db")
    async with browsers(channel, "") as [page]:
        for number in range(rounds):
            done = await page.ask("say", client=f"{life}-{number}", room="lobby", text=f"{life}-{number}")
            confirm("done", done["client"], done["id"])
            key = f"part-{life}-{number}"
            outcome = await channel.send(Part(Route("web", "lobby"), f"re {life}-{number}", key=key))
            assert isinstance(outcome, Delivered)
            confirm("sent", key, outcome.message)
    await channel.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
