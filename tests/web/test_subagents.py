"""Who may know what the runs beside a room do: on the page as by `/subagents` (TU-36, IN-12)."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import Done, TextDelta
from rejoinder.agents.settings import AgentSettings
from rejoinder.config import schema
from rejoinder.runtime.place import access
from rejoinder.session import SessionSettings
from rejoinder.testing.patience import until
from tests.web.running import Page, running, settings

ROOM = "lobby"


class Worker:
    """Works on whatever it is given until it is let go."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.go = asyncio.Event()

    async def run(self, turn: Any) -> Any:
        yield TextDelta("The password is 42.")
        await self.go.wait()
        yield Done()


def made(*, allow: tuple[str, ...] = (), **session: Any) -> schema.Settings:
    base = settings(agents=("ada", "bee"))
    web = base.channels["web"]
    channels = {"web": replace(web, common=replace(web.common, allow=allow))}
    return replace(base, channels=channels, session=SessionSettings(**session))


async def seen(page: Page, room: str = ROOM) -> list[dict[str, Any]]:
    await page.send(type="subagents", client="list", room=room)
    return (await page.told("subagents", client="list"))["subagents"]


async def log_of(page: Page, run: str, client: str) -> str:
    """What it reads, or why it reads nothing."""
    await page.send(type="subagent_log", client=client, room=ROOM, subagent=run)
    frame = await page._until(lambda frame: frame.get("client") == client)
    return frame["reason"] if frame["type"] == "refused" else "\n".join(line["text"] for line in frame["log"])


REFUSED = "There is no such sub-agent, or you may not use /subagents here."


@pytest.mark.parametrize(
    ("name", "scope", "may"),
    [
        ("", "per-thread", True),
        ("Sam", "per-thread", True),
        ("Mira", "per-thread", False),
        ("", "per-sender", True),
        ("Sam", "per-sender", False),
    ],
    ids=["owner", "sender", "guest", "owner of the session", "sender with a session of their own"],
)
async def test_whoever_may_use_the_command_sees_them(name: str, scope: str, may: bool) -> None:
    """TU-36, IN-12, IN-40: a guest may talk, and is told nothing of the runs beside the room, neither that they are
    there nor their logs; a session that is one person's is not shown to another."""
    agents: Any = {each: Worker(each) for each in ("ada", "bee")}
    configured = made(allow=("sam",), group_scope=scope)
    async with running(configured, agents=agents) as site, site.page() as owner, site.page(name) as page:
        await owner.send(type="say", client="c1", room=ROOM, text="@ada /subagents spawn ada read the safe")
        await owner.told("subagents_changed", room=ROOM)
        (run,) = await seen(owner)
        assert [each["task"] for each in await seen(page)] == (["read the safe"] if may else [])
        told = await log_of(page, run["id"], "log")
        assert ("42" in told) is may
        assert may or told == REFUSED
        for agent in agents.values():
            agent.go.set()


async def test_who_is_let_in_meanwhile_sees_them_and_who_no_longer_is_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """IN-61: `/allowlist` says who may use commands, here too."""
    monkeypatch.setattr(access, "FRESH", 0.0)
    agents: Any = {each: Worker(each) for each in ("ada", "bee")}
    async with running(made(), agents=agents) as site, site.page() as owner, site.page("Mira") as mira:
        await owner.send(type="say", client="c1", room=ROOM, text="@ada /subagents spawn ada read the safe")
        await owner.told("subagents_changed", room=ROOM)

        async def sees(count: int) -> bool:
            return len(await seen(mira)) == count

        for number, (change, count) in enumerate((("add", 1), ("remove", 0))):
            await owner.send(type="say", client=f"d{number}", room=ROOM, text=f"@ada /allowlist {change} mira")
            await until(lambda count=count: sees(count), f"{count} sub-agents")
        for agent in agents.values():
            agent.go.set()


@pytest.mark.parametrize(
    ("spawn", "agent", "says"),
    [
        (None, "ada", "Sub-agent ada-1 is at work. /subagents log ada-1 shows what it does."),
        (None, "bee", "The agent bee may not be started here; there are: ada."),
        (("bee",), "bee", "Sub-agent bee-1 is at work. /subagents log bee-1 shows what it does."),
        (("bee",), "ada", "The agent ada may not be started here; there are: bee."),
        ((), "ada", "The agent ada may not be started here; there are: none."),
    ],
)
async def test_the_section_of_an_agent_says_who_may_be_started(
    spawn: tuple[str, ...] | None, agent: str, says: str
) -> None:
    """TU-36: `agents.x.spawn`; unset: only the agent itself."""
    base = made()
    ada = replace(base.agents["ada"], settings=AgentSettings(spawn=spawn))
    agents: Any = {each: Worker(each) for each in ("ada", "bee")}
    async with (
        running(replace(base, agents={**base.agents, "ada": ada}), agents=agents) as site,
        site.page() as owner,
    ):
        await owner.send(type="say", client="c1", room=ROOM, text=f"@ada /subagents spawn {agent} read the safe")
        await owner.hears(says)
        for each in agents.values():
            each.go.set()
