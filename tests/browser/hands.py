"""What a person does on the chat page, in the words of a test."""

import re

from playwright.async_api import Locator, Page, expect


def box(page: Page, thread: bool = False) -> Locator:
    return page.locator("#thread-text" if thread else "#room-text")


def messages(page: Page, thread: bool = False) -> Locator:
    return page.locator(".panel .message" if thread else "main .message")


def message(page: Page, text: str, thread: bool = False) -> Locator:
    """The newest message with these words."""
    return messages(page, thread).filter(has=page.locator(".body", has_text=text)).last


async def say(page: Page, text: str, thread: bool = False) -> Locator:
    """Writes and sends; returns once the message has arrived on the server."""
    await box(page, thread).fill(text)
    await box(page, thread).press("Enter")
    said = messages(page, thread).and_(page.locator(".mine")).filter(has_text=text).last
    await expect(said).to_have_attribute("data-id", re.compile("^w"))
    return said


async def whole(page: Page) -> None:
    """Until no message grows."""
    await expect(page.locator(".message.growing")).to_have_count(0)


async def tool(page: Page, of: Locator, name: str) -> None:
    """Chooses a message and presses a button of its tool bar, which stays with the focus wherever the row moves."""
    await of.hover()
    await of.focus()
    await of.get_by_role("button", name=name, exact=True).click()


async def at_bottom(page: Page) -> bool:
    return await page.locator("main .scroller").evaluate("e => e.scrollHeight - e.scrollTop - e.clientHeight < 2")
