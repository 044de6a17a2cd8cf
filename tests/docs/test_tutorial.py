"""docs/tutorial.md runs as it stands: its files, its commands, what it says people see, on the page and on Telegram.

Changed are only the port of the page and the address of Telegram, which is played by `FakePlatform`.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from rejoinder.testing import FakePlatform
from rejoinder.testing.patience import PATIENCE
from tests.web.running import Page, Site

TEXT = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text("utf-8")
PROGRAM = Path(sys.executable).with_name("rejoinder")
TOKEN = "700000001:a-token-for-tests-only_0123456789ab"
ROOM = "list~you"

Exchange = tuple[str, str]
"""What somebody writes, and what comes of it: an emoji on it, or an answer."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def exchanges(language: str) -> list[Exchange]:
    (block,) = blocks(language)
    return [
        (said, came.removeprefix("list: ").rstrip("\n"))
        for said, came in re.findall(r"you: (.*)\n((?:(?!you:).*\n)*)", block)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files, written as the page says."""
    for language in ("python", "toml"):
        for block in blocks(language):
            name, content = re.fullmatch(r"# ([\w.]+)(?:, continued)?\n(.*)", block, re.S).groups()
            with (tmp_path / name).open("a") as file:
                file.write(content)
    return tmp_path


@asynccontextmanager
async def running(folder: Path, platform: FakePlatform) -> AsyncIterator[list[str]]:
    """`rejoinder run` in this folder; what it said until it served, and everything after that."""
    toml = folder / "rejoinder.toml"
    at_home = 'token = "${TELEGRAM_TOKEN}"\n'
    toml.write_text(toml.read_text().replace(at_home, f'{at_home}api_root = "{platform.url}"\n'))
    process = await asyncio.create_subprocess_exec(
        *(PROGRAM, "run", "--port", "0"),
        cwd=folder,
        env={**os.environ, "TELEGRAM_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said: list[str] = []
    async with asyncio.timeout(PATIENCE):
        while not any(line.startswith("The console is at") for line in said):
            line = (await process.stdout.readline()).decode()
            assert line, said
            said.append(line.rstrip("\n"))
    try:
        yield said
    finally:
        process.terminate()
        said += (await process.stdout.read()).decode().splitlines()
        await process.wait()


@asynccontextmanager
async def opened(said: list[str]) -> AsyncIterator[Page]:
    async with aiohttp.ClientSession() as http, Site(said, http).page() as page:
        yield page


async def says(page: Page, text: str) -> None:
    await page.send(type="say", client=os.urandom(8).hex(), room=ROOM, text=text)


def test_the_commands(folder: Path):
    """What is printed behind `$` is what the command prints."""
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", TEXT, re.M)
    assert len(commands) == 2
    for command, output in commands:
        here = command.replace("rejoinder", str(PROGRAM))
        env = {**os.environ, "TELEGRAM_TOKEN": TOKEN}
        done = subprocess.run(here, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.rstrip() == output.rstrip()


async def test_the_page(folder: Path):
    async with FakePlatform("telegram") as platform, running(folder, platform) as said, opened(said) as page:
        for text, came in exchanges("chat"):
            await says(page, text)
            if came == "✅":
                assert (await page.told("reacted"))["reactions"][0]["emoji"] == came
            else:
                await page.hears(came)
        await says(page, "/why")
        why = await _from_the_gateway(page)
    assert "list" in why


async def _from_the_gateway(page: Page) -> str:
    """What the gateway itself says next; its author has no name."""
    while (message := (await page.told("message"))["message"])["author"]:
        pass
    return message["text"]


async def test_the_mistake(folder: Path):
    """A person is told that it failed; the log has the line and the reason."""
    agent = folder / "groceries.py"
    agent.write_text(agent.read_text().replace("items.append(text)", "items.add(text)"))
    async with FakePlatform("telegram") as platform, running(folder, platform) as said:
        async with opened(said) as page:
            await says(page, "milk")
            while (told := (await page.told("message"))["message"])["author"] == "you":
                pass
        assert f"*{told['text']}*" in TEXT
    log = "\n".join(said)
    assert "'list' object has no attribute 'add'" in log
    assert "groceries.py:7" in log


async def test_telegram(folder: Path):
    """A stranger gets a code, is let in by the command of the page, and talks to the same agent."""
    assert "rejoinder pair approve CODE" in TEXT
    async with FakePlatform("telegram") as platform, running(folder, platform):
        await platform.says("ann", "ann", "hello")
        code = re.search(r"\b[A-Z0-9]{6,}\b", (await platform.hears("ann")).text)
        assert code is not None
        command = [PROGRAM, "pair", "approve", code[0]]
        env = {**os.environ, "TELEGRAM_TOKEN": TOKEN}
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        for text, came in exchanges("telegram"):
            asked = await platform.says("ann", "ann", text)
            if came == "👍":
                await _is_on(platform, asked, came)
            else:
                assert (await platform.hears("ann")).text == came.replace("- ", "• ")


async def _is_on(platform: FakePlatform, message: str, emoji: str) -> None:
    def seen() -> bool:
        return any(each.id == message and emoji in each.reactions for each in platform.truth.messages("ann", by=None))

    await platform.truth.until(seen)
