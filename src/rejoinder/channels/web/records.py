"""How the room log is written: each change has an increasing number, and tells browsers and the gateway of itself.

Rule 1: a message is written here and nowhere else, with the event that shows it and, where the gateway hears it, the
        inbound event.
Rule 2: what people and agents may do is decided in `journal.py`.
"""

import secrets
import sqlite3
from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.web import files, inbounds, reading
from rejoinder.channels.web.nouns import Member, Message, Quoted, Room
from rejoinder.channels.web.protocol import Edited, Happening, Marked, Posted, encode
from rejoinder.channels.web.reading import Kept, details_of
from rejoinder.channels.web.schema import VERSION
from rejoinder.events import Choice, Entry, Inbound, Said

KEPT_EVENTS = 50_000
"""How many of the last events are kept for browsers that resume; older ones are removed once the gateway has them."""
LONGEST_SAID = 4_000
"""How many characters of an earlier message an agent is told in a thread."""


class Told(Struct, frozen=True):
    """An event as browsers get it."""

    seq: int
    audience: str | None
    frame: str


class Records:
    def __init__(
        self, db: sqlite3.Connection, channel: str, agents: tuple[Member, ...], now: Callable[[], int]
    ) -> None:
        self.db = db
        self.channel = channel
        self.agents = {agent.id: agent for agent in agents}
        self._ids = tuple(self.agents)
        self._now = now
        self._told: list[Told] = []
        row = db.execute("SELECT id FROM journal").fetchone()
        self.id: str = row[0] if row else secrets.token_hex(8)
        if not row:
            db.execute("INSERT INTO journal (id, version) VALUES (?, ?)", (self.id, VERSION))
        db.execute("UPDATE journal SET agents = ?", (msgspec.json.encode(self._ids).decode(),))
        self.seq: int = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
        self._interrupted()

    def told(self) -> list[Told]:
        told, self._told = self._told, []
        return told

    def _record(
        self, make: Callable[[int], Happening | None], audience: str | None, inbound: Callable[[int], Inbound] | None
    ) -> int:
        self.seq += 1
        happening = make(self.seq)
        frame = encode(happening).decode() if happening is not None else None
        packed = inbounds.pack(inbound(self.seq)) if inbound is not None else None
        self.db.execute("INSERT INTO events VALUES (?, ?, ?, ?)", (self.seq, audience, frame, packed))
        if frame is not None:
            self._told.append(Told(self.seq, audience, frame))
        return self.seq

    def was_taken(self, seq: int) -> None:
        """The gateway has taken everything up to here. Events that are also old enough are removed."""
        self.db.execute("UPDATE journal SET taken = ?", (seq,))
        self.db.execute("DELETE FROM events WHERE seq <= ?", (min(seq, self.seq - KEPT_EVENTS),))

    # --- messages -------------------------------------------------------------------------------

    def _post(self, message: Message, room: Room, *, key: str | None, state: str, is_heard: bool) -> Message:
        audience = message.only_for or self._person_of(room.id)
        seq = self.seq + 1
        message = replace(message, id=f"w{seq}", seq=seq)
        self.db.execute(
            "INSERT INTO messages (seq, id, room, thread, author, at, text, folded, details, audience, only_for, part,"
            " state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                seq,
                message.id,
                room.id,
                message.thread,
                message.author,
                message.at,
                message.text,
                message.text.casefold(),
                details_of(message),
                audience,
                message.only_for or None,
                key,
                state,
            ),
        )
        files.name_in(self.db, message.id, message.files)
        heard = self._heard(message, room, "text") if is_heard and self._concerns(message, room) else None
        self._record(lambda number: Posted(number, message), audience, heard)
        return message

    def _change(self, kept: Kept, text: str, choices: tuple[Choice, ...], *, edited: bool, entry: Entry | None) -> None:
        message = replace(kept.message, text=text, choices=choices, growing=False)
        self.db.execute(
            "UPDATE messages SET text = ?, folded = ?, details = ?, state = 'whole', edited = edited OR ? WHERE id = ?",
            (text, text.casefold(), details_of(message), edited, message.id),
        )
        room = reading.room(self.db, message.room)
        heard = None
        if entry is not None and room is not None and self._concerns(message, room):
            heard = self._heard(message, room, entry)
        shown = edited or message.edited
        self._record(lambda seq: Edited(seq, message.room, message.id, text, shown, choices), kept.audience, heard)

    def _concerns(self, message: Message, room: Room) -> bool:
        """Whether the gateway hears it: what people write, and what an agent says where other agents listen."""
        if message.author in self.agents:
            return len(room.agents) > 1 and not message.only_for
        return bool(message.author)

    def _heard(
        self, message: Message, room: Room, entry: Entry, sender: str | None = None, text: str | None = None
    ) -> Callable[[int], Inbound]:
        author = sender or message.author
        name = self._name_of(author)
        starter = self._starter(message)
        return lambda seq: inbounds.inbound(
            self.channel, seq, message, room, name, self._ids, entry=entry, sender=sender, text=text, starter=starter
        )

    def _starter(self, message: Message) -> Said | None:
        kept = reading.message(self.db, message.thread) if message.thread is not None else None
        return None if kept is None or kept.deleted else self._said(kept.message)

    def thread_before(self, room: str, thread: str, id: str, limit: int) -> tuple[Said, ...]:
        """The latest messages of a thread before this one, those for one person alone left out."""
        return tuple(map(self._said, reading.thread_before(self.db, room, thread, id, self._person_of(room), limit)))

    def _said(self, message: Message) -> Said:
        author = message.author
        text = message.text[:LONGEST_SAID]
        return Said(message.id, author, self._name_of(author), text, is_bot=not author or author in self.agents)

    def _name_of(self, author: str) -> str:
        agent = self.agents.get(author)
        return agent.name if agent is not None else reading.person_name(self.db, author)

    def _interrupted(self) -> None:
        """Ends the messages that were growing when the last process ended; the gateway may complete them later."""
        for (id,) in self.db.execute("SELECT id FROM messages WHERE state = 'growing'").fetchall():
            kept = reading.message(self.db, id)
            assert kept is not None
            message = kept.message
            self.db.execute("UPDATE messages SET state = 'interrupted' WHERE id = ?", (id,))
            self._mark(kept, replace(message, stopped=False))  # the process ended, nobody stopped the agent
            self._record(
                lambda seq, message=message: Edited(seq, message.room, message.id, message.text), kept.audience, None
            )

    def _person_of(self, room: str) -> str | None:
        row = self.db.execute("SELECT person FROM rooms WHERE id = ?", (room,)).fetchone()
        return row[0] if row else None

    def _mark(self, kept: Kept, message: Message) -> None:
        if message != kept.message:
            self.db.execute("UPDATE messages SET details = ? WHERE id = ?", (details_of(message), message.id))
            marks = (message.room, message.id, message.outdated, message.stopped)
            self._record(lambda seq: Marked(seq, *marks), kept.audience, None)

    def _quoted(self, id: str | None, room: str, person: str | None) -> Quoted | None:
        kept = None if id is None else reading.message(self.db, id)
        if kept is None or kept.deleted or kept.message.room != room or kept.audience not in (None, person):
            return None
        words = " ".join(kept.message.text.split()) or ", ".join(file.name for file in kept.message.files)
        return Quoted(kept.message.id, kept.message.author, words[:200])
