"""The demo on real sockets: a person and three agents in the lobby of the page."""

import asyncio
from contextlib import suppress

import aiohttp
import pytest

from rejoinder.agents.cast import PARTS, CastAgent
from rejoinder.channels.web import Settings, open_channel
from rejoinder.config import schema
from rejoinder.errors import BadUse
from rejoinder.programs import demo
from rejoinder.programs.serving import serve, with_page
from rejoinder.testing.model_server import ModelRequest, ModelServer, Refuse, Say
from rejoinder.testing.patience import PATIENCE
from tests.web.running import Site, running

NAMES = tuple(part.name for part in PARTS)


async def _at_once(_: float) -> None:
    await asyncio.sleep(0)


async def test_the_review_on_the_page(monkeypatch):
    """IN-21, IN-25, OD-21, OD-50: A answers, B replies to A's message, A to B and hands over to C, who replies to A;
    the person asks C in a thread under C's words, whatever a visitor wrote since, and is answered there. Each sign has
    its agent."""
    for pause in ("BEFORE", "TYPING"):
        monkeypatch.setattr(demo, pause, 0.0)
    tests_are_there = asyncio.Event()
    monkeypatch.setattr(demo, "_until_quiet", lambda _: tests_are_there.wait())
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
                while len(whole) < 9 or not {"ada", "cleo"} <= {who for who, _ in signs}:
                    frame = (await page.socket.receive()).json()
                    match frame["type"]:
                        case "message":
                            posted[frame["message"]["id"]] = frame["message"]
                            if frame["message"]["text"].startswith("You are you on web"):
                                tests_are_there.set()
                            if not frame["message"].get("growing") and frame["message"]["author"]:
                                whole[frame["message"]["id"]] = frame["message"]["author"]
                        case "edited" if frame["message"] in posted:
                            whole[frame["message"]] = posted[frame["message"]]["author"]
                        case "reacted":
                            signs += [(who, frame["message"]) for each in frame["reactions"] for who in each["who"]]
                    if "cleo" in whole.values() and "you" not in whole.values():
                        await page.send(type="say", client="visitor", room="lobby", text="/whoami")
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    lines = [
        (posted[id]["author"], posted[quoted["id"]]["author"] if (quoted := posted[id].get("reply_to")) else None)
        for id in sorted(whole, key=list(posted).index)
    ]
    room = [("ann", None), ("ada", None), ("bo", "ada"), ("ada", "bo"), ("ada", None), ("cleo", "ada")]
    assert lines == [*room, ("you", None), ("ann", None), ("cleo", "ann")]
    *_, tests, _, question, first = sorted(whole, key=list(posted).index)
    assert posted[question]["thread"] == posted[first]["thread"] == tests


def configured(server: ModelServer, *names: str) -> schema.Settings:
    model = {"base_url": server.openai_url, "model": "any"}
    return schema.Settings(agents={name: schema.ConfiguredAgent("openai", model) for name in names})


@pytest.mark.parametrize(
    ("ours", "cast"),
    [
        ((), ["ada", "bo", "cleo"]),
        (("helper",), ["bo", "cleo"]),
        (("helper", "coder"), ["cleo"]),
        (("bo",), ["ada", "cleo"]),
        (("cleo", "bo"), ["ada"]),
        (("a", "b", "c", "d"), []),
    ],
)
async def test_who_plays(ours: tuple[str, ...], cast: list[str]):
    """The configured agents, in their order; the cast has the parts that are left, under names nobody has."""
    async with ModelServer() as server:
        made, agents = demo.staged(configured(server, *ours))
    assert [name for name, agent in agents.items() if isinstance(agent, CastAgent)] == cast
    assert made.channels["web"].common.agents == (*ours[:3], *cast)


def as_a_model(request: ModelRequest) -> Say:
    if "please review" in request.text:
        return Say("I found one issue. @bo, do you agree?")
    return Say('[[reply_to:m1]]\nThen I drop it.\n<actions><handoff to="cleo">Which tests, then?</handoff></actions>')


async def curtain(monkeypatch, server: ModelServer, *names: str) -> tuple[dict[str, list[str]], str]:
    """The whole play with these agents: what each said, and the last words."""
    for pause, seconds in (("BEFORE", 0.0), ("TYPING", 0.0), ("QUIET", 1.0)):
        monkeypatch.setattr(demo, pause, seconds)
    made, agents = demo.staged(with_page(configured(server, *names), 0))
    for agent in agents.values():
        if isinstance(agent, CastAgent):
            agent._pause = _at_once
    said: dict[str, list[str]] = {}

    async def play(gateway, web):
        await demo.play(gateway, web, tuple(agents))

    async with running(made, play, agents) as site, site.page() as page:
        while (last := (await page.told("message"))["message"])["author"] or last.get("note"):
            pass
        await page.send(type="history", client="all", room="lobby")
        for message in (await page.told("page"))["messages"]:
            said.setdefault(message["author"], []).append(message["text"])
    return said, last["text"]


async def test_a_configured_agent_plays_with_the_cast(monkeypatch):
    """A model is asked like anybody; the second of the cast answers its question."""
    async with ModelServer(as_a_model) as server:
        said, last = await curtain(monkeypatch, server, "ann")
    assert said["ann"][0] == "I found one issue. @bo, do you agree?"
    assert "On 1 and 2, yes." in said["bo"][0]
    assert "Three tests would do" in said["cleo"][0]
    assert "person-ann" in said
    assert last.startswith("That was the demo")


async def test_a_demo_that_fails_says_so(monkeypatch):
    async with ModelServer(lambda _: Refuse(401)) as server:
        said, last = await curtain(monkeypatch, server, "helper")
    assert "does not accept this agent's key" in said["helper"][0]
    assert last.startswith("The demo ends here, because helper could not answer.")


@pytest.mark.parametrize("name", ["all", "you"])
def test_names_that_mean_something_on_the_page(name: str):
    with pytest.raises(BadUse, match=f"no agent of the chat page can be called '{name}'"):
        open_channel("web", Settings(), ("ada", name))
