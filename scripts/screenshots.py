"""Makes the pictures of the pages: `python scripts/screenshots.py [FOLDER]` (docs/images by default).

They are of a real run of the demo (`rejoinder run --demo`), played to its end, so that they show what `make demo` shows
and never somebody's real chat.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from rejoinder.testing.ports import free_port

ROOT = Path(__file__).parent.parent
PATIENCE = 180_000
"""Milliseconds that the demo may take."""
WIDE, PHONE = (1180, 760), (390, 760)
ENDED = "main .message.gateway:not(.growing)"
CENTRE = "e => e.scrollIntoView({block: 'center'})"


@asynccontextmanager
async def playing() -> AsyncGenerator[str]:
    """The demo in a process of its own; its address."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        configuration = Path(folder) / "rejoinder.toml"
        configuration.write_text(f"[channels.web]\nport = {port}\n")
        command = [str(Path(sys.executable).with_name("rejoinder")), "run", "--demo", "-c", str(configuration)]
        demo = await asyncio.create_subprocess_exec(
            *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        assert demo.stdout is not None
        said: list[str] = []
        while "The chat is at" not in (line := (await demo.stdout.readline()).decode()):
            said.append(line)
            assert line, f"the demo ended: {''.join(said)}"
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            demo.terminate()
            await demo.communicate()


async def show_chat(page: Page, url: str) -> None:
    await page.goto(f"{url}/#lobby")
    await page.locator(ENDED).last.wait_for(timeout=PATIENCE)
    if await page.locator(".thread-link").count():
        await page.locator(".thread-link").first.click()
        await page.locator(".panel .message").last.wait_for()
    await page.locator("main .message:has(.reactions button)").first.evaluate(CENTRE)
    await page.mouse.move(0, 0)


async def show_room(page: Page, url: str) -> None:
    await page.goto(f"{url}/#lobby")
    await page.locator("main .message:has(.reactions button)").first.evaluate(CENTRE)


async def show_why(page: Page, url: str) -> None:
    await page.goto(f"{url}/#lobby")
    asked = page.locator("main .message:not(.gateway)").first
    await asked.hover()
    await asked.get_by_role("button", name="Why?").click()
    await page.locator(".sentence").first.wait_for()
    await page.mouse.move(0, 0)


async def show_console(page: Page, url: str) -> None:
    await page.goto(f"{url}/console")
    await page.locator(".summary", has_text="answered").nth(1).click()
    await page.locator(".details").wait_for()
    await page.evaluate("() => scrollTo(0, 0)")


PICTURES = (
    ("chat", show_chat, WIDE, "light"),
    ("chat-dark", show_chat, WIDE, "dark"),
    ("chat-phone", show_room, PHONE, "light"),
    ("why", show_why, WIDE, "light"),
    ("console", show_console, WIDE, "light"),
    ("console-dark", show_console, WIDE, "dark"),
)


async def take(browser: Browser, url: str, folder: Path) -> None:
    for name, show, (width, height), scheme in PICTURES:
        context = await browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB", reduced_motion="reduce"
        )
        page = await context.new_page()
        await show(page, url)
        await page.wait_for_timeout(600)  # smooth things come to rest
        await page.screenshot(path=folder / f"{name}.png")
        await context.close()
        print(f"{folder / name}.png")


async def main(folder: Path) -> None:
    async with playing() as url, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        await take(browser, url, folder)
        await browser.close()


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen))
