"""The longest task of the chat page in Chromium, over messages made to freeze it: no task over 100 ms of CPU time.

Each family is a unit repeated up to the longest message there may be. It is met in every way a page meets a message:
it arrives in another room (the side bar's line), is opened and unfolded there, grows in sight, and the page is loaded
with several of them. `python -m bench.page [UNITS]` looks for slower ones: what it finds belongs into `FAMILIES`.
"""

import asyncio
import json
import random
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page, async_playwright

from bench.timing import Bars, duration, print_table
from rejoinder.channels.web.protocol import LONGEST_TEXT
from rejoinder.testing.ports import free_port
from tests.browser.scenes import empty
from tests.browser.stage import Stage, server

LONGEST_TASK = 0.1
"""Bar: seconds of CPU time that one task of the page's main thread may take, layout and paint included."""
TRIES = 3
"""A figure over the bar is measured again: on a busy machine even CPU time varies."""
LOADED = 4
"""Messages of a family that the page finds when it is loaded."""
GROWS_BY = 10_000
SEED = 5

FAMILIES = {
    "brackets behind an address": "http://a" + ")" * 40,
    "open brackets": "[",
    "links without an end": "[a](b ",
    "a table of many columns": "|" * 2000 + "\n" + "|-" * 2000 + "|\n" + "|\n" * 90_000,
    "tables": "|a|b|\n|-|-|\n|1|2|\n\n",
    "items and blank lines": "- a\n\n",
    "items": "- a\n",
    "the beginning of an address": "h",
    "emphasis that never closes": "*a **b ",
    "emphasis in emphasis": "*a" * 50 + "*" * 50,
    "short emphasis": "*a* ",
    "back-ticks": "`a``",
    "code in a line": "`a` ",
    "quotes in quotes": "> > > > a\n",
    "fences": "```py\nx = 1\n```\n",
    "code": "```py\n" + "f('a') # b\n" * 18_000,
    "blank lines": "a\n\n\n\n",
    "line breaks": "a\n",
    "spaces": " " * 500 + "a",
    "one word": "a",
    "accents on one letter": "\u0301",
    "marks below one letter": "\u0316",
    "vowel signs": "\u1038",
    "skin tones": "\U0001f3fc",
    "two scripts": "\u03b1\u0431",
    "signs of another script": "\u1a20\U0001172b",
    "accents of many scripts": "a\u0316\U00011046\u1038\U0001193e\u0301\u0a41\u0b4d\u1bf2",
    "two directions": "a\u05d0",
    "emoji": "\U0001f600a",
    "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "mentions": "@ada ",
    "addresses": "http://a.b ",
}
ALPHABET = (
    *"*_~`[]()!<>&@#|-+.\\ \n1ah:\"'",
    *("**", "~~", "```", "](", "![", "http://", "> ", "- ", "|-", "\n\n", "    ", "@ada", "&lt;", "\u05d0", "\u0301"),
    *("\u0316", "\u1038", "\U0001f3fc", "\u03b1", "\u0431", "\u0915", "\u0a15", "\U00011046"),
)


def _text(unit: str) -> str:
    return (unit * (LONGEST_TEXT // len(unit) + 1))[:LONGEST_TEXT]


async def _meet(page: Page, stage: Stage, text: str) -> None:
    """Everything that can happen to a page with this message."""
    await stage.post("design", "bee", text)
    await page.locator("[data-room=design] .preview").wait_for()
    pieces = [text[at : at + GROWS_BY] for at in range(0, len(text), GROWS_BY)]
    await stage.stream("lobby", "ada", pieces, pause=0.02)
    await page.locator("main .message.growing").wait_for(state="detached")
    await page.locator("[data-room=design]").click()
    await page.locator("main .message").last.wait_for()
    for summary in await page.locator("main .rest summary").all():
        await summary.evaluate("e => e.click()")
        await page.locator("main .scroller").evaluate("e => e.scrollTop -= 5000")
    for _ in range(LOADED):
        await stage.post("design", "bee", text)
    await page.reload()
    await page.locator("main .message").nth(LOADED).wait_for()
    await page.wait_for_function(DRAWN)


DRAWN = "() => [...document.querySelectorAll('main .body')].every((body) => body.firstChild || body.hidden)"


@asynccontextmanager
async def _staged() -> AsyncGenerator[tuple[Stage, str]]:
    stage, port = await empty(), free_port()
    stage.answer = None
    playing = server(stage, port)
    async with asyncio.TaskGroup() as group:
        group.create_task(playing.serve())
        while not playing.started:  # noqa: ASYNC110 - uvicorn tells it no other way
            await asyncio.sleep(0.01)
        yield stage, f"http://127.0.0.1:{port}"
        await stage.drop()
        playing.should_exit = True


async def _longest(browser: Browser, text: str) -> float:
    """CPU seconds of the longest task of the page's main thread while it meets the message."""
    async with _staged() as (stage, url):
        page = await browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        await page.goto(f"{url}/#lobby")
        await page.locator("h1").wait_for()
        await browser.start_tracing(page=page, categories=["toplevel", "__metadata"])
        await _meet(page, stage, text)
        await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")
        trace = json.loads(await browser.stop_tracing())
        await page.close()
    return _longest_task(trace["traceEvents"])


def _longest_task(events: list[dict[str, object]]) -> float:
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"] == {"name": "CrRendererMain"}
    }
    tasks = (event for event in events if "tdur" in event and (event["pid"], event["tid"]) in main)
    return max((float(str(task["tdur"])) for task in tasks), default=0.0) / 1e6


async def _measure(units: dict[str, str], tries: int) -> dict[str, float]:
    found: dict[str, float] = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, unit in units.items():
            for _ in range(tries):
                found[name] = min(found.get(name, 1e9), await _longest(browser, _text(unit)))
                if found[name] <= LONGEST_TASK:
                    break
        await browser.close()
    return found


def run() -> None:
    if shutil.which("chromium") is None:
        print("\nThe page: there is no Chromium here; left out.")
        return
    bars = Bars()
    rows = [
        [name, duration(longest), duration(LONGEST_TASK), bars.verdict(name, (longest, LONGEST_TASK))]
        for name, longest in asyncio.run(_measure(FAMILIES, TRIES)).items()
    ]
    title = f"The longest task of the chat page with messages of {LONGEST_TEXT:,} characters (CPU time)"
    print_table(title, ["", "task", "bar", ""], rows)
    bars.settle()


def search(count: int) -> None:
    """Prints the slowest of so many random units."""
    chance = random.Random(SEED)
    drawn = ("".join(chance.choices(ALPHABET, k=chance.randint(1, 5))) for _ in range(count))
    found = sorted(asyncio.run(_measure({repr(unit): unit for unit in drawn}, 1)).items(), key=lambda item: -item[1])
    print_table(f"The slowest of {count} units", ["", "task"], [[name, duration(took)] for name, took in found[:20]])


if __name__ == "__main__":
    search(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
