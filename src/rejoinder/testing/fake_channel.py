"""A chat platform in memory that can do everything, and remembers each frame people would have seen."""

import asyncio
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome, Rejected
from rejoinder.events import Attachment, Chat, Inbound, Mention, Part, Quote, Route, Sender

FIRST_ID = 9001  # far from any handle, so that a test notices when the two are mixed up


class Shown(Struct):
    """A message of the chat as it stands on the screen."""

    id: str
    author: str
    text: str
    reply_to: str | None = None
    complete: bool = True
    deleted: bool = False
    reactions: list[str] = []
    frames: list[str] = []


def _mentions(whom: str | Literal[False]) -> tuple[Mention, ...]:
    """A name that stands in the text with an @ before it."""
    return (Mention(whom, token=f"@{whom}"),) if whom else ()


class FakeChannel:
    """Can stream, delete, react and note; whatever happens wakes those who wait in `until`."""

    def __init__(self, name: str = "fake", limits: Limits | None = None) -> None:
        self.name = name
        self.own_id = "bot"
        self.own_name = "bot"
        self.typed = 0  # how often the typing sign was shown
        self.limits = limits or Limits()
        self.messages: dict[str, Shown] = {}
        self.notes: list[str] = []
        self.refuse: str | None = None  # set it, and the platform takes no further message
        self._deliver: Inlet | None = None
        self._changed = asyncio.Condition()
        self._closed = asyncio.Event()
        self._events = 0

    async def listen(self, deliver: Inlet) -> None:
        self._deliver = deliver
        await self._tell()
        try:
            await self._closed.wait()
        finally:
            self._deliver = None

    async def close(self) -> None:
        self._closed.set()

    async def says(
        self,
        text: str,
        *,
        chat: str = "room",
        kind: Literal["direct", "group"] = "direct",
        sender: str = "ann",
        mention: bool | str = False,
        reply_to: str | None = None,
        event: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        bot: bool = False,
    ) -> str:
        """Somebody writes; returns the platform id once the gateway has the message."""
        await self.until(lambda: self._deliver is not None)
        assert self._deliver is not None
        self._events += 1
        shown = self._add(sender, text, reply_to)
        await self._deliver(
            Inbound(
                channel=self.name,
                event_id=event or f"event-{self._events}",
                message_id=shown.id,
                chat=Chat(chat, kind, title=chat),
                sender=Sender(sender, name=sender, is_bot=bot),
                text=text,
                reply_to=None if reply_to is None else Quote(reply_to),
                mentions=_mentions(self.own_id if mention is True else mention),
                attachments=attachments,
            )
        )
        return shown.id

    async def until(self, holds: Callable[[], bool]) -> None:
        """Returns as soon as it holds; it is asked again whenever something changes."""
        async with self._changed:
            await self._changed.wait_for(holds)

    async def send(self, part: Part) -> Outcome:
        return await self._post(part, complete=True)

    async def begin(self, part: Part) -> Outcome:
        return await self._post(part, complete=False)

    async def append(self, route: Route, message: str, text: str) -> None:
        shown = self.messages[message]
        assert not shown.complete, f"{message} grew after it was complete"
        shown.text += text
        shown.frames.append(shown.text)
        await self._tell()

    async def complete(self, route: Route, message: str) -> None:
        self.messages[message].complete = True
        await self._tell()

    async def delete(self, route: Route, message: str) -> Outcome:
        self.messages[message].deleted = True
        await self._tell()
        return Delivered(message)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False) -> Outcome:
        reactions = self.messages[message].reactions
        if not remove:
            reactions.append(emoji)
        elif emoji in reactions:
            reactions.remove(emoji)
        await self._tell()
        return Delivered(message)

    async def typing(self, route: Route) -> None:
        self.typed += 1
        await self._tell()

    async def note(self, route: Route, text: str) -> None:
        self.notes.append(text)
        await self._tell()

    async def _post(self, part: Part, *, complete: bool) -> Outcome:
        if self.refuse is not None:
            return Rejected(self.refuse)
        assert part.text.strip(), "an empty message was sent"
        shown = self._add("bot", part.text, part.reply_to)
        shown.complete = complete
        await self._tell()
        return Delivered(shown.id)

    def _add(self, author: str, text: str, reply_to: str | None) -> Shown:
        shown = Shown(str(FIRST_ID + len(self.messages)), author, text, reply_to, frames=[text])
        self.messages[shown.id] = shown
        return shown

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
