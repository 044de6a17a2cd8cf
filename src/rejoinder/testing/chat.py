"""A conversation with an agent through the whole gateway, written as a story."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from rejoinder.agents.base import Agent
from rejoinder.agents.scripted import ScriptedAgent
from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.config.schema import Settings
from rejoinder.outbound.draft import PLACEHOLDER
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing.fake_channel import FakeChannel, FakeMessenger, Shown
from rejoinder.testing.patience import PATIENCE

OWNER = "ann"


class Chat:
    """Every `hears` continues where the last one ended, so the order of the answers is checked, too."""

    def __init__(self, channel: FakeMessenger, tasks: Tasks, gateway: Gateway | None = None) -> None:
        self.channel = channel
        self.gateway = gateway
        self._tasks = tasks
        self._heard: set[str] = set()

    async def says(
        self,
        text: str,
        *,
        sender: str = OWNER,
        chat: str = "room",
        reply_to: Shown | str | None = None,
        event: str | None = None,
    ) -> str:
        quoted = reply_to.id if isinstance(reply_to, Shown) else reply_to
        return await self.channel.says(text, sender=sender, chat=chat, reply_to=quoted, event=event)

    async def hears(self, text: str | None = None) -> Shown:
        """Waits for the bot's next complete message, which must have this text."""
        await self._until("a message", lambda: bool(self._unheard()))
        shown = self._unheard()[0]
        self._heard.add(shown.id)
        assert text is None or shown.text.strip() == text, f"heard {shown.text!r} instead of {text!r}"
        return shown

    async def sees(self, text: str) -> Shown:
        """Waits until a message that is being written shows this text."""
        await self._until(f"{text!r} in a message", lambda: bool(self._showing(text)))
        return self._showing(text)[0]

    async def asked(self, agent: ScriptedAgent, times: int) -> None:
        """Waits until the agent has been asked this many times."""
        await self._until(f"turn {times} of {agent.name}", lambda: len(agent.turns) >= times)

    async def sees_reaction(self, emoji: str, *, on: str) -> None:
        await self._until(f"{emoji} on {on}", lambda: emoji in self.channel.messages[on].reactions)

    async def rests(self) -> None:
        """Waits until the gateway has finished with all messages so far; this is later than when an answer is shown."""
        assert self.gateway is not None, "whoever made the gateway knows when it rests"
        async with asyncio.timeout(PATIENCE):
            await self.gateway.tasks.idle(besides=self.gateway.listening.tasks)

    async def reads_note(self, text: str) -> None:
        await self._until(f"the note {text!r}", lambda: text in self.channel.notes)

    async def _until(self, what: str, holds: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await self.channel.until(holds)
        except TimeoutError:
            raise AssertionError(f"waited for {what}; the chat is:\n{self.transcript()}") from None

    def transcript(self) -> str:
        lines = [f"{m.id} {m.author}: {m.text!r} {m.reactions or ''}" for m in self.channel.messages.values()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.channel.notes)])

    def _visible(self) -> list[Shown]:
        return [m for m in self.channel.messages.values() if m.author == "bot" and not m.deleted]

    def _unheard(self) -> list[Shown]:
        """Complete messages; a placeholder for a coming answer is not complete yet."""
        return [m for m in self._visible() if m.complete and m.text != PLACEHOLDER and m.id not in self._heard]

    def _showing(self, text: str) -> list[Shown]:
        return [m for m in self._visible() if not m.complete and text in m.text]

    async def ends(self) -> None:
        """Checks that everything was answered, and that the test expected every message."""
        await self.channel.close()
        async with asyncio.timeout(PATIENCE):
            await self._tasks.idle()
        assert not self._unheard(), f"said besides:\n{self.transcript()}"


@asynccontextmanager
async def conversation(
    agent: Agent,
    channel: FakeMessenger | None = None,
    settings: Settings | None = None,
    *,
    owners: tuple[str, ...] = (OWNER,),
) -> AsyncGenerator[Chat]:
    """A conversation through the whole gateway, with these settings; the channel is open to everybody, ann owns the
    bot."""
    channel = channel or FakeChannel()
    wired = with_channel(settings or Settings(), channel.name, agent.name, owners)
    wired = replace(wired, channels={channel.name: wired.channels[channel.name]})
    gateway = Gateway(wired, agents={agent.name: agent}, channels=[channel], store=MEMORY)
    async with Tasks() as tasks, gateway:
        tasks.start("gateway", gateway.serve())
        chat = Chat(channel, tasks, gateway)
        yield chat
        await chat.ends()
