"""One thread on a fake Discord with five bots and three people, played and printed: `make demo-discord`.

Three of the bots are agents behind a gateway, each with its own account; two are strangers, written with plain
discord.py. `weather` mentions everybody who mentions it, so two bots could go on for ever; `scribe` writes down what a
bot can see: the first version of every message.
"""

import asyncio
import logging
import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

import discord
from rejoinder.agents.base import Agent, AgentEvent, Done, TextDelta
from rejoinder.agents.python import text_of
from rejoinder.agents.scripted import ScriptedAgent
from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import read
from rejoinder.events import Turn
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.discord.world import token_of, user_id
from rejoinder.testing.platform.truth import Frame, Seen
from rejoinder.wiring.opening import open_channels

OURS, FOREIGN, PEOPLE = ("planner", "coder", "reviewer"), ("weather", "scribe"), ("ann", "bob", "cyd")
TEAM = "#team"
SECTION = """
[agents.{name}]
kind = "scripted"
script = "-"

[channels.{name}]
{here}
agent = "{name}"
groups = "open"
allow = {people}
bot_messages = "mentions"
pace = {{ chat = "unlimited", account = "unlimited" }}
"""


class Foreign(discord.Client):
    """Somebody else's bot."""

    def __init__(self, name: str) -> None:
        super().__init__(intents=discord.Intents(guilds=True, guild_messages=True, message_content=True))
        self.name = name
        self.saw: list[tuple[str, str]] = []
        """The author and the words of every message, as they came."""

    async def on_message(self, message: discord.Message) -> None:
        if self.user is None or message.author.id == self.user.id or message.is_system():
            return
        self.saw.append((message.author.name, message.content))
        if self.name == "weather" and self.user in message.mentions:
            await message.channel.send(f"{message.author.mention} It is sunny.")


class Play:
    """The events of the play: the platform, the questions, and what the strangers saw."""

    def __init__(self, platform: FakePlatform, strangers: dict[str, Foreign]) -> None:
        self.platform = platform
        self.strangers = strangers
        self.root = ""
        self.asked: dict[str, tuple[str, str]] = {}
        """By the words of the answer: the question's message, and the bot that was asked."""

    def answers(self, text: str) -> list[Seen]:
        return [seen for seen in self.platform.truth.messages(TEAM, by=None) if seen.text == text]

    async def says(self, person: str, text: str, expected: str, bot: str) -> None:
        """A person asks a bot in the thread and is answered."""
        thread = self.root or None
        message = await self.platform.says(TEAM, person, text, thread=thread)
        self.root = self.root or message
        self.asked[expected] = (message, bot)
        await self.platform.truth.until(lambda: bool(self.answers(expected)))


class Answering(ScriptedAgent):
    """Answers a question as a reply to its message, and the stranger with a mention."""

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        words = text_of(turn)
        if "It is sunny." in words:
            yield TextDelta(f"<@{user_id('weather')}> Are you sure?")
        else:
            topic = words.rpartition("about ")[2].partition("?")[0]
            for piece in ("[[reply_to:current]]\n", f"{self.name} on ", f"{topic}: done."):
                yield TextDelta(piece)
        yield Done()


@asynccontextmanager
async def strangers(platform: FakePlatform) -> AsyncGenerator[dict[str, Foreign]]:
    """Plain discord.py finds this Discord by the addresses of its classes."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE = f"{platform.url}/api/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(platform.url.replace("http", "ws") + "/gateway")
    bots = {name: Foreign(name) for name in FOREIGN}
    running = [asyncio.create_task(bot.start(token_of(name))) for name, bot in bots.items()]
    try:
        for bot in bots.values():
            while bot.user is None:  # noqa: ASYNC110 - discord.py announces it before it can be used
                await asyncio.sleep(0.01)
        yield bots
    finally:
        for bot in bots.values():
            await bot.close()
        for task in running:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before


@asynccontextmanager
async def gateway(platform: FakePlatform, agents: dict[str, Agent]) -> AsyncGenerator[Gateway]:
    people = [platform.id_of(name) for name in PEOPLE]
    server: Any = platform.people
    sections = [SECTION.format(name=name, here=server.config(platform.url, name), people=people) for name in OURS]
    settings = read("".join(sections) + "\n[messages.queue]\ndebounce_ms = 0\n", "rejoinder.toml", {})
    async with Gateway(settings, agents=agents, channels=open_channels(settings), store=MEMORY) as opened:
        serving = asyncio.create_task(opened.serve())
        try:
            yield opened
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


@asynccontextmanager
async def played(shown: Callable[[Frame], None] | None = None) -> AsyncGenerator[Play]:
    """Starts everybody; yields when the play is over, and then ends everything."""
    async with FakePlatform("discord") as platform:
        server: Any = platform.people
        for name in (*OURS, *FOREIGN):
            server.add_bot(name)
        server.world.room(TEAM)
        agents: dict[str, Agent] = {name: Answering(name=name) for name in OURS}
        async with strangers(platform) as foreign, gateway(platform, agents):
            await platform.truth.until(lambda: _connected(platform) == set(OURS) | set(FOREIGN))
            play = Play(platform, foreign)
            if shown is not None:
                platform.truth.shown = shown
            await _play(play)
            yield play


def _connected(platform: FakePlatform) -> set[str]:
    return {call.payload["bot"] for call in platform.truth.calls if call.name == "IDENTIFY"}


async def _play(play: Play) -> None:
    platform = play.platform
    await play.strangers["scribe"].get_partial_messageable(int(platform.id_of(TEAM))).send("I take notes.")
    await play.says("ann", "@planner what about the release?", "planner on the release: done.", "planner")
    await play.says("bob", "@coder what about the tests?", "coder on the tests: done.", "coder")
    await play.says("cyd", "@reviewer what about the docs?", "reviewer on the docs: done.", "reviewer")
    await play.says("ann", "@coder what about the changelog?", "coder on the changelog: done.", "coder")
    await play.says("bob", "@reviewer what about the licence?", "reviewer on the licence: done.", "reviewer")
    # Two bots that could go on for ever: the stranger mentions ours, ours answers with a mention.
    await platform.says(TEAM, "cyd", "@weather say hello to the planner", thread=play.root)
    await (
        play.strangers["weather"].get_partial_messageable(int(play.root)).send(f"<@{user_id('planner')}> It is sunny.")
    )
    await platform.truth.until(lambda: any("bot turns in a row" in seen.text for seen in _notices(play)))
    await play.says("cyd", "@planner what about tomorrow?", "planner on tomorrow: done.", "planner")


def _notices(play: Play) -> list[Seen]:
    """The messages of the gateway itself."""
    known = {*play.asked, "It is sunny."}
    ours = [seen for name in OURS for seen in play.platform.truth.messages(TEAM, by=name)]
    return [seen for seen in ours if seen.text not in known and "Are you sure?" not in seen.text]


class Printer:
    """Prints messages as they come, numbered, with names instead of ids."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names = {user_id(name): name for name in (*OURS, *FOREIGN, *PEOPLE)}

    def __call__(self, frame: Frame) -> None:
        if frame.kind != "message":
            return
        number = self._numbers[frame.message] = len(self._numbers) + 1
        where = "thread" if frame.thread else TEAM
        answers = f", to {self._numbers.get(frame.reply_to, '?')}" if frame.reply_to else ""
        words = re.sub(r"<@(\d+)>", lambda found: f"@{self._names.get(found[1], found[1])}", frame.text)
        sys.stdout.write(f"  {where:6} {number:3}  {frame.by + answers:>14}: {words}\n")
        sys.stdout.flush()


async def main() -> None:
    logging.getLogger("rejoinder").setLevel(logging.ERROR)  # warnings are for operators
    ours, strangers, people = map(", ".join, (OURS, FOREIGN, PEOPLE))
    sys.stdout.write(
        f"One thread on the fake Discord of the tests. Our bots are {ours}; {strangers} are bots of somebody\n"
        f"else; {people} are people. The first mention opens the thread; the number after a name is the\n"
        "message that it replies to.\n\n"
    )
    async with asyncio.timeout(PATIENCE), played(Printer()) as play:
        seen = len(play.strangers["scribe"].saw)
        sys.stdout.write(
            f"\nThe stranger `scribe` saw {seen} messages, each whole; nobody was pinged without being asked.\n"
        )


if __name__ == "__main__":
    asyncio.run(main())
