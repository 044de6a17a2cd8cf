"""Writes the room log: an event, the changes it makes and the inbound for the gateway, in one step.

Rule 1: a message is written only here, with the event that shows it and, if the gateway has to know of it, the inbound
        event.
Rule 2: `journal.py` and `answers.py` decide what people and agents may do.
Rule 3: an entry may change between reading and writing. Then nothing is written (`Superseded`), and
        `retry_on_conflict` lets the caller read and decide once more.
"""

import secrets
from collections.abc import Awaitable, Callable
from functools import wraps
from hashlib import blake2b
from typing import Concatenate, ParamSpec, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.web import inbounds, reading
from rejoinder.channels.web.nouns import Member, Message, Quoted, Room
from rejoinder.channels.web.protocol import Deleted, Edited, Happening, Marked, Posted, RoomMade, encode
from rejoinder.channels.web.reading import LoggedMessage
from rejoinder.errors import Superseded
from rejoinder.events import Choice, EarlierMessage, Entry, Inbound
from rejoinder.room_log import Changes, EntryState, Fact, Mark, OnceRequest, RoomEntry, RoomEvent, RoomLog, RoomRow

LONGEST_SAID = 4_000
"""How many characters of an earlier message an agent is given in a thread."""
TRIES = 20

DONE, PEOPLE, PAGE = "done", "people", "page"
"""Kinds of facts: requests of browsers, names of people, and facts about the whole page."""

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class BrowserEvent(Struct, frozen=True):
    """An event as browsers get it."""

    seq: int
    audience: str | None
    frame: str
    begins: Message | None = None
    """A message that begins to grow with this event."""
    ends: str = ""
    """The id of a message that stops growing with this event."""


class NewEvent(Struct, frozen=True):
    """An event that has no number yet."""

    happening: Happening
    audience: str | None
    change: RoomRow | RoomEntry | Mark | None = None


def retry_on_conflict(
    method: Callable[Concatenate[S, P], Awaitable[R]],
) -> Callable[Concatenate[S, P], Awaitable[R]]:
    """Tries once more when somebody else was faster."""

    @wraps(method)
    async def tried(self: S, *arguments: P.args, **options: P.kwargs) -> R:
        for _ in range(TRIES):
            try:
                return await method(self, *arguments, **options)
            except Superseded:
                continue
        return await method(self, *arguments, **options)

    return tried


def numbered(happening: Happening, seq: int) -> Happening:
    if isinstance(happening, Posted):
        return Posted(seq, replace(happening.message, seq=seq))
    return replace(happening, seq=seq)


_decode = msgspec.json.Decoder(Happening).decode


def browser_event(event: RoomEvent) -> BrowserEvent:
    """An event of the log as browsers get it."""
    return _told(_decode(event.body), event.seq, event.audience)


def _told(happening: Happening, seq: int, audience: str | None) -> BrowserEvent:
    happened = numbered(happening, seq)
    begins = happened.message if isinstance(happened, Posted) and happened.message.growing else None
    ends = happened.message if isinstance(happened, Edited | Deleted) else ""
    return BrowserEvent(seq, audience, encode(happened).decode(), begins, ends)


def request_id(person: str, client: str) -> str:
    """Always the same for the same request of the same person; no other person's request can have it."""
    return digest(f"{len(person)} {person} {client}")


def digest(words: str) -> str:
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


class Records:
    def __init__(
        self,
        log: RoomLog,
        channel: str,
        agents: tuple[Member, ...],
        now: Callable[[], int],
        tell: Callable[[BrowserEvent], None],
    ) -> None:
        self.log = log
        self.channel = channel
        self.members = agents
        self.agents = {agent.id: agent for agent in agents}
        self._ids = tuple(self.agents)
        self._now = now
        self._tell = tell

    async def _record(
        self,
        *happened: NewEvent,
        heard: Inbound | None = None,
        once: OnceRequest | None = None,
        facts: tuple[Fact, ...] = (),
        then: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Returns the number of the first event once everything is durable and the browsers have it. `then` is called
        with the number before that."""
        events = tuple(
            RoomEvent(body=encode(each.happening), audience=each.audience, change=each.change) for each in happened
        )
        changes = Changes(events=events, facts=facts, once=once)
        first = await self.log.write(changes, *(() if heard is None else (heard,)))
        then(first)
        for seq, each in enumerate(happened, first):
            self._tell(_told(each.happening, seq, each.audience))
        return first

    # --- messages -------------------------------------------------------------------------------

    async def _post(
        self,
        message: Message,
        room: Room,
        *,
        key: str | None = None,
        state: EntryState = "whole",
        is_heard: bool = True,
        once: OnceRequest | None = None,
        then: Callable[[int], None] = lambda _: None,
    ) -> int:
        audience = message.only_for or reading.person_of(room)
        entry = _entry(message, audience, state, key=key)
        heard = await self._heard(message, room, "text") if is_heard and self._concerns(message, room) else None
        return await self._record(NewEvent(Posted(0, message), audience, entry), heard=heard, once=once, then=then)

    def _posted(self, message: Message, room: Room) -> tuple[NewEvent, ...]:
        audience = reading.person_of(room)
        return (NewEvent(Posted(0, message), audience, _entry(message, audience, "whole", key=None)),)

    def _changed(self, kept: LoggedMessage, message: Message, happening: Happening, state: EntryState) -> NewEvent:
        entry = _entry(message, kept.entry.audience, state, key=kept.entry.key)
        return NewEvent(happening, kept.entry.audience, replace(entry, version=kept.entry.version))

    def _edited(
        self, kept: LoggedMessage, text: str, choices: tuple[Choice, ...], *, edited: bool
    ) -> tuple[Message, NewEvent]:
        shown = edited or kept.message.edited
        message = replace(kept.message, text=text, choices=choices, growing=False, edited=shown)
        happening = Edited(0, message.room, message.id, text, shown, choices)
        return message, self._changed(kept, message, happening, "whole")

    def _marked(self, kept: LoggedMessage, message: Message) -> tuple[NewEvent, ...]:
        if message == kept.message:
            return ()
        happening = Marked(0, message.room, message.id, message.outdated, message.stopped, message.transcript)
        return (self._changed(kept, message, happening, kept.entry.state),)

    def _concerns(self, message: Message, room: Room) -> bool:
        """Whether the gateway has to know of it: messages of people, and of agents in rooms with other agents."""
        if message.author in self.agents:
            return len(room.agents) > 1 and not message.only_for
        return bool(message.author)

    async def _heard(
        self,
        message: Message,
        room: Room,
        entry: Entry,
        sender: str | None = None,
        text: str | None = None,
        request: str = "",
    ) -> Inbound:
        """`request`: names the event, if the message alone does not."""
        name = await self._name_of(sender or message.author)
        starter = await self._starter(message)
        event = f"{entry}-{request or message.id}"
        return inbounds.inbound(
            self.channel, event, message, room, name, self._ids, entry=entry, sender=sender, text=text, starter=starter
        )

    async def _starter(self, message: Message) -> EarlierMessage | None:
        kept = await reading.message(self.log, message.thread) if message.thread is not None else None
        return None if kept is None else await self._said(kept.message)

    async def _said(self, message: Message) -> EarlierMessage:
        author, text = message.author, message.text[:LONGEST_SAID]
        name, is_bot = await self._name_of(author), not author or author in self.agents
        return EarlierMessage(message.id, author, name, text, is_bot=is_bot)

    async def _name_of(self, author: str) -> str:
        if (agent := self.agents.get(author)) is not None:
            return agent.name
        name = await self.log.fact(PEOPLE, author)
        return author if name is None else name.decode()

    async def _quoted(self, id: str | None, room: str, person: str | None) -> Quoted | None:
        kept = None if id is None else await reading.message(self.log, id)
        if kept is None or kept.message.room != room or kept.entry.audience not in (None, person):
            return None
        words = " ".join(kept.message.text.split()) or ", ".join(file.name for file in kept.message.files)
        return Quoted(kept.message.id, kept.message.author, words[:200])

    # --- rooms ----------------------------------------------------------------------------------

    def _room_made(self, room: Room) -> NewEvent:
        person = reading.person_of(room)
        return NewEvent(RoomMade(0, room), person, RoomRow(room.id, person, reading.room_body(room)))


def new_id() -> str:
    return f"w{secrets.token_hex(9)}"


def _entry(message: Message, audience: str | None, state: EntryState, *, key: str | None) -> RoomEntry:
    return RoomEntry(
        id=message.id,
        room=message.room,
        author=message.author,
        at=reading.instant(message.at),
        body=reading.message_body(message),
        thread=message.thread or "",
        text=message.text.casefold(),
        audience=audience,
        private=bool(message.only_for),
        counted=not message.note and not message.gone,
        answers=message.answers,
        key=key,
        state=state,
        blobs=tuple(file.id for file in message.files),
    )
