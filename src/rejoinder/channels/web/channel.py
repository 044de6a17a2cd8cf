"""The channel on top of the rooms: parts become messages, and what people do becomes inbounds for the gateway."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Literal

from rejoinder.blobs import read_whole
from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome, OutgoingFile, Rejected, RetryAfter
from rejoinder.channels.web import FILES, reading
from rejoinder.channels.web.answers import NoTarget, SentMessage, no_such_room, shown_file
from rejoinder.channels.web.avatars import agent_member
from rejoinder.channels.web.journal import RoomJournal
from rejoinder.channels.web.nouns import File, Member
from rejoinder.channels.web.protocol import SubagentsChanged, TypingNow
from rejoinder.channels.web.records import BrowserEvent, browser_event
from rejoinder.channels.web.sockets import Growing, Hub
from rejoinder.crashpoint import answer_unread
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Attachment, Choice, EarlierMessage, MenuCommand, Part, Route
from rejoinder.room_log import ChannelStorage, RoomEntry

OWN_ID = "rejoinder"
AT_ONCE = 500
"""The most events to read in one go."""
PAUSE = 1.0
"""Seconds before the log is read again after a failure."""


class WebChannel:
    """Everything is native: keys, replies, threads, reactions, edits, growing messages, messages for one person."""

    limits = Limits()
    deduplicates_by_key: Final[Literal[True]] = True
    relays_agent_messages: Final[Literal[True]] = True
    file_limits = FILES
    listens_everywhere: Final[Literal[True]] = True
    own_id = OWN_ID
    own_name = OWN_ID

    journal: RoomJournal
    """Set by `use_store`."""

    def __init__(
        self,
        name: str,
        agents: tuple[Member, ...],
        now: Callable[[], int],
        wake: str = "lead",
        menu: tuple[MenuCommand, ...] = (),
    ) -> None:
        self.name = name
        self.agents = agents
        self.wake = wake
        self.hub = Hub()
        self.menu = menu
        self._now = now
        self._ended = asyncio.Event()

    async def use_store(self, kept: ChannelStorage) -> None:
        self.journal = RoomJournal(kept.log, kept.blobs, self.name, self.agents, self._now, self._happened)
        self.hub.begin((await self.journal.begin()).seq)

    async def end_abandoned_messages(self, left: tuple[RoomEntry, ...]) -> None:
        with suppress(StoreUnavailable):
            await self.journal.end_abandoned_messages(left)

    def poll_log(self) -> None:
        self.hub.gap.set()

    def _happened(self, event: BrowserEvent) -> None:
        self.hub.tell(event)
        if self.hub.elsewhere is not None:
            self.hub.elsewhere.logged(event.seq)

    def begin_sharing_live(self) -> None:
        self.hub.begin_sharing_live()

    async def next_live_updates(self) -> tuple[str, ...]:
        assert self.hub.elsewhere is not None, "asked for by who has shared it"
        return await self.hub.elsewhere.take()

    def receive_live_update(self, said: str) -> None:
        self.hub.receive_live_update(said)

    # --- in -----------------------------------------------------------------------------------------

    async def listen(self, deliver: Inlet) -> None:
        """Passes on events that were written but never sent to the browsers. It delivers nothing: the commit that puts
        a message into the log puts it into the gateway's inbox, too (DU-1)."""
        while not self._ended.is_set():
            await self.hub.gap.wait()
            self.hub.gap.clear()
            try:
                missing = await self.journal.log.events(self.hub.told_to, AT_ONCE)
            except StoreUnavailable:
                self.hub.gap.set()
                await asyncio.sleep(PAUSE)
                continue
            for event in missing:
                self.hub.tell(browser_event(event))

    async def close(self) -> None:
        """Closes the sockets; the browsers come back by themselves."""
        self._ended.set()
        self.hub.gap.set()
        self.hub.close()

    # --- out ----------------------------------------------------------------------------------------

    async def send(self, part: Part) -> Outcome:
        return await self._send(part, growing=False)

    async def begin(self, part: Part) -> Outcome:
        return await self._send(part, growing=True)

    async def _send(self, part: Part, *, growing: bool, files: tuple[File, ...] = ()) -> Outcome:
        try:
            sent = await self.journal.send(part, files, growing=growing, begun=self._begun)
        except StoreUnavailable as fault:
            return RetryAfter(reason=str(fault))
        except NoTarget:
            return Rejected(f"there is no message {part.reply_to} to answer", "target")
        answer_unread()
        if sent is None:
            return Rejected(no_such_room(part.route.chat), "gone")
        return Delivered(sent.message.id)

    def _begun(self, sent: SentMessage) -> None:
        self.hub.growing.setdefault(sent.message.id, Growing(sent.message, sent.audience))

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        """Nothing is copied: the message refers to the files in the store."""
        return await self._send(part, growing=False, files=tuple(map(shown_file, files)))

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        return await read_whole(self.journal.blobs, file.id, limit)

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
        """The message stops growing in the same step in which the browsers learn of it."""
        ended = self.journal.complete(message, text, choices, lambda: self._grown(message))
        return await self._changed(message, ended)

    async def delete(self, route: Route, message: str) -> Outcome:
        return await self._changed(message, self.journal.delete(message, lambda: self._grown(message)))

    def _grown(self, message: str) -> None:
        self.hub.growing.pop(message, None)
        if self.hub.elsewhere is not None:
            self.hub.elsewhere.ended(message)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        who = author or await self._only_agent(route.chat) or OWN_ID
        return await self._changed(message, self.journal.react_ours(message, who, emoji, remove))

    async def _only_agent(self, room: str) -> str:
        """The agent that a message without a name is for: the only one in the room; empty if there are several."""
        place = await reading.room(self.journal.log, room)
        return place.agents[0] if place is not None and len(place.agents) == 1 else ""

    async def _changed(self, message: str, change: Awaitable[bool]) -> Outcome:
        try:
            done = await change
        except StoreUnavailable as fault:
            return RetryAfter(reason=str(fault))
        answer_unread()
        return Delivered(message) if done else Rejected(f"there is no message {message}", "target")

    async def thread_before(self, route: Route, message: str, limit: int) -> tuple[EarlierMessage, ...]:
        if route.thread is None:
            return ()
        return await self.journal.thread_before(route.chat, route.thread, message, limit)

    # --- live ---------------------------------------------------------------------------------------

    async def typing(self, route: Route, *, author: str = "") -> None:
        room = await reading.room(self.journal.log, route.chat)
        if room is not None:
            who = room.agents[0] if len(room.agents) == 1 else ""
            self.hub.show(TypingNow(room.id, author or who, route.thread), reading.person_of(room))

    async def subagents_changed(self, route: Route) -> None:
        room = await reading.room(self.journal.log, route.chat)
        if room is not None:
            self.hub.show(SubagentsChanged(room.id), reading.person_of(room))

    async def notify_operator(self, route: Route, text: str) -> None:
        with suppress(StoreUnavailable):  # it is in the log, too
            await self.journal.note(route.chat, route.thread, text)

    def shown_agent(self, agent: str) -> str:
        return agent_member(agent).name

    async def show_transcript(self, route: Route, message: str, words: str) -> None:
        with suppress(StoreUnavailable):
            await self.journal.was_heard(message, words)

    async def was_stopped(self, message: str, agent: str) -> None:
        """The agent was stopped while it answered this message."""
        with suppress(StoreUnavailable):
            await self.journal.was_stopped(message, agent)
