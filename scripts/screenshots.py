"""Makes the pictures of README and docs: `python scripts/screenshots.py [FOLDER]` (docs/images by default).

They show `rejoinder run --demo` as it is, played to its end: never a page that does not exist, never somebody's chat.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.ports import free_port

ROOT = Path(__file__).parent.parent
CENTRE = "e => e.scrollIntoView({block: 'center'})"
END = "That was the demo"
WIDE, PHONE = (1180, 760), (360, 700)


async def show_review(page: Page, address: str) -> None:
    """Somebody disagrees, somebody gives in and hands over; the thread is open beside them."""
    await page.goto(address)
    await page.locator(".thread-link").click()
    await page.locator("main .message", has_text="Good point, I take the third back").first.evaluate(CENTRE)
    await page.mouse.move(0, 0)


async def show_room(page: Page, address: str) -> None:
    await page.goto(address)
    await page.locator("main .message", has_text="On 3 I disagree").first.evaluate(CENTRE)


async def show_console(page: Page, address: str) -> None:
    await page.goto(f"{address}/console")
    await page.locator(".summary").nth(1).click()


PICTURES = (
    ("chat", show_review, WIDE, "light"),
    ("chat-dark", show_review, WIDE, "dark"),
    ("chat-phone", show_room, PHONE, "light"),
    ("console", show_console, WIDE, "light"),
    ("console-dark", show_console, WIDE, "dark"),
)


async def take(browser: Browser, address: str, folder: Path) -> None:
    for name, show, (width, height), scheme in PICTURES:
        context = await browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB", reduced_motion="reduce"
        )
        page = await context.new_page()
        await show(page, address)
        await page.wait_for_timeout(600)  # smooth things come to rest
        await page.screenshot(path=folder / f"{name}.png")
        await context.close()
        print(f"{folder / name}.png")


@asynccontextmanager
async def demo() -> AsyncIterator[str]:
    """The address of a demo in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        (Path(folder) / "rejoinder.toml").write_text(f"[channels.web]\nport = {port}\n")
        program = Path(sys.executable).with_name("rejoinder")
        process = await asyncio.create_subprocess_exec(
            program, "run", "--demo", cwd=folder, stdout=asyncio.subprocess.PIPE
        )
        try:
            assert process.stdout is not None
            while not (line := await process.stdout.readline()).startswith(b"The console is at"):
                assert line, "the demo has ended"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            await process.wait()


async def main(folder: Path) -> None:
    async with demo() as address, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        watching = await browser.new_page()
        await watching.goto(address)  # the play begins when somebody looks
        await watching.locator("main .message", has_text=END).wait_for(timeout=2 * PATIENCE * 1000)
        await take(browser, address, folder)
        await browser.close()


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen))
