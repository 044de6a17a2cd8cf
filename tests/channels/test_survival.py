"""What passes by itself ends no account (CH-13): it goes on listening, whatever came."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from rejoinder.errors import ChannelStopped, StoreUnavailable
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform.discord.server import DiscordServer
from rejoinder.testing.platform.slack.server import SlackServer
from rejoinder.testing.platform.telegram.server import TelegramServer
from tests.channels.discord import served as discord
from tests.channels.slack import served as slack
from tests.channels.telegram import served as telegram

ACCOUNTS: dict[str, tuple[str, Callable[[FakePlatform], Any]]] = {
    "telegram, polling": ("telegram", telegram.bot),
    "telegram, webhook": ("telegram", lambda platform: telegram.bot(platform, hook=telegram.hook())),
    "discord": ("discord", discord.bot),
    "slack, socket": ("slack", slack.app),
    "slack, events": ("slack", slack.called_app),
}
CHATS = {"telegram": "ann", "discord": "#team", "slack": "#team"}


@asynccontextmanager
async def serving(account: str, inlet: RecordingInlet) -> AsyncIterator[tuple[FakePlatform, "asyncio.Task[None]"]]:
    personality, opened = ACCOUNTS[account]
    async with asyncio.timeout(PATIENCE), FakePlatform(personality) as platform:
        if personality == "discord":
            platform.people.world.room("#team")
        channel = opened(platform)
        task = asyncio.create_task(channel.listen(inlet))
        try:
            yield platform, task
        finally:
            task.cancel()
            await asyncio.wait({task})
            await channel.close()


@asynccontextmanager
async def talking(account: str) -> AsyncIterator[FakePlatform]:
    """It has heard something; afterwards it has to hear what is said then."""
    inlet, chat = RecordingInlet(), CHATS[ACCOUNTS[account][0]]
    async with serving(account, inlet) as (platform, task):
        await platform.says(chat, "ann", "one")
        await inlet.message("one")
        yield platform
        await platform.says(chat, "ann", "two")
        await until(lambda: task.done() or "two" in inlet.texts, "the second message")
        assert not task.done(), task.exception()


class AwayAtFirst(RecordingInlet):
    """A store that does not answer yet."""

    def __init__(self) -> None:
        super().__init__()
        self.faults = 2

    def _ask(self) -> None:
        if self.faults:
            self.faults -= 1
            raise StoreUnavailable("away", "postgresql://here")

    async def cursor(self):
        self._ask()
        return await super().cursor()

    async def places(self):
        self._ask()
        return await super().places()


@pytest.mark.parametrize("account", ACCOUNTS)
async def test_a_store_that_does_not_answer_yet_is_waited_for(account):
    """DU-15: a database that restarts just as the account begins to listen."""
    inlet = AwayAtFirst()
    async with serving(account, inlet) as (_, task):
        await until(lambda: task.done() or not inlet.faults, "the store")
        await asyncio.wait({task}, timeout=0.2)
        assert not task.done(), task.exception()


def answered_once(monkeypatch, server: type, path: str, answer: Callable[[], web.Response]) -> Callable[[], None]:
    """Returns what lets the next call of this path get this answer."""
    usual, due = server._answer, []

    async def sometimes(self, request: web.Request) -> web.StreamResponse:
        if due and request.path.endswith(path):
            due.pop()
            return answer()
        return await usual(self, request)

    monkeypatch.setattr(server, "_answer", sometimes)
    return lambda: due.append(True)


def page() -> web.Response:
    return web.Response(text="<html>Back in a moment</html>", content_type="text/html")


async def test_a_page_instead_of_discord_at_the_start(monkeypatch):
    """A proxy answers in its place, with 200."""
    answered_once(monkeypatch, DiscordServer, "/users/@me", page)()
    async with talking("discord"):
        pass


async def test_a_page_instead_of_discord_for_a_new_session(monkeypatch):
    """The same later."""
    comes = answered_once(monkeypatch, DiscordServer, "/gateway/bot", page)
    async with talking("discord") as platform:
        comes()
        platform.people.gateway.end_sessions()


async def test_a_frame_that_is_not_discords():
    """What stands before Discord complains in the middle of the socket."""
    async with talking("discord") as platform:
        for session in platform.people.gateway.sessions.values():
            await session.socket.send_str("upstream connect error")


async def test_a_refusal_of_slack_that_we_do_not_know(monkeypatch):
    """A running app is refused for a while: its workspace is being moved."""
    refused = answered_once(
        monkeypatch,
        SlackServer,
        "/apps.connections.open",
        lambda: web.json_response({"ok": False, "error": "team_added_to_org"}),
    )
    async with talking("slack, socket") as platform:
        refused()
        platform.people.events.break_sockets()


async def test_a_slack_app_that_is_stopped_leaves_nothing_running(monkeypatch):
    """What its account does besides listening ends with it."""
    answered_once(
        monkeypatch,
        SlackServer,
        "/apps.connections.open",
        lambda: web.json_response({"ok": False, "error": "not_allowed_token_type"}),
    )()
    async with serving("slack, socket", RecordingInlet()) as (_, task):
        await asyncio.wait({task})
        assert isinstance(task.exception(), ChannelStopped)
        others = [each.get_coro() for each in asyncio.all_tasks()]
        assert [each.__qualname__ for each in others if "rejoinder/channels" in each.cr_code.co_filename] == []


async def test_a_refusal_of_telegram_that_we_do_not_know(monkeypatch):
    """A running bot is refused once by its Bot API server."""
    said = {"ok": False, "error_code": 400, "description": "Bad Request: strange"}
    refused = answered_once(monkeypatch, TelegramServer, "/getUpdates", lambda: web.json_response(said, status=400))
    async with talking("telegram, polling"):
        refused()


async def test_an_empty_list_of_updates_that_is_null(monkeypatch):
    """As a Bot API server written in Go sends it."""
    empty = answered_once(
        monkeypatch, TelegramServer, "/getUpdates", lambda: web.json_response({"ok": True, "result": None})
    )
    async with talking("telegram, polling"):
        empty()
