"""What the gateway does in the rooms: posts, completes, deletes and marks messages, and reacts to them."""

from collections.abc import Callable, Collection

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.blobs import Blob, Blobs
from rejoinder.channels.base import OutgoingFile
from rejoinder.channels.web import reading
from rejoinder.channels.web.avatars import OWNER, person_id
from rejoinder.channels.web.nouns import File, Member, Message, Reaction, Room
from rejoinder.channels.web.protocol import Deleted, Edited, Marked, Reacted
from rejoinder.channels.web.reading import LoggedMessage
from rejoinder.channels.web.records import BrowserEvent, NewEvent, Records, digest, new_id, retry_on_conflict
from rejoinder.events import Choice, EarlierMessage, Part
from rejoinder.filetypes import BYTES
from rejoinder.room_log import RoomEntry, RoomLog


class SentMessage(Struct, frozen=True):
    """One of our messages, and whether it still grows."""

    message: Message
    audience: str | None
    growing: bool


class NoTarget(Exception):
    """The message that a part replies to does not exist: nothing was written."""


def no_such_room(id: str) -> str:
    return f"there is no room {id}; the id of a room is the end of its address, after the #"


def can_be_direct_chat(id: str, agents: Collection[str]) -> bool:
    """Whether it is the direct chat of a person with one of the agents, though it may not have been opened yet."""
    agent, _, person = id.partition("~")
    return agent in agents and (person == OWNER or person == person_id(person, agents))


def file_of(blob: Blob) -> File:
    return File(blob.id, blob.name, blob.mime, blob.size, f"/files/{blob.id}")


def shown_file(file: OutgoingFile) -> File:
    """A picture that is sent as a document is not displayed as a picture."""
    mime = BYTES if file.kind == "document" and file.mime.startswith("image/") else file.mime
    return File(file.id, file.name, mime, file.size, f"/files/{file.id}")


class Answers(Records):
    def __init__(
        self,
        log: RoomLog,
        blobs: Blobs,
        channel: str,
        agents: tuple[Member, ...],
        now: Callable[[], int],
        tell: Callable[[BrowserEvent], None],
    ) -> None:
        super().__init__(log, channel, agents, now, tell)
        self.blobs = blobs

    async def _files(self, ids: tuple[str, ...]) -> tuple[File, ...]:
        """Those that are there."""
        found = [await self.blobs.find(id) for id in ids]
        return tuple(file_of(blob) for blob in found if blob is not None)

    @retry_on_conflict
    async def send(
        self,
        part: Part,
        files: tuple[File, ...] = (),
        *,
        growing: bool,
        begun: Callable[[SentMessage], None] = lambda _: None,
    ) -> SentMessage | None:
        """The message of this part, made now or before; None if there is no such room. Raises `NoTarget`.

        `begun`: called before anybody is told of a message that grows.
        """
        if part.key and (entry := await self.log.entry_under(part.key)) is not None:
            sent = SentMessage(reading.kept(entry).message, entry.audience, growing and entry.state == "growing")
            if sent.growing:
                begun(sent)
            return sent
        room = await reading.room(self.log, part.route.chat) or await self._room_of_nobody_yet(part.route.chat)
        if room is None:
            return None
        person = part.only_for or reading.person_of(room)
        quoted = await self._quoted(part.reply_to, room.id, person)
        if part.reply_to is not None and quoted is None:
            raise NoTarget
        message = Message(
            id=f"w{digest(part.key)}" if part.key else new_id(),
            room=room.id,
            author=part.author,
            at=self._now(),
            seq=0,
            text=part.text,
            thread=part.route.thread,
            reply_to=quoted,
            files=files,
            choices=part.choices,
            only_for=part.only_for or "",
            silent=part.silent,
            answers=part.answers,
            growing=growing,
        )
        state = "growing" if growing else "whole"
        sent = SentMessage(message, person, growing)

        def then(seq: int) -> None:
            if growing:
                begun(replace(sent, message=replace(message, seq=seq)))

        await self._post(message, room, key=part.key or None, state=state, is_heard=not growing, then=then)
        return sent

    async def _room_of_nobody_yet(self, id: str) -> Room | None:
        """The direct chat of a person who has not opened the page yet, and will find it when they do."""
        if not can_be_direct_chat(id, self.agents):
            return None
        agent, _, person = id.partition("~")
        room = self._direct_chat(self.agents[agent], person)
        await self._record(self._room_made(room))
        return room

    @staticmethod
    def _direct_chat(agent: Member, person: str) -> Room:
        return Room(f"{agent.id}~{person}", "direct", agent.name, (agent.id,))

    @retry_on_conflict
    async def complete(
        self, id: str, text: str, choices: tuple[Choice, ...] | None, then: Callable[[], None] = lambda: None
    ) -> bool:
        """Sets the whole text of one of our messages, if it is not so already. False if there is no such message."""
        kept = await reading.message(self.log, id)
        if kept is None:
            return False
        wanted = kept.message.choices if choices is None else choices
        grew = kept.entry.state != "whole"
        if not grew and text == kept.message.text and wanted == kept.message.choices:
            then()
            return True
        message, happened = self._edited(kept, text, wanted, edited=not grew and text != kept.message.text)
        room = await reading.room(self.log, message.room)
        heard = None
        if grew and room is not None and self._concerns(message, room):
            heard = await self._heard(message, room, "text")
        await self._record(happened, heard=heard, then=lambda _: then())
        return True

    @retry_on_conflict
    async def delete(self, id: str, then: Callable[[], None] = lambda: None) -> bool:
        entry = await self.log.entry(id)
        if entry is None:
            return False
        kept = reading.kept(entry)
        if entry.state == "deleted" or kept.message.gone:
            then()
            return True
        await self._record(await self._deleted(kept), then=lambda _: then())
        return True

    async def _deleted(self, kept: LoggedMessage) -> NewEvent:
        """A message with a thread under it stays in its place without its words: nothing else leads to the thread."""
        was = kept.message
        stays = bool(await self.log.replies((was.id,), kept.entry.audience or ""))
        nothing = Message(was.id, was.room, was.author, was.at, 0, "", was.thread, gone=stays)
        return self._changed(kept, nothing, Deleted(0, was.room, was.id, stays), "whole" if stays else "deleted")

    @retry_on_conflict
    async def react_ours(self, id: str, who: str, emoji: str, remove: bool) -> bool:
        kept = await reading.message(self.log, id)
        if kept is None:
            return False
        if (happened := self._reacted(kept, who, emoji, remove)) is not None:
            await self._record(happened)
        return True

    def _reacted(self, kept: LoggedMessage, who: str, emoji: str, remove: bool) -> NewEvent | None:
        given = {each.emoji: each.who for each in kept.message.reactions}
        before = given.get(emoji, ())
        if (who in before) != remove:
            return None
        given[emoji] = tuple(each for each in before if each != who) if remove else (*before, who)
        reactions = tuple(Reaction(each, by) for each, by in given.items() if by)
        message = replace(kept.message, reactions=reactions)
        return self._changed(kept, message, Reacted(0, message.room, message.id, reactions), kept.entry.state)

    async def note(self, room_id: str, thread: str | None, text: str) -> None:
        room = await reading.room(self.log, room_id)
        if room is not None:
            said = Message(new_id(), room_id, "", self._now(), 0, text, thread, only_for=OWNER, silent=True, note=True)
            await self._post(said, room, is_heard=False)

    @retry_on_conflict
    async def was_heard(self, message: str, words: str) -> None:
        """What was heard in a person's voice note."""
        kept = await reading.message(self.log, message)
        if kept is not None:
            await self._record(*self._marked(kept, replace(kept.message, transcript=words)))

    @retry_on_conflict
    async def was_stopped(self, message: str, agent: str) -> None:
        """The agent was stopped while it answered this message."""
        kept = await reading.message(self.log, message)
        for answer in [] if kept is None else await reading.answers_to(self.log, kept.message):
            if answer.message.author == agent and not answer.message.outdated:
                await self._record(*self._marked(answer, replace(answer.message, stopped=True)))

    async def thread_before(self, room: str, thread: str, id: str, limit: int) -> tuple[EarlierMessage, ...]:
        """The latest messages of a thread before this one, those for one person alone left out."""
        here = await reading.room(self.log, room)
        found = () if here is None else await reading.thread_before(self.log, here, thread, id, limit)
        return tuple([await self._said(message) for message in found])

    async def end_abandoned_messages(self, left: tuple[RoomEntry, ...]) -> None:
        """Ends the messages that the last owner of their rooms left growing; the gateway may complete them later."""
        for entry in left:
            await self._end_growing(entry.id)

    @retry_on_conflict
    async def _end_growing(self, id: str) -> None:
        """Reads it again each time: its last owner may have completed it just now."""
        kept = await reading.message(self.log, id)
        if kept is None or kept.entry.state != "growing":
            return
        message = replace(kept.message, stopped=False, growing=False)  # nobody stopped the agent
        ended = self._changed(kept, message, Edited(0, message.room, message.id, message.text), "interrupted")
        unmarked = Marked(0, message.room, message.id, message.outdated, stopped=False, transcript=message.transcript)
        also = (NewEvent(unmarked, kept.entry.audience),) if kept.message.stopped else ()
        await self._record(ended, *also)
