"""The channel on top of the room log: parts become messages, and what people do becomes inbounds for the gateway."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal

from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome, Rejected, RetryAfter
from rejoinder.channels.web import UPLOAD_LIMIT, reading
from rejoinder.channels.web.journal import Journal, NoTarget, Sent
from rejoinder.channels.web.keeper import Keeper
from rejoinder.channels.web.nouns import File, Room
from rejoinder.channels.web.protocol import TypingNow
from rejoinder.channels.web.sockets import Growing, Hub
from rejoinder.crashpoint import answer_unread, crashpoint
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Attachment, Choice, MenuCommand, Part, Route, Said

OWN_ID = "rejoinder"
PAUSE = 1.0
"""Seconds before we deliver again to a gateway that could not store anything."""
FILES_PAUSE = 3600.0
"""Seconds between two searches for files that nobody needs."""


class WebChannel:
    """Everything is native: keys, replies, threads, reactions, edits, growing messages, messages for one person."""

    limits = Limits()
    keeps_keys: Final[Literal[True]] = True
    tells_agents: Final[Literal[True]] = True
    file_limit = UPLOAD_LIMIT
    own_id = OWN_ID
    own_name = OWN_ID

    def __init__(self, name: str, keeper: Keeper, wake: str = "lead") -> None:
        self.name = name
        self.keeper = keeper
        self.wake = wake
        self.hub = Hub()
        self.menu: tuple[MenuCommand, ...] = ()
        self._news = asyncio.Event()
        self._closed = False
        self._taken = 0
        keeper.tell = self.hub.tell
        keeper.changed = self._news.set

    # --- in -----------------------------------------------------------------------------------------

    async def listen(self, deliver: Inlet) -> None:
        """Reads the journal from where the gateway left off, however long ago that was (DU-1).

        A gateway with a new store is not given again what an earlier one has taken.
        """
        kept = await deliver.cursor()
        self._taken = int(kept) if kept is not None else await self.keeper.ask(reading.taken)
        await self.keeper.change(Journal.was_taken, self._taken)
        while not self._closed:
            self._news.clear()
            arrived = await self.keeper.ask(reading.arrived, self._taken)
            if arrived:
                crashpoint("K2")
                last = arrived[-1][0]
                try:
                    await deliver(*(inbound for _, inbound in arrived), cursor=str(last))
                except StoreUnavailable:  # the journal still has them, so they are delivered again (DU-15)
                    await asyncio.sleep(PAUSE)
                    continue
                self._taken = last
                crashpoint("K5")
            else:
                await self._news.wait()

    async def close(self) -> None:
        """Tells the browsers to come back; then closes the file."""
        if not self._closed:
            self._closed = True
            self._news.set()
            self.hub.close()
            with suppress(StoreUnavailable):
                await self.keeper.change(Journal.was_taken, self._taken)
            await asyncio.get_running_loop().run_in_executor(None, self.keeper.close)

    async def remove_unnamed_files(self) -> None:
        """Runs for ever: uploads that no message names take up no room for longer than a day."""
        while not self._closed:
            with suppress(StoreUnavailable):
                while await self.keeper.change(Journal.drop_unnamed_files):
                    pass
            await asyncio.sleep(FILES_PAUSE)

    # --- out ----------------------------------------------------------------------------------------

    async def send(self, part: Part) -> Outcome:
        return await self._send(part, growing=False)

    async def begin(self, part: Part) -> Outcome:
        return await self._send(part, growing=True)

    async def _send(self, part: Part, *, growing: bool) -> Outcome:
        try:
            sent = await self.keeper.change_then(lambda journal: journal.send(part, growing=growing), self._begun)
        except StoreUnavailable as fault:
            return RetryAfter(reason=str(fault))
        except NoTarget:
            return Rejected(f"there is no message {part.reply_to} to answer", "target")
        answer_unread()
        if sent is None:
            return Rejected(
                f"there is no room {part.route.chat}; its id is what its address ends with, after the #", "gone"
            )
        return Delivered(sent.message.id)

    def _begun(self, sent: Sent | None) -> None:
        if sent is not None and sent.growing:
            self.hub.growing.setdefault(sent.message.id, Growing(sent.message, sent.audience))

    async def kept_file(self, key: str) -> Attachment | None:
        kept = await self.keeper.ask(reading.sent_file, key)
        return None if kept is None else _attached(kept)

    async def keep_file(self, key: str, file: Attachment) -> Attachment:
        content = file.content or b""
        return _attached(await self.keeper.change(Journal.keep_sent_file, key, file.name, file.mime, content))

    async def append(self, route: Route, message: str, text: str) -> None:
        growing = self.hub.growing.get(message)
        if growing is not None and text:  # a completed message does not grow again (DE-20)
            self.hub.show(growing.append(text), growing.audience)

    async def complete(self, route: Route, message: str) -> None:
        growing = self.hub.growing.get(message)
        if growing is not None:
            await self._complete(message, growing.text, None)

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        return await self._complete(message, part.text, part.choices)

    async def _complete(self, message: str, text: str, choices: tuple[Choice, ...] | None) -> Outcome:
        return await self._change(message, lambda journal: journal.complete(message, text, choices))

    async def delete(self, route: Route, message: str) -> Outcome:
        return await self._change(message, lambda journal: journal.delete(message))

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        who = author or await self._only_agent(route.chat) or OWN_ID
        return await self._change(message, lambda journal: journal.react_ours(message, who, emoji, remove), ends=False)

    async def _only_agent(self, room: str) -> str:
        """The agent meant if none is named: the only one in the room; empty if there are several."""
        place = await self.keeper.ask(reading.place, room)
        return place[0].agents[0] if place is not None and len(place[0].agents) == 1 else ""

    async def _change(self, message: str, change: Callable[[Journal], bool], *, ends: bool = True) -> Outcome:
        """`ends`: the message stops growing, in the same step in which the browsers are told."""

        def then(done: bool) -> None:
            if ends:
                self.hub.growing.pop(message, None)

        try:
            done = await self.keeper.change_then(change, then)
        except StoreUnavailable as fault:
            return RetryAfter(reason=str(fault))
        answer_unread()
        return Delivered(message) if done else Rejected(f"there is no message {message}", "target")

    async def thread_before(self, route: Route, message: str, limit: int) -> tuple[Said, ...]:
        if route.thread is None:
            return ()
        where = (route.chat, route.thread, message)
        return await self.keeper.ask_then(lambda journal: journal.thread_before(*where, limit), lambda _: None)

    # --- live ---------------------------------------------------------------------------------------

    async def typing(self, route: Route, *, author: str = "") -> None:
        def show(place: tuple[Room, str | None] | None) -> None:
            if place is not None:
                room, person = place
                who = room.agents[0] if len(room.agents) == 1 else ""
                self.hub.show(TypingNow(room.id, author or who, route.thread), person)

        # Queued with the messages, so that a sign requested before a message is not shown after it.
        await self.keeper.ask_then(lambda journal: reading.place(journal.db, route.chat), show)

    async def note(self, route: Route, text: str) -> None:
        with suppress(StoreUnavailable):  # it is in the log too
            await self.keeper.change(Journal.note, route.chat, route.thread, text)

    async def was_stopped(self, message: str, agent: str) -> None:
        """The agent was stopped while it answered this message."""
        with suppress(StoreUnavailable):
            await self.keeper.change(Journal.was_stopped, message, agent)


def _attached(file: File) -> Attachment:
    return Attachment(file.id, file.name, file.mime, file.size)
