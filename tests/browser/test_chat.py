"""The chat page on the real gateway: what a person does on the first day, and what must survive."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open, RealGateway, Scripted
from tests.browser.hands import box, message, messages, say, tool, whole

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_message_is_answered_while_it_is_written(open_page: Open, gateway: RealGateway) -> None:
    """Send: the message arrives with a tick; the answer streams in, whole at the end, with its code to copy."""
    page = await open_page(gateway.url)
    said = await say(page, "show me streaming")
    await expect(said.get_by_role("img", name="Sent")).to_be_visible()
    await expect(page.locator(".message.growing")).to_have_count(1)
    await whole(page)
    answer = message(page, "You read this while it is written")
    await expect(answer.locator("figure.code code")).to_contain_text("[[reply_to:m1]]")
    await expect(answer).to_contain_text("people see the third.")


async def test_an_answer_is_stopped_by_a_click(open_page: Open, scripted: Scripted) -> None:
    """IN-70: what is running here ends, what was shown of it stays."""
    real = await scripted([["One moment, ", 60, "and done."]])
    page = await open_page(real.url)
    await say(page, "go")
    await expect(message(page, "One moment")).to_be_visible()
    await page.get_by_role("button", name="Stop", exact=True).click()
    await expect(message(page, "One moment").locator(".stopped")).to_be_visible()
    await whole(page)
    await expect(messages(page)).to_have_count(2)
    await expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    await expect(message(page, "and done.")).to_have_count(0)


async def test_a_reply_shows_the_line_it_answers_and_jumps_to_it(open_page: Open, gateway: RealGateway) -> None:
    page = await open_page(gateway.url)
    said = await say(page, "reply to me")
    answer = message(page, "This is a native reply")
    await expect(answer.locator(".quote")).to_contain_text("reply to me")
    await answer.locator(".quote").click()
    await expect(said).to_have_class(re.compile(r"\bflash\b"))


async def test_a_person_replies_to_an_agent(open_page: Open, gateway: RealGateway) -> None:
    page = await open_page(gateway.url)
    await say(page, "hello")
    await expect(message(page, "how long it took")).to_be_visible()
    await whole(page)
    await tool(page, message(page, "I am tour"), "Reply")
    await expect(page.get_by_text("Replying to")).to_be_visible()
    said = await say(page, "thank you")
    await expect(said.locator(".quote")).to_contain_text("I am tour")


async def test_agent_and_person_react(open_page: Open, gateway: RealGateway) -> None:
    page = await open_page(gateway.url)
    said = await say(page, "react with 🎉")
    await expect(said.locator(".reaction[data-emoji='🎉'] .count")).to_have_text("1")
    await whole(page)
    await said.locator(".reaction[data-emoji='🎉']").click()
    await expect(said.locator(".reaction[data-emoji='🎉'] .count")).to_have_text("2")
    await said.locator(".reaction[data-emoji='🎉']").click()
    await expect(said.locator(".reaction[data-emoji='🎉'] .count")).to_have_text("1")
    await tool(page, said, "React")
    await page.get_by_label("Search emoji").fill("rocket")
    await page.get_by_label("Search emoji").press("Enter")
    await expect(said.locator(".reaction[data-emoji='🚀']")).to_have_attribute("aria-pressed", "true")


async def test_a_thread_stays_beside_the_room(open_page: Open, gateway: RealGateway) -> None:
    """What is said in a thread is answered in it; the room shows only that there is one."""
    page = await open_page(gateway.url)
    root = await say(page, "stay silent")
    await tool(page, root, "Open thread")
    await say(page, "reply to me", thread=True)
    await expect(message(page, "This is a native reply", thread=True)).to_be_visible()
    await whole(page)
    await expect(root.locator(".thread-link strong")).to_have_text("2 replies")
    await expect(messages(page)).to_have_count(1)
    await page.reload()
    await expect(page.locator(".thread-link strong")).to_have_text("2 replies")
    await page.locator(".thread-link").click()
    await expect(messages(page, thread=True)).to_have_count(3)


async def test_own_messages_are_edited_and_deleted(open_page: Open, gateway: RealGateway) -> None:
    page = await open_page(gateway.url)
    await say(page, "stay silent, plese")
    await box(page).press("ArrowUp")
    await expect(box(page)).to_have_value("stay silent, plese")
    await box(page).fill("stay silent, please")
    await box(page).press("Enter")
    said = message(page, "stay silent, please")
    await expect(said.locator(".edited")).to_be_visible()
    await tool(page, said, "Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(messages(page)).to_have_count(0)


async def test_a_deleted_message_still_leads_to_its_thread(open_page: Open, gateway: RealGateway) -> None:
    """At once and after a reload; nothing else can be done with it."""
    page = await open_page(gateway.url)
    said = await say(page, "stay silent, by the secret name")
    await tool(page, said, "Open thread")
    await say(page, "stay silent below it", thread=True)
    await page.keyboard.press("Escape")
    await tool(page, said, "Delete")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("The thread under it stays.")
    await dialog.get_by_role("button", name="Delete").click()
    for _ in range(2):
        left = message(page, "This message was deleted.")
        await expect(left.locator(".thread-link strong")).to_have_text("1 reply")
        await expect(page.locator("main, .sidebar, .panel:visible").get_by_text("secret name")).to_have_count(0)
        await left.hover()
        await expect(left.get_by_role("toolbar").get_by_role("button")).to_have_count(1)
        await page.reload()
    await page.locator(".thread-link").click()
    await expect(message(page, "below it", thread=True)).to_be_visible()
    await expect(message(page, "This message was deleted.", thread=True)).to_be_visible()


async def test_the_words_of_a_deleted_message_are_in_no_quote(open_page: Open, gateway: RealGateway) -> None:
    """Neither at once nor after a reload, though the answer was written while they were there."""
    page = await open_page(gateway.url)
    said = await say(page, "reply to me, by the secret name")
    quote = page.locator("main .message .quote")
    await expect(quote).to_contain_text("secret name")
    await whole(page)
    await tool(page, said, "Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    for _ in range(2):
        await expect(quote.locator(".words")).to_have_text("deleted message")
        await expect(page.get_by_text("secret name")).to_have_count(0)
        await page.reload()


async def test_everything_is_there_after_a_reload(open_page: Open, gateway: RealGateway) -> None:
    """History, reactions, quoted lines, the open room and the half-written message."""
    page = await open_page(gateway.url)
    await page.get_by_role("link", name="Ada").click()
    await say(page, "reply to me and react with 🎉")
    await expect(page.locator(".reaction")).not_to_have_count(0)
    await expect(message(page, "had finished this sentence.")).to_be_visible()
    await whole(page)
    before = await messages(page).all_inner_texts()
    await box(page).fill("a thought I have not fin")
    await page.reload()
    await expect(messages(page)).to_have_count(len(before))
    assert [text.split() for text in await messages(page).all_inner_texts()] == [text.split() for text in before]
    await expect(box(page)).to_have_value("a thought I have not fin")
    await expect(page.locator("h1")).to_have_text("Ada")


async def test_what_was_written_while_the_server_was_dead_arrives_once(open_page: Open, gateway: RealGateway) -> None:
    """Reconnect after kill -9: the banner is quiet, the message waits with a clock, and is sent once."""
    page = await open_page(gateway.url)
    await say(page, "stay silent")
    await gateway.kill()
    await box(page).fill("reply to me")
    await box(page).press("Enter")
    await expect(page.get_by_role("img", name="Sending")).to_be_visible()
    await expect(page.get_by_text("Reconnecting…")).to_be_visible()
    await gateway.start()
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.get_by_text("Reconnecting…")).to_be_hidden()
    await expect(message(page, "This is a native reply")).to_be_visible()
    await whole(page)
    await page.reload()
    await expect(message(page, "This is a native reply")).to_be_visible()
    await expect(messages(page)).to_have_count(3)


async def test_nothing_grows_for_ever_after_the_server_was_killed(open_page: Open, gateway: RealGateway) -> None:
    """Killed in the middle of a stream: the page comes back without a caret that blinks for nobody, and agrees with
    the server about every message."""
    page = await open_page(gateway.url)
    await say(page, "show me streaming")
    await expect(page.locator(".message.growing")).to_have_count(1)
    await gateway.kill()
    await gateway.start()
    await page.evaluate("dispatchEvent(new Event('online'))")
    await whole(page)
    await say(page, "reply to me")
    await expect(message(page, "what it answers.")).to_be_visible()
    await whole(page)
    before = [text.split() for text in await messages(page).all_inner_texts()]
    await page.reload()
    await expect(message(page, "what it answers.")).to_be_visible()
    assert [text.split() for text in await messages(page).all_inner_texts()] == before


async def test_who_takes_another_name_goes_to_chats_of_their_own(open_page: Open, gateway: RealGateway) -> None:
    """And is not told of a room that is missing: the address of the direct chat was the page's own."""
    page = await open_page(f"{gateway.url}/#tour~you")
    await expect(page.locator("h1")).to_have_text("Tour")
    await page.get_by_role("button", name="Change your name").click()
    await page.get_by_role("textbox", name="Your name").fill("Mira")
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator(".who")).to_contain_text("Mira")
    await expect(page).to_have_url(re.compile("#(?!tour~you)."))
    await expect(page.locator(".note")).to_have_count(0)


async def test_two_people_at_once(open_page: Open, gateway: RealGateway) -> None:
    """Two browsers, two people: each sees the other's words, typing, and the agent's answer, at the same time."""
    mine, hers = await asyncio.gather(open_page(gateway.url), open_page(f"{gateway.url}/?as=Mira"))
    await expect(hers.locator(".who")).to_contain_text("Mira")
    await expect(mine.locator("h1")).to_have_text(await hers.locator("h1").inner_text())
    await box(hers).press_sequentially("hel")
    await expect(mine.locator(".typing")).to_contain_text("Mira is typing")
    await say(hers, "hello from Mira")
    await expect(message(mine, "hello from Mira").locator(".name")).to_have_text("Mira")
    for page in (mine, hers):
        await expect(message(page, "I am tour")).to_be_visible()
        await whole(page)
    assert (
        await message(mine, "I am tour").locator(".body").inner_text()
        == await message(hers, "I am tour").locator(".body").inner_text()
    )
