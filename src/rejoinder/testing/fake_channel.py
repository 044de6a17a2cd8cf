"""A chat platform in memory that can do everything, and remembers each frame that people would have seen.

It is strict: a message that is empty or too long for its limits fails the test that sent it. It fails on demand:
`fails(Unknown("reset"), accepted=True)` accepts the next message but does not confirm it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.base import Delivered, FileLimits, Inlet, Limits, Outcome, OutgoingFile, Rejected
from rejoinder.channels.declaration import ChannelKind
from rejoinder.channels.threads import Threads, new_thread
from rejoinder.events import (
    Attachment,
    Chat,
    Entry,
    FileKind,
    Inbound,
    Invoked,
    Mention,
    Part,
    Quote,
    ReplyContext,
    Route,
    Sender,
)

FIRST_ID = 9001  # far from any handle, so that a test notices when the two are mixed up


class Shown(Struct):
    """A message of the chat as people see it now."""

    id: str
    author: str
    text: str
    reply_to: str | None = None
    complete: bool = True
    deleted: bool = False
    reactions: list[str] = []
    frames: list[str] = []
    agent: str = ""  # which of our agents wrote it
    thread: str | None = None


def _mentions(*names: str) -> tuple[Mention, ...]:
    """Names that occur in the text after an @."""
    return tuple(Mention(name, token=f"@{name}") for name in names if name)


class Failing(Struct, frozen=True):
    """The outcome that a call gets; `accepted`: it was carried out anyway."""

    outcome: Outcome
    accepted: bool


class FakeMessenger:
    """Can edit, delete, react, type and note; every change wakes the callers of `until`."""

    def __init__(self, name: str = "fake", limits: Limits | None = None) -> None:
        self.name = name
        self.own_id = "bot"
        self.own_name = "bot"
        self.typed = 0  # how often the typing sign was shown
        self.typists: list[str] = []  # for which agent, each time
        self.reacted: list[tuple[str, str, str]] = []  # each reaction: the agent, the emoji and the message
        self.limits = limits or Limits()
        self.messages: dict[str, Shown] = {}
        self.parts: list[Part] = []  # all parts that were sent, whatever their outcome
        self.calls: list[str] = []
        self.notes: list[str] = []
        self.refuse: str | None = None  # while set, the platform accepts no message
        self._failing: deque[Failing] = deque()
        self._deliver: Inlet | None = None
        self._changed = asyncio.Condition()
        self._closed = asyncio.Event()
        self._events = 0

    async def listen(self, deliver: Inlet) -> None:
        self._closed.clear()
        self._deliver = deliver
        await self._tell()
        try:
            await self._closed.wait()
        finally:
            self._deliver = None
            await self._tell()

    @property
    def listens(self) -> bool:
        """Whether a gateway is listening."""
        return self._deliver is not None

    async def close(self) -> None:
        self._closed.set()

    async def says(
        self,
        text: str,
        *,
        chat: str = "room",
        kind: Literal["direct", "group"] = "direct",
        sender: str = "ann",
        mention: bool | str | tuple[str, ...] = False,
        reply_to: str | None = None,
        event: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        bot: bool = False,
        thread: str | None = None,
    ) -> str:
        """A person writes; returns the platform id once the gateway has the message."""
        await self.until(lambda: self._deliver is not None)
        assert self._deliver is not None
        self._events += 1
        shown = self._add(sender, text, reply_to)
        named = (self.own_id,) if mention is True else (mention,) if isinstance(mention, str) else mention or ()
        shown.thread = thread
        inbound = Inbound(
            channel=self.name,
            event_id=event or f"event-{self._events}",
            message_id=shown.id,
            chat=Chat(chat, kind, title=chat),
            sender=Sender(sender, name=sender, is_bot=bot),
            text=text,
            thread=thread,
            reply_to=None if reply_to is None else Quote(reply_to),
            mentions=_mentions(*named),
            attachments=attachments,
        )
        await self._deliver(self._told(inbound))
        return shown.id

    def _told(self, inbound: Inbound) -> Inbound:
        """Adds what the platform itself adds to a message."""
        return inbound

    async def until(self, holds: Callable[[], bool]) -> None:
        """Returns as soon as the condition holds; it is checked again whenever something changes."""
        async with self._changed:
            await self._changed.wait_for(holds)

    def fails(self, *outcomes: Outcome, accepted: bool = False) -> None:
        """The next messages, edits, deletions and reactions get these answers."""
        self._failing.extend(Failing(outcome, accepted) for outcome in outcomes)

    async def send(self, part: Part) -> Outcome:
        return await self._post(part, "send", complete=True)

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        self._check(part)
        failing = self._next("edit")
        shown = self.messages.get(message)
        if shown is None or shown.deleted:
            return Rejected(f"there is no message {message}", "target")
        if failing is None or failing.accepted:
            shown.text = part.text
            shown.frames.append(part.text)
            shown.complete = True
            await self._tell()
        return Delivered(message) if failing is None else failing.outcome

    async def delete(self, route: Route, message: str) -> Outcome:
        if (failing := self._next("delete")) is not None:
            return failing.outcome
        self.messages[message].deleted = True
        await self._tell()
        return Delivered(message)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        if (failing := self._next("react")) is not None and not failing.accepted:
            return failing.outcome
        if message not in self.messages:
            return Rejected(f"there is no message {message}", "target")
        reactions = self.messages[message].reactions
        if not remove:
            self.reacted.append((author, message, emoji))
            reactions.append(emoji)
        elif emoji in reactions:
            reactions.remove(emoji)
        await self._tell()
        return Delivered(message) if failing is None else failing.outcome

    async def typing(self, route: Route, *, author: str = "") -> None:
        self.typed += 1
        self.typists.append(author)
        await self._tell()

    async def notify_operator(self, route: Route, text: str) -> None:
        self.notes.append(text)
        await self._tell()

    async def _post(self, part: Part, call: str, *, complete: bool) -> Outcome:
        failing = self._next(call)
        if self.refuse is not None:
            return Rejected(self.refuse)
        self._check(part)
        self.parts.append(part)
        if failing is not None and not failing.accepted:
            return failing.outcome
        shown = self._add("bot", part.text, part.reply_to)
        shown.thread = part.route.thread
        shown.complete = complete
        shown.agent = part.author
        await self._tell()
        return Delivered(shown.id) if failing is None else failing.outcome

    def _check(self, part: Part) -> None:
        assert part.text.strip(), "an empty message was sent"
        assert self.limits.length is None or len(part.text) <= self.limits.length, "a message is too long"

    def _next(self, call: str) -> Failing | None:
        self.calls.append(call)
        return self._failing.popleft() if self._failing else None

    def _add(self, author: str, text: str, reply_to: str | None) -> Shown:
        shown = Shown(str(FIRST_ID + len(self.messages)), author, text, reply_to, frames=[text])
        self.messages[shown.id] = shown
        return shown

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class FakeDeduplicator(FakeMessenger):
    """A platform that knows keys: a part with the same key appears once, however often it is sent."""

    deduplicates_by_key: Literal[True] = True

    def __init__(self, name: str = "fake", limits: Limits | None = None) -> None:
        super().__init__(name, limits)
        self._by_key: dict[str, str] = {}

    async def send(self, part: Part) -> Outcome:
        if part.key in self._by_key:
            self._next("send")
            return Delivered(self._by_key[part.key])
        known = set(self.messages)
        outcome = await super().send(part)
        self._by_key.update((part.key, message) for message in set(self.messages) - known)
        return outcome


class SentFile(Struct, frozen=True):
    """A file that people got, whole."""

    message: str
    name: str
    mime: str
    kind: FileKind
    content: bytes


class FakeFiles(FakeMessenger):
    """Takes files, too, up to three in a message, and is strict about its limits. `files`: all that people got."""

    def __init__(self, name: str = "fake", limits: Limits | None = None) -> None:
        super().__init__(name, limits)
        self.file_limits = FileLimits(1_000_000, by_kind={"photo": 100_000}, album=3, caption=100)
        self.files: list[SentFile] = []

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        limits = self.file_limits
        assert 0 < len(files) <= limits.album, f"{len(files)} files in one message"
        assert [file.id for file in files] == [file.id for file in part.files]
        assert len(part.text) <= (limits.caption or len(part.text)), "a caption that is too long"
        contents = [b"".join([chunk async for chunk in file.chunks()]) for file in files]
        for file, content in zip(files, contents, strict=True):
            assert len(content) == file.size <= limits.by_kind.get(file.kind, limits.size), file.name
        outcome = await self._post(part, "files", complete=True)
        if isinstance(outcome, Delivered):
            sent = zip(files, contents, strict=True)
            self.files += [SentFile(outcome.message, each.name, each.mime, each.kind, whole) for each, whole in sent]
        return outcome

    def _check(self, part: Part) -> None:
        if not part.files:
            super()._check(part)


class FakeChannel(FakeMessenger):
    """Also shows a message while it is written."""

    async def begin(self, part: Part) -> Outcome:
        return await self._post(part, "begin", complete=False)

    async def append(self, route: Route, message: str, text: str) -> None:
        shown = self.messages[message]
        assert not shown.complete, f"{message} grew after it was complete"
        shown.text += text
        shown.frames.append(shown.text)
        await self._tell()

    async def complete(self, route: Route, message: str) -> None:
        self.messages[message].complete = True
        await self._tell()


class FakeThreads(FakeMessenger):
    """A platform whose threads have the id of the message that they belong to, like Discord's and Slack's (CH-2).

    It is strict: it refuses a message to a thread that does not exist, and changes of or replies to a message that is
    elsewhere.
    """

    native_commands: Literal[True] = True
    declaration = ChannelKind(
        can=frozenset({"reply", "react", "send", "threads", "ephemeral"}),
        replies_across_threads=False,
        private_needs_interaction=True,
        edits="told",
    )

    def __init__(self, name: str = "fake", limits: Limits | None = None, threads: Threads = "auto") -> None:
        super().__init__(name, limits)
        self.threads: dict[str, str] = {}  # the title of each thread
        self.created: list[str] = []  # each attempt to open a thread
        self.refuse_threads: str | None = None
        self._threads: Threads = threads
        self.valid_for = 900.0  # seconds for which an interaction can be answered
        self.ephemeral: list[tuple[str, str]] = []  # messages that only one person saw
        self.answered: list[str] = []  # the tokens that were answered with a message for everybody
        self.noticed: list[str] = []  # the tokens of presses that needed no words

    def _told(self, inbound: Inbound) -> Inbound:
        if inbound.chat.kind == "direct" or inbound.thread is not None:
            return inbound
        mentioned = any(mention.id == self.own_id for mention in inbound.mentions)
        text = inbound.text.replace(f"@{self.own_id}", "")
        return replace(inbound, opens=new_thread(self._threads, inbound.message_id, text, mentioned=mentioned))

    async def edits(self, message: str, text: str, *, sender: str = "ann", chat: str = "lab") -> None:
        """A person changes a message."""
        self.messages[message].text = text
        await self._changes(message, text, "edit", sender, chat)

    async def removes(self, message: str, *, chat: str = "lab") -> None:
        """A person deletes a message; the platform does not say who."""
        self.messages[message].deleted = True
        await self._changes(message, "", "delete", "", chat)

    async def _changes(self, message: str, text: str, entry: Entry, sender: str, chat: str) -> None:
        assert self._deliver is not None
        self._events += 1
        await self._deliver(
            Inbound(
                channel=self.name,
                event_id=f"{entry}-{self._events}",
                message_id=message,
                chat=Chat(chat, "group", title=chat),
                sender=Sender(sender, name=sender),
                text=text,
                thread=self.messages[message].thread,
                entry=entry,
            )
        )

    async def invokes(self, name: str, *, sender: str = "ann", chat: str = "lab", **options: str) -> str:
        """A person chooses a command from the platform's own menu; returns the token of the interaction."""
        return await self._interacts(Invoked(name, options), "", sender, chat)

    async def presses(self, button: str, on: Shown, *, sender: str = "ann", chat: str = "lab") -> str:
        """A person presses the button with this label; returns the token of the interaction."""
        part = next(part for part in reversed(self.parts) if part.choices and part.text == on.frames[0])
        says = next(choice.says for choice in part.choices if choice.label == button)
        return await self._interacts(None, says, sender, chat, on)

    async def _interacts(
        self, invoked: Invoked | None, text: str, sender: str, chat: str, on: Shown | None = None
    ) -> str:
        await self.until(lambda: self._deliver is not None)
        assert self._deliver is not None
        self._events += 1
        token = f"token-{self._events}"
        await self._deliver(
            Inbound(
                channel=self.name,
                event_id=token,
                message_id=token,
                chat=Chat(chat, "group", title=chat),
                sender=Sender(sender, name=sender),
                text=text,
                thread=on.thread if on is not None else None,
                entry="native" if on is None else "button",
                reply_to=None if on is None else Quote(on.id),
                invoked=invoked,
                reply_context=ReplyContext(token, datetime.now(UTC) + timedelta(seconds=self.valid_for), private=True),
            ),
            within=3.0,
        )
        return token

    async def acknowledge_press(self, context: ReplyContext) -> None:
        self.noticed.append(context.token)
        await self._tell()

    async def _post(self, part: Part, call: str, *, complete: bool) -> Outcome:
        thread, opens = part.route.thread, part.opens
        if part.only_for is not None and part.reply_context is None:
            return Rejected("a message can be shown to one person only in answer to an interaction")
        if part.only_for is not None:
            self.ephemeral.append((part.only_for, part.text))
            await self._tell()
            return Delivered("")
        if part.reply_context is not None:
            self.answered.append(part.reply_context.token)
        if opens is not None:
            assert opens.thread == thread, "a part opens the thread it goes to"
            self.created.append(opens.thread)
            if self.refuse_threads is not None:
                return Rejected(self.refuse_threads, "thread")
            self.threads.setdefault(opens.thread, opens.title)
        if thread is not None and thread not in self.threads:
            return Rejected(f"there is no thread {thread}", "gone")
        if part.reply_to is not None and self.messages[part.reply_to].thread != thread:
            return Rejected("a reply stays in its thread", "target")
        return await super()._post(part, call, complete=complete)

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        return self._elsewhere(route, message) or await super().edit(route, message, part)

    async def delete(self, route: Route, message: str) -> Outcome:
        return self._elsewhere(route, message) or await super().delete(route, message)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        return self._elsewhere(route, message) or await super().react(
            route, message, emoji, remove=remove, author=author
        )

    def _elsewhere(self, route: Route, message: str) -> Rejected | None:
        shown = self.messages.get(message)
        if shown is not None and shown.thread != route.thread:
            return Rejected(f"{message} does not stand there", "target")
        return None


class FakeRoom(FakeChannel):
    """A group of several agents, in which each gets the complete messages of the others."""

    relays_agent_messages: Literal[True] = True

    def __init__(self, *agents: str, name: str = "fake", chat: str = "room") -> None:
        super().__init__(name)
        self._agents = agents
        self._chat = chat

    async def send(self, part: Part) -> Outcome:
        outcome = await super().send(part)
        if isinstance(outcome, Delivered):
            await self._pass_on(outcome.message)
        return outcome

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        was_whole = message in self.messages and self.messages[message].complete
        outcome = await super().edit(route, message, part)
        if isinstance(outcome, Delivered) and not was_whole:
            await self._pass_on(message)
        return outcome

    async def complete(self, route: Route, message: str) -> None:
        await super().complete(route, message)
        await self._pass_on(message)

    async def _pass_on(self, message: str) -> None:
        said = self.messages[message]
        if not said.agent or self._deliver is None:
            return
        await self._deliver(
            Inbound(
                channel=self.name,
                event_id=f"said-{message}",
                message_id=message,
                chat=Chat(self._chat, "group", title=self._chat, agents=self._agents),
                sender=Sender(said.agent, said.agent, is_bot=True),
                text=said.text,
                reply_to=None if said.reply_to is None else Quote(said.reply_to),
                mentions=_mentions(*(agent for agent in self._agents if f"@{agent}" in said.text)),
            )
        )
