"""Makes the README's pictures of the pages: `python scripts/screenshots.py [FOLDER]` (docs/images by default).

They show the scene of the browser tests, so that they are always current and never somebody's real chat.
"""

import asyncio
import shutil
import sys
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.scenes import review  # noqa: E402 - the tests are no installed package
from tests.browser.stage import server  # noqa: E402

PORT = 8797
CENTRE = "e => e.scrollIntoView({block: 'center'})"
WIDE, PHONE = (1180, 760), (360, 700)


async def show_review(page: Page) -> None:
    await page.goto(f"http://127.0.0.1:{PORT}/#lobby")
    await page.locator(".thread-link").click()
    await page.locator("main .message", has_text="I disagree on 2").first.evaluate(CENTRE)
    await page.mouse.move(0, 0)


async def show_room(page: Page) -> None:
    await page.goto(f"http://127.0.0.1:{PORT}/#lobby")
    await page.locator("main .message", has_text="Fair. Then only").evaluate(CENTRE)


async def show_console(page: Page) -> None:
    await page.goto(f"http://127.0.0.1:{PORT}/console")
    await page.locator(".summary").nth(1).click()
    await page.get_by_text("Let in").wait_for()


PICTURES = (
    ("chat", show_review, WIDE, "light"),
    ("chat-dark", show_review, WIDE, "dark"),
    ("chat-phone", show_room, PHONE, "light"),
    ("console", show_console, WIDE, "light"),
    ("console-dark", show_console, WIDE, "dark"),
)


async def take(browser: Browser, folder: Path) -> None:
    for name, show, (width, height), scheme in PICTURES:
        context = await browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB", reduced_motion="reduce"
        )
        page = await context.new_page()
        await show(page)
        await page.wait_for_timeout(600)  # smooth things come to rest
        await page.screenshot(path=folder / f"{name}.png")
        await context.close()
        print(f"{folder / name}.png")


async def main(folder: Path) -> None:
    playing = server(await review(), PORT)
    task = asyncio.create_task(playing.serve())
    while not playing.started:  # noqa: ASYNC110 - uvicorn tells it no other way
        await asyncio.sleep(0.01)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        await take(browser, folder)
        await browser.close()
    playing.should_exit = True
    await task


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen))
