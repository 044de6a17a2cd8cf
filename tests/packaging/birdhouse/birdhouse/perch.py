"""A channel with several accounts: each has a port, people say who they are, then both sides speak lines of JSON.

It has no native replies, but it can be quiet.
"""

import asyncio
import json
import re
import time
from typing import Any

from msgspec import Struct

from rejoinder.channels.base import DEFAULT_ACCOUNT, Delivered, Inlet, Limits, Outcome, RetryAfter
from rejoinder.channels.declaration import ChannelKind, Pace, Setup
from rejoinder.events import Chat, Inbound, Part, Route, Sender
from rejoinder.rendering import Renderer, Rendering
from rejoinder.rendering.emoji import Projection, ReactionNames

BOLD = re.compile(r"\*\*(.+?)\*\*")
LIMITS = Limits(200)


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    accounts: dict[str, int]
    """The port of each account."""


def accounts(settings: Settings) -> dict[str, Settings]:
    return {name: Settings({name: port}) for name, port in settings.accounts.items()}


class Perch:
    """One account: it knows nothing of the others."""

    limits = LIMITS

    def __init__(self, name: str, settings: Settings, account: str = DEFAULT_ACCOUNT) -> None:
        self.name, self.account = name, account
        (self._port,) = settings.accounts.values()
        self._writers: dict[str, asyncio.StreamWriter] = {}
        self._sent = 0

    async def listen(self, deliver: Inlet) -> None:
        async with await asyncio.start_server(self._meets(deliver), "127.0.0.1", self._port):
            await asyncio.Event().wait()

    def _meets(self, deliver: Inlet) -> Any:
        async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            person = (await reader.readline()).decode().strip()
            self._writers[person] = writer
            async for line in reader:
                said = json.loads(line)
                chat, sender = Chat(person), Sender(person)
                inbound = Inbound(self.name, said["id"], said["id"], chat, sender, said["text"], account=self.account)
                await deliver(inbound)
            del self._writers[person]
            writer.close()

        return meet

    async def send(self, part: Part) -> Outcome:
        return await self._write(part.route, text=part.text, silent=part.silent)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        return await self._write(route, reaction=emoji, to=message)

    async def _write(self, route: Route, **frame: Any) -> Outcome:
        writer = self._writers.get(route.chat)
        if writer is None:
            return RetryAfter()
        self._sent += 1
        told = {"account": self.account, "for": route.account, "number": self._sent, "at": time.monotonic(), **frame}
        writer.write(json.dumps(told).encode() + b"\n")
        await writer.drain()
        return Delivered(f"own-{self._sent}")


def _render(source: str, tables: object) -> Rendering:
    return Rendering(BOLD.sub(lambda bold: bold[1].upper(), source))


async def _check(settings: Settings, gateway: str | None) -> str:
    return f"{len(settings.accounts)} perches"


CHANNEL = ChannelKind(
    settings=Settings,
    open=Perch,
    accounts=accounts,
    limits=LIMITS,
    can=frozenset({"react", "send", "silent"}),
    renderer=Renderer(_render),
    reactions=ReactionNames(lambda emoji: Projection({"👀": "stares"}.get(emoji)), words="stares"),
    pace=Pace(chat=(1, 4.0)),
    setup=Setup(offer="Put up a perch?", section={"accounts": {"north": 7001}}),
    check=_check,
)
