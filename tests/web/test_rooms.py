"""The demo on real sockets: a person and three agents in the lobby of the page."""

import asyncio
from contextlib import suppress

import aiohttp

from rejoinder import demo
from rejoinder.agents.cast import PARTS, CastAgent
from rejoinder.config import schema
from rejoinder.serving import serve, with_page
from tests.web.running import PATIENCE, Site

NAMES = tuple(part.name for part in PARTS)


async def _at_once(_: float) -> None:
    await asyncio.sleep(0)


async def test_the_review_on_the_page(monkeypatch):
    """IN-21, IN-25, OD-21: A answers, B replies to A's message, C to the person, A to B; each sign has its agent."""
    for pause in ("BEFORE", "TYPING", "QUIET"):
        monkeypatch.setattr(demo, pause, 0.0)
    made, agents = demo.staged(schema.Settings())
    assert tuple(agents) == NAMES
    for part in PARTS:
        peers = tuple(name for name in (*NAMES[1:], NAMES[0]) if name != part.name)
        agents[part.name] = CastAgent(part, peers, pause=_at_once)
    said, up = [], asyncio.Event()

    def say(line: str) -> None:
        said.append(line)
        if "console" in line:
            asyncio.get_running_loop().call_soon(up.set)

    async def play(gateway, web):
        await demo.play(gateway, web, NAMES)

    task = asyncio.create_task(serve(with_page(made, 0), say, agents=agents, play=play))
    try:
        async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as http:
            await up.wait()
            async with Site(said, http).page() as page:
                posted, whole, signs = {}, {}, []
                while len(whole) < 5 or not {"ada", "cleo"} <= {who for who, _ in signs}:
                    frame = (await page.socket.receive()).json()
                    match frame["type"]:
                        case "message":
                            posted[frame["message"]["id"]] = frame["message"]
                            if not frame["message"].get("growing") and frame["message"]["author"]:
                                whole[frame["message"]["id"]] = frame["message"]["author"]
                        case "edited" if frame["message"] in posted:
                            whole[frame["message"]] = posted[frame["message"]]["author"]
                        case "reacted":
                            signs += [(who, frame["message"]) for each in frame["reactions"] for who in each["who"]]
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    lines = [
        (posted[id]["author"], posted[quoted["id"]]["author"] if (quoted := posted[id].get("reply_to")) else None)
        for id in whole
    ]
    assert sorted(lines, key=str) == sorted(
        [("ann", None), ("ada", None), ("bo", "ada"), ("cleo", "ann"), ("ada", "bo")], key=str
    )
