"""Debian's Chromium, driven by Playwright; one browser for the whole run, a fresh profile for each test.

All tests here share one event loop (`session`): a browser cannot move to another. The stage lives in the same loop, so
that a test plays on it by awaiting its methods; the real gateway is a process of its own, to be killed.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.ports import free_port
from tests.browser.scenes import empty, review
from tests.browser.stage import Stage, server
from tests.peers import missing

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is the same without its own windows, and takes half the time."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
expect.set_options(timeout=PATIENCE * 1000)

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        missing("no Chromium here (Debian: apt-get install chromium)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


Open = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser) -> AsyncIterator[Open]:
    """Opens an address in a profile of its own. A script error, or something the policy forbade, fails the test."""
    problems: list[str] = []
    contexts: list[Any] = []

    async def open_page(url: str, **context: Any) -> Page:
        made = await browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **context})
        contexts.append(made)
        page = await made.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if "Content Security Policy" in said.text else None)
        await page.goto(url)
        return page

    yield open_page
    for context in contexts:
        await context.close()
    assert problems == []


class Playing:
    """A stage and its address."""

    def __init__(self, stage: Stage, url: str) -> None:
        self.stage = stage
        self.url = url


async def _play(stage: Stage) -> AsyncIterator[Playing]:
    port = free_port()
    playing = server(stage, port)
    task = asyncio.create_task(playing.serve())
    await until(lambda: playing.started, "the server")
    yield Playing(stage, f"http://127.0.0.1:{port}")
    await stage.drop()
    for watching in list(stage.console):
        await watching.close()
    playing.should_exit = True
    await task


@pytest_asyncio.fixture(loop_scope="session")
async def staged() -> AsyncIterator[Playing]:
    """The room with three agents that review a change."""
    async for playing in _play(await review()):
        yield playing


@pytest_asyncio.fixture(loop_scope="session")
async def quiet() -> AsyncIterator[Playing]:
    """The same rooms with nothing in them, and nobody who answers."""
    stage = await empty()
    stage.answer = None
    async for playing in _play(stage):
        yield playing


class RealGateway:
    """`rejoinder run` in a process of its own, with its store in a folder."""

    def __init__(self, folder: Path, configuration: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._configuration = folder / "rejoinder.toml"
        self._configuration.write_text(configuration.format(port=self.port, store=folder / "rejoinder.db"))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(str(Path(sys.executable).with_name("rejoinder")), "run", "-c", str(self._configuration)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self._process.stdout is not None
        said: list[str] = []
        while "The chat is at" not in (line := (await self._process.stdout.readline()).decode()):
            said.append(line)
            assert line, f"the gateway ended: {''.join(said)}"

    async def kill(self) -> None:
        """kill -9: it gets no chance to tidy up."""
        if self._process is not None and self._process.returncode is None:
            os.kill(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        self._process = None


TOUR = """
[gateway]
store = "sqlite:{store}"
[agents.tour]
kind = "tour"
[agents.ada]
kind = "tour"
[channels.web]
port = {port}
agents = ["tour", "ada"]
"""


@pytest_asyncio.fixture(loop_scope="session")
async def gateway(tmp_path: Path) -> AsyncIterator[RealGateway]:
    real = RealGateway(tmp_path, TOUR)
    await real.start()
    yield real
    await real.kill()


Scripted = Callable[[list[Any]], Awaitable[RealGateway]]


@pytest_asyncio.fixture(loop_scope="session")
async def scripted(tmp_path: Path) -> AsyncIterator[Scripted]:
    """Starts a gateway whose only agent says what is written down for it."""
    started: list[RealGateway] = []

    async def scripted(replies: list[Any]) -> RealGateway:
        script = tmp_path / "replies.json"
        script.write_text(json.dumps(replies))
        agent = f'[agents.tour]\nkind = "scripted"\nscript = "{script}"\n'
        head, _, tail = TOUR.partition("[agents.tour]")
        page = tail[tail.index("[channels.web]") :].replace(', "ada"', "")
        started.append(RealGateway(tmp_path, head + agent + page))
        await started[-1].start()
        return started[-1]

    yield scripted
    for real in started:
        await real.kill()
