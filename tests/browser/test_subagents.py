"""Runs beside the conversation, as a person sees them on the page and an operator in the console (TU-36)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from rejoinder.agents.base import AgentEvent, Done, Failed, TextDelta, ToolEnded, ToolStarted
from rejoinder.events import PromptText, Turn
from tests.browser.conftest import PHONE, Open
from tests.browser.hands import message, say
from tests.web.running import Site, running, settings

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Reader:
    """Told to read, it uses a tool and then says a piece whenever it is let go; told to fail, it fails."""

    name = "helper"

    def __init__(self) -> None:
        self.pieces: asyncio.Queue[str] = asyncio.Queue()

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        told = "\n".join(part.text for part in turn.parts if isinstance(part, PromptText))
        if "has finished" in told or "could not finish" in told or "was stopped" in told:
            yield TextDelta("Thanks.")
        elif "break" in told:
            yield Failed("other", "The disk is full.", "The disk is full.")
            return
        elif "read" in told:
            yield ToolStarted("t1", "cat changes.md")
            yield ToolEnded("t1", True)
            while piece := await self.pieces.get():
                yield TextDelta(piece)
        else:
            yield TextDelta("Hello.")
        yield Done()


@asynccontextmanager
async def reading() -> AsyncIterator[tuple[Site, Reader]]:
    agent: Any = Reader()
    async with running(settings(), agents={"helper": agent}) as site:
        yield site, agent


def button(page: Page) -> Locator:
    return page.locator(".subagents-button")


def panel(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Sub-agents")


async def test_a_run_is_seen_beside_the_conversation(open_page: Open) -> None:
    """TU-36: it appears by itself, its log grows while it works, and after a reload all of it is there again."""
    async with reading() as (site, agent):
        page = await open_page(f"{site.url}/#helper~you")
        await expect(button(page)).to_be_hidden()
        await say(page, "/subagents spawn helper read the changes")
        await expect(button(page)).to_have_accessible_name("Sub-agents: 1 at work")
        await button(page).click()
        row = panel(page).get_by_role("button", name="helper-1")
        await expect(row).to_contain_text("at work for")
        await expect(row).to_contain_text("read the changes")
        await row.click()
        log = panel(page).get_by_role("log")
        await expect(log).to_contain_text("cat changes.md")
        agent.pieces.put_nowait("Three of them are **new**.")
        await expect(log.locator(".said strong")).to_have_text("new")
        await expect(message(page, "Three of them")).to_have_count(0)
        await page.reload()
        await expect(button(page)).to_have_accessible_name("Sub-agents: 1 at work")
        await button(page).click()
        await row.click()
        await expect(log).to_contain_text("Three of them are new.")
        agent.pieces.put_nowait(" One is old.")
        await expect(log).to_contain_text("One is old.")
        agent.pieces.put_nowait("")
        await expect(panel(page).get_by_role("status")).to_contain_text("finished")
        await expect(button(page)).to_have_accessible_name("Sub-agents")
        await page.reload()
        await button(page).click()
        await row.click()
        await expect(log.locator("li")).to_have_count(3)  # what it was told, did and said
        await expect(log).to_contain_text("cat changes.md")
        await expect(log).to_contain_text("Three of them are new. One is old.")


async def test_one_that_works_is_stopped_and_one_that_fails_says_why(open_page: Open) -> None:
    """TU-36: from the panel, by the same command as in the chat."""
    async with reading() as (site, _):
        page = await open_page(f"{site.url}/#helper~you")
        await say(page, "/subagents spawn helper read for ever")
        await say(page, "/subagents spawn helper break")
        await expect(button(page)).to_have_accessible_name("Sub-agents: 1 at work")
        await button(page).click()
        await panel(page).get_by_role("button", name="helper-2").click()
        await expect(panel(page)).to_contain_text("The disk is full.")
        await expect(panel(page).get_by_role("button", name="Stop", exact=True)).to_be_hidden()
        await panel(page).get_by_role("button", name="All sub-agents").click()
        await panel(page).get_by_role("button", name="helper-1").click()
        await panel(page).get_by_role("button", name="Stop", exact=True).click()
        await expect(panel(page).get_by_role("status")).to_contain_text("stopped")
        await expect(message(page, "Stopped helper-1.")).to_be_visible()


async def test_in_a_room_of_several_agents_the_right_one_is_stopped(open_page: Open) -> None:
    """TU-36: two conversations of a room may each have a sub-agent of the same name."""
    agents: Any = {"ada": Reader(), "bee": Reader()}
    for name, agent in agents.items():
        agent.name = name
    async with running(settings(agents=("ada", "bee")), agents=agents) as site:
        page = await open_page(f"{site.url}/#lobby")
        for name in agents:
            await say(page, f"@{name} /subagents spawn {name} read for {name}")
        await expect(button(page)).to_have_accessible_name("Sub-agents: 2 at work")
        await button(page).click()
        await panel(page).get_by_role("button", name="bee-1").click()
        await panel(page).get_by_role("button", name="Stop", exact=True).click()
        await expect(message(page, "Stopped bee-1.")).to_be_visible()
        await expect(button(page)).to_have_accessible_name("Sub-agents: 1 at work")


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desktop", "phone"])
async def test_with_the_keyboard_alone(open_page: Open, viewport: dict[str, int] | None) -> None:
    """Enter opens the list and a log, Escape closes both, and the focus is where one was; on a phone it fills all."""
    async with reading() as (site, _):
        page = await open_page(f"{site.url}/#helper~you", **({"viewport": viewport} if viewport else {}))
        await say(page, "/subagents spawn helper read")
        await expect(button(page)).to_be_visible()
        await button(page).focus()
        await page.keyboard.press("Enter")
        await expect(panel(page).get_by_role("button", name="Close")).to_be_focused()
        await page.keyboard.press("Tab")
        row = panel(page).get_by_role("button", name="helper-1")
        await expect(row).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(panel(page).get_by_role("button", name="All sub-agents")).to_be_focused()
        await expect(panel(page).get_by_role("log")).to_contain_text("cat changes.md")
        size = await panel(page).bounding_box()
        assert size is not None
        assert viewport is None or size["width"] == viewport["width"]
        sideways = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not await page.evaluate(sideways)
        await page.keyboard.press("Enter")
        await expect(row).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(panel(page)).to_be_hidden()
        await expect(button(page)).to_be_focused()


async def test_nobody_sees_the_runs_of_somebody_elses_chat() -> None:
    """TU-36: a direct chat is its person's; who asks for its runs or their logs by name is refused."""
    async with reading() as (site, agent), site.page() as you, site.page("Mira") as mira:
        await you.send(type="say", client="c1", room="helper~you", text="/subagents spawn helper read")
        await you.told("subagents_changed", room="helper~you")
        await you.send(type="subagents", client="c2", room="helper~you")
        (run,) = (await you.told("subagents"))["subagents"]
        await mira.send(type="subagents", client="c3", room="helper~you")
        assert (await mira.told("refused"))["reason"] == "There is no such room."
        for room in ("helper~you", "helper~mira"):
            await mira.send(type="subagent_log", client="c4", room=room, subagent=run["id"])
            await mira.told("refused", client="c4")
        agent.pieces.put_nowait("")
        await you.hears("Thanks.")
    assert not any(frame["type"].startswith("subagent") for frame in mira.frames)


async def test_the_console_has_a_card_of_them(open_page: Open) -> None:
    """TU-36: who works on what, how it ended, and its log."""
    async with reading() as (site, agent):
        page = await open_page(f"{site.url}/console")
        card = page.get_by_role("region", name="Sub-agents")
        await expect(card).to_contain_text("No sub-agent has been started.")
        chat = await open_page(f"{site.url}/#helper~you")
        await say(chat, "/subagents spawn helper read the changes")
        await expect(card).to_contain_text("helper-1")
        await expect(card).to_contain_text("at work")
        await expect(card).to_contain_text("read the changes")
        agent.pieces.put_nowait("It says 42.")
        await card.get_by_text("Log of helper-1").click()
        await expect(card.locator("pre")).to_contain_text("< It says 42.")
        agent.pieces.put_nowait("")
        await expect(card).to_contain_text("finished")
        await expect(card.locator("pre")).to_be_visible()  # what was unfolded stays so when the card is drawn again
        await expect(card.locator("pre")).to_contain_text("cat changes.md")
