"""`rejoinder backup` beside a gateway with a chat page, and the way back to it as docs/operate.md tells it."""

import asyncio
import json
import re
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from tests.web.running import Page, running, settings

PAGE = (Path(__file__).parents[2] / "docs" / "operate.md").read_text("utf-8")
ROOM = "helper~you"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def backup(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["backup", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def put_back() -> None:
    """As the page of the documentation says."""
    [commands] = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    subprocess.run(["sh", "-e", "-c", commands], check=True)


async def said_in(page: Page) -> list[str]:
    await page.send(type="history", client="history", room=ROOM)
    return [message["text"] for message in (await page.told("page"))["messages"]]


async def say(page: Page, text: str) -> None:
    await page.send(type="say", client=text, room=ROOM, text=text)
    await page.hears(f"Heard {text}.")


async def test_a_backup_that_is_put_back_has_the_rooms(folder):
    """DU-14: one file, of one moment. What was answered stays answered, what came later is gone, browsers that
    have seen more start over, and what is said next is heard."""
    made = settings(tuple(f"Heard {text}." for text in ("before", "after")), store="sqlite:rejoinder.db")
    async with running(made) as site, site.page() as page:
        journal = page.frames[0]["journal"]
        await say(page, "before")
        told = json.loads(await asyncio.to_thread(backup, "monday.db", "--json"))
        await say(page, "after")
        seen = max(frame.get("seq", 0) for frame in page.frames)
    assert told == {"file": "monday.db", "bytes": (folder / "monday.db").stat().st_size}
    assert not [*folder.glob("*web*")]
    await asyncio.to_thread(put_back)

    again = settings(("Heard later.",), store="sqlite:rejoinder.db")
    async with running(again) as site, site.http.ws_connect(site.url + "/socket") as socket:
        page = Page(socket)
        await page.send(type="hello", protocol=1, journal=journal, seq=seen)
        assert (await page.told("welcome"))["resumed"] is False
        assert await said_in(page) == ["before", "Heard before."]
        await say(page, "later")
        assert await said_in(page) == ["before", "Heard before.", "later", "Heard later."]
