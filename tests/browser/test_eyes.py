"""Everybody can use the pages: axe-core finds nothing serious, in both themes, wide and narrow."""

from pathlib import Path

import axe_playwright_python
import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import PHONE, Open, Playing
from tests.browser.hands import message, tool

pytestmark = pytest.mark.asyncio(loop_scope="session")

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


async def findings(page: Page) -> list[str]:
    # Through the debugger, as a script element would break the page's own policy.
    await page.evaluate(f"() => {{ {AXE} }}")
    result = await page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    return [
        f"{each['impact']}: {each['help']} ({node['html'][:160]})"
        for each in result["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_chat_with_a_thread(open_page: Open, staged: Playing, scheme: str) -> None:
    page = await open_page(f"{staged.url}/#lobby", color_scheme=scheme)
    await page.locator(".thread-link").click()
    await message(page, "Ship it.").hover()
    assert await findings(page) == []


async def test_the_chat_on_a_phone(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/#lobby", viewport=PHONE)
    await page.locator("#room-text").fill("/")
    await expect(page.get_by_role("option").first).to_be_visible()
    assert await findings(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_console(open_page: Open, staged: Playing, scheme: str) -> None:
    page = await open_page(f"{staged.url}/console", color_scheme=scheme)
    await page.locator(".summary").first.click()
    await expect(page.get_by_text("Let in")).to_be_visible()
    assert await findings(page) == []


async def test_what_opens_above_the_page(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/#lobby")
    await tool(page, message(page, "Ship it."), "React")
    assert await findings(page) == []
    await page.keyboard.press("Escape")
    for opens in ("New room", "Keyboard shortcuts"):
        await page.get_by_role("button", name=opens).click()
        assert await findings(page) == []
        await page.keyboard.press("Escape")
    await page.keyboard.press("Control+K")
    assert await findings(page) == []
    await page.goto(f"{staged.url}/login?wrong")
    assert await findings(page) == []
