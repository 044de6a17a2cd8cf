"""The login page against the real gateway: what a browser sends by itself decides whether anybody gets in."""

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open, RealGateway
from tests.browser.hands import box

pytestmark = pytest.mark.asyncio(loop_scope="session")

GUARDED = """
[gateway]
store = "sqlite:{store}"
[agents.tour]
kind = "tour"
[channels.web]
port = {port}
token = "the token of this test"
"""


async def show(page: Page, token: str) -> None:
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Log in").click()


async def test_the_form_lets_in_who_has_the_token(open_page: Open, tmp_path: Path) -> None:
    """A wrong token says so and asks again; the right one leads to where one wanted to go, and every page is open."""
    guarded = RealGateway(tmp_path, GUARDED)
    await guarded.start()
    try:
        page = await open_page(f"{guarded.url}/console")
        await show(page, "another token")
        await expect(page.get_by_role("alert")).to_contain_text("This was not the token")
        await show(page, "the token of this test")
        await expect(page).to_have_url(f"{guarded.url}/console")
        await expect(page.get_by_role("heading", name="Flow")).to_be_visible()
        await page.goto(guarded.url)
        await expect(box(page)).to_be_visible()
    finally:
        await guarded.kill()
