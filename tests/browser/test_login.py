"""The login page against the real gateway: what a browser sends by itself decides whether anybody gets in."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Open, RealGateway
from tests.browser.hands import box, say

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
        await expect(page.get_by_role("alert")).to_contain_text("This token is wrong")
        await page.goto(f"{guarded.url}/join/ended")
        await expect(page.get_by_role("alert")).to_have_text(re.compile("^This link is wrong or no longer valid"))
        await page.goto(f"{guarded.url}/console")
        await show(page, "the token of this test")
        await expect(page).to_have_url(f"{guarded.url}/console")
        await expect(page.get_by_role("heading", name="Flow")).to_be_visible()
        await page.goto(guarded.url)
        await expect(box(page)).to_be_visible()
    finally:
        await guarded.kill()


async def test_an_invitation_is_a_person_and_a_broken_address_is_the_page(open_page: Open, tmp_path: Path) -> None:
    """The owner invites on the console; the link opens the chat as that person, who cannot rename themselves."""
    guarded = RealGateway(tmp_path, GUARDED)
    await guarded.start()
    try:
        owner = await open_page(f"{guarded.url}/login?token=the token of this test")
        await owner.goto(f"{guarded.url}/console")
        people = owner.get_by_role("region", name="People")
        await people.get_by_label("Name").fill("Ann")
        await people.get_by_role("button", name="Invite").click()
        await expect(people.get_by_role("button", name="End the login of Ann")).to_be_visible()
        link = (await people.get_by_role("status").inner_text()).rpartition(" ")[2]
        page = await open_page(link)
        await expect(page.get_by_role("link", name="Console")).to_be_hidden()
        await page.get_by_role("button", name="You are Ann").click()
        await expect(page.get_by_role("dialog")).to_contain_text("with the owner's invitation")
        await page.get_by_role("button", name="Log out").click()
        await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        await owner.goto(f"{guarded.url}/#%E0%A4%A")
        await expect(box(owner)).to_be_visible()
    finally:
        await guarded.kill()


async def test_without_a_login_the_page_says_that_a_name_proves_nothing(open_page: Open, tmp_path: Path) -> None:
    """On loopback anybody is whom they say they are; a name without letters is somebody, and not the owner."""
    unguarded = RealGateway(tmp_path, GUARDED.replace('token = "the token of this test"\n', ""))
    await unguarded.start()
    try:
        page = await open_page(unguarded.url)
        await page.get_by_role("button", name="You are You").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("a name proves nothing")
        await dialog.get_by_label("Your name").fill("\N{PARTY POPPER}")
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("button", name="You are \N{PARTY POPPER}")).to_be_visible()
        await expect(page.get_by_role("link", name="Console")).to_be_visible()
    finally:
        await unguarded.kill()


async def test_only_the_owner_is_offered_a_command_to_try(open_page: Open, tmp_path: Path) -> None:
    """A guest's `/think` is passed over in silence: what is offered first has to work."""
    unguarded = RealGateway(tmp_path, GUARDED.replace('token = "the token of this test"\n', ""))
    await unguarded.start()
    try:
        for address, offers, commands in ((unguarded.url, 4, 1), (f"{unguarded.url}/?as=Zoe", 3, 0)):
            page = await open_page(address)
            offered = page.get_by_role("group", name="Things to try").get_by_role("button")
            await expect(offered).to_have_count(offers)
            await expect(offered.filter(has_text="/think")).to_have_count(commands)
    finally:
        await unguarded.kill()


async def test_an_invited_person_is_offered_only_commands_that_they_may_use(open_page: Open, tmp_path: Path) -> None:
    """A guest's `/status` is passed over in silence, so the list above the message box leaves it out (IN-14)."""
    guarded = RealGateway(tmp_path, GUARDED)
    await guarded.start()
    try:
        owner = await open_page(f"{guarded.url}/login?token=the token of this test")
        await say(owner, "/invite Ann")
        link = owner.get_by_role("link", name=f"{guarded.url}/join/")
        guest = await open_page(await link.get_attribute("href") or "")
        for page, offers in ((owner, ["/help", "/status"]), (guest, ["/help"])):
            for typed in ("/help", "/status"):
                await box(page).fill("")
                await box(page).press_sequentially(typed)
                await expect(page.get_by_role("option", name=typed)).to_have_count(int(typed in offers))
    finally:
        await guarded.kill()
