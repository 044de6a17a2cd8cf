"""The chat page of one process shows what another one does, while it does it (SC-14)."""

import asyncio
from typing import Any

from rejoinder.channels.web.live import MOST_WORDS
from rejoinder.testing import ScriptedAgent
from tests.cluster.beside import NoAgent, worker_for
from tests.postgres import Server, a_database
from tests.web.running import Page, running, settings

ROOM = "scripted~you"


async def sees(page: Page, text: str) -> dict[str, Any]:
    """The message that is being written says this so far; every piece of it came where it belongs."""
    shown: dict[str, dict[str, Any]] = {}

    def is_it(frame: dict[str, Any]) -> bool:
        match frame:
            case {"type": "message", "message": {"growing": True} as message}:
                shown[message["id"]] = message
            case {"type": "delta", "message": id, "at": at, "text": words}:
                assert len(shown[id]["text"].encode("utf-16-le")) // 2 == at
                shown[id]["text"] += words
        return any(each["text"] == text for each in shown.values())

    for frame in page.frames:
        if is_it(frame):
            break
    else:
        await page._until(is_it)
    return next(each for each in shown.values() if each["text"] == text)


async def test_words_are_shown_while_they_are_written(postgres: Server) -> None:
    """SC-14: by a worker, on the page of a front; a browser that comes in the midst of it has them too."""
    goes_on, ends = asyncio.Event(), asyncio.Event()
    agent = ScriptedAgent(["One 🎈 ", goes_on.wait, "two ", ends.wait, "three."])
    here = settings(agents=("scripted",), store=a_database(postgres, "one_shard"))
    async with (
        running(here, agents={"scripted": NoAgent()}, role="front") as site,
        worker_for(here, {"scripted": agent}),
        site.page() as page,
    ):
        await page.send(type="say", client="1", room=ROOM, text="count")
        await sees(page, "One 🎈")
        goes_on.set()
        growing = await sees(page, "One 🎈 two")
        async with site.page() as late:
            ((so_far,),) = [frame["growing"] for frame in late.frames if frame["type"] == "welcome"]
            assert (so_far["id"], so_far["text"]) == (growing["id"], "One 🎈 two")
            ends.set()
            assert await page.hears("One 🎈 two three.") == growing["id"]
            assert await late.hears("One 🎈 two three.") == growing["id"]


async def test_what_is_too_much_is_shown_when_it_is_complete(postgres: Server) -> None:
    """SC-14: more words at once than are passed on: the page stands still, and the last row brings all of it."""
    flood, begins = "word " * (MOST_WORDS // 4), asyncio.Event()
    agent = ScriptedAgent(["Here it comes. ", begins.wait, flood, "The end."])
    here = settings(agents=("scripted",), store=a_database(postgres, "one_shard"))
    async with (
        running(here, agents={"scripted": NoAgent()}, role="front") as site,
        worker_for(here, {"scripted": agent}),
        site.page() as page,
    ):
        await page.send(type="say", client="1", room=ROOM, text="count")
        await sees(page, "Here it comes.")
        begins.set()
        await page.hears(f"Here it comes. {flood}The end.")
        assert sum(len(frame["text"]) for frame in page.frames if frame["type"] == "delta") < len(flood)
