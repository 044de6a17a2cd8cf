"""A channel with several accounts: each has a port, people say who they are, then both sides speak lines of JSON."""

import asyncio
import json
import re
import time
from contextlib import AsyncExitStack
from typing import Any

from msgspec import Struct

from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome, RetryAfter
from rejoinder.channels.declaration import ChannelKind, Pace
from rejoinder.events import Chat, Inbound, Part, Route, Sender
from rejoinder.rendering import Renderer, Rendering
from rejoinder.rendering.emoji import Projection, ReactionNames

BOLD = re.compile(r"\*\*(.+?)\*\*")
LIMITS = Limits(200)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    accounts: dict[str, int]
    """The port of each account."""


class Perch:
    limits = LIMITS

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self._ports = settings.accounts
        self._writers: dict[tuple[str, str], asyncio.StreamWriter] = {}
        self._sent = 0

    async def listen(self, deliver: Inlet) -> None:
        async with AsyncExitStack() as stack:
            for account, port in self._ports.items():
                server = await asyncio.start_server(self._meets(account, deliver), "127.0.0.1", port)
                await stack.enter_async_context(server)
            await asyncio.Event().wait()

    def _meets(self, account: str, deliver: Inlet) -> Any:
        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            person = (await reader.readline()).decode().strip()
            self._writers[account, person] = writer
            async for line in reader:
                said = json.loads(line)
                chat, sender = Chat(person), Sender(person)
                await deliver(Inbound(self.name, said["id"], said["id"], chat, sender, said["text"], account=account))
            del self._writers[account, person]
            writer.close()

        return meet

    async def send(self, part: Part) -> Outcome:
        return await self._write(part.route, text=part.text, reply_to=part.reply_to)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        return await self._write(route, reaction=emoji, to=message)

    async def _write(self, route: Route, **frame: Any) -> Outcome:
        writer = self._writers.get((route.account, route.chat))
        if writer is None:
            return RetryAfter()
        self._sent += 1
        writer.write(json.dumps({"account": route.account, "at": time.monotonic(), **frame}).encode() + b"\n")
        await writer.drain()
        return Delivered(f"own-{self._sent}")


def _render(source: str, tables: object) -> Rendering:
    return Rendering(BOLD.sub(lambda bold: bold[1].upper(), source))


CHANNEL = ChannelKind(
    settings=Settings,
    open=Perch,
    limits=LIMITS,
    can=frozenset({"reply", "react", "send"}),
    renderer=Renderer(_render),
    reactions=ReactionNames(lambda emoji: Projection({"👀": "stares"}.get(emoji)), words="stares"),
    pace=Pace(chat=(1, 4.0)),
)
