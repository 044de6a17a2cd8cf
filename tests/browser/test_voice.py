"""Voice on the page: Chromium's fake microphone plays a file of ours, and what the agent says is heard as its words."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.browser.conftest import CHROMIUM, DESKTOP, PHONE, RealGateway
from tests.browser.hands import messages, say
from tests.peers import missing
from tests.speech import SENTENCE, recognised, recogniser, speaker, spoken, words

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANSWER = "please remind me to buy milk tomorrow"
CONFIGURATION = """
[gateway]
store = "sqlite:{store}"
[agents.helper]
kind = "python"
call = "helper:answer"
path = "FOLDER"
[channels.web]
port = {port}
agent = "helper"
tts = "inbound"
[media.speech_to_text]
command = HEARS
[media.text_to_speech]
command = SPEAKS
"""


@pytest_asyncio.fixture(loop_scope="session")
async def gateway(tmp_path: Path) -> AsyncIterator[RealGateway]:
    (tmp_path / "helper.py").write_text(f"def answer(turn):\n    return {ANSWER!r}\n")
    text = CONFIGURATION.replace("FOLDER", str(tmp_path))
    text = text.replace("HEARS", json.dumps(recogniser()).replace("{file}", "{{file}}"))
    text = text.replace("SPEAKS", json.dumps(speaker()).replace("{text}", "{{text}}").replace("{file}", "{{file}}"))
    real = RealGateway(tmp_path, text)
    await real.start()
    yield real
    await real.kill()


@pytest_asyncio.fixture(loop_scope="session")
async def microphone(tmp_path: Path) -> AsyncIterator[Browser]:
    """A browser of its own, whose microphone hears the sentence once."""
    if CHROMIUM is None:
        missing("no Chromium here (Debian: apt-get install chromium)")
    sound = tmp_path / "sentence.wav"
    sound.write_bytes(spoken(form="wav"))
    given = [
        "--no-sandbox",
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={sound}%noloop",
        "--autoplay-policy=no-user-gesture-required",
    ]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=given)
        yield browser
        await browser.close()


async def opened(browser: Browser, url: str, viewport: dict) -> Page:
    context = await browser.new_context(viewport=viewport, permissions=["microphone"], reduced_motion="reduce")
    page = await context.new_page()
    await page.goto(url)
    return page


async def test_a_sentence_is_spoken_heard_and_answered_by_voice(
    microphone: Browser, gateway: RealGateway, tmp_path: Path
) -> None:
    """ME-4, ME-1, ME-2: recorded with the keyboard alone, the level is seen, the transcript stands below; the answer is
    played and has the words that the agent wrote."""
    page = await opened(microphone, gateway.url, DESKTOP)
    record = page.get_by_role("button", name="Record a voice message")
    await record.focus()
    await record.press("Enter")
    recording = page.get_by_role("group", name="Recording", exact=True)
    await expect(recording.get_by_role("status")).to_have_text("Recording")
    level = recording.get_by_role("meter", name="Level")
    await expect(level).not_to_have_js_property("value", 0)
    await expect(recording.get_by_role("timer")).to_have_text("0:04")
    await expect(recording.get_by_role("button", name="Send the recording")).to_be_focused()
    await page.keyboard.press("Enter")
    own = messages(page).and_(page.locator(".mine")).last
    await expect(own.get_by_role("note", name="Transcript")).to_have_text(SENTENCE)
    await expect(own.get_by_role("group", name="Voice message")).to_be_visible()
    await expect(own.get_by_role("button", name="Play")).to_be_visible()
    answer = messages(page).and_(page.locator(":not(.mine)"))
    await expect(answer.filter(has_text=ANSWER).first).to_be_visible()
    note = answer.locator(".player").last
    await expect(note.locator(".played")).to_have_text(re.compile("^0:0[23]$"))
    source = await note.locator("audio").get_attribute("src")
    content = await (await page.request.get(f"{gateway.url}{source}")).body()
    assert words(recognised(content, tmp_path)) == words(ANSWER)
    await expect(page.locator("#rooms, nav").get_by_text("🎤 Voice message").first).to_be_visible()
    play = note.get_by_role("button", name="Play")
    await play.focus()
    await play.press("Enter")
    await expect(note.get_by_role("button", name="Pause")).to_be_visible()
    await expect(note.locator("audio")).not_to_have_js_property("currentTime", 0)
    assert await note.locator("rect").count() == 48


async def test_what_is_cancelled_is_not_sent(microphone: Browser, gateway: RealGateway) -> None:
    """ME-4: by Escape, on a phone; the page is as it was."""
    page = await opened(microphone, gateway.url, PHONE)
    await page.get_by_role("button", name="Record a voice message").click()
    recording = page.get_by_role("group", name="Recording", exact=True)
    await expect(recording.get_by_role("status")).to_have_text("Recording")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.keyboard.press("Escape")
    await expect(recording).to_be_hidden()
    await say(page, "typed")
    await expect(messages(page).and_(page.locator(".mine"))).to_have_count(1)
    await expect(page.locator(".player")).to_have_count(0)


async def test_a_page_that_may_not_listen_says_so(browser: Browser, gateway: RealGateway) -> None:
    """ME-4."""
    context = await browser.new_context(viewport=DESKTOP)
    page = await context.new_page()
    await page.goto(gateway.url)
    await page.get_by_role("button", name="Record a voice message").click()
    await expect(page.get_by_role("note")).to_contain_text("microphone")
    await expect(page.get_by_role("group", name="Recording", exact=True)).to_be_hidden()
    await context.close()
