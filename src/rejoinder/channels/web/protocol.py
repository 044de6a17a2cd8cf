"""The frames between the chat page and the web channel: JSON texts on one WebSocket, distinguished by `type`.

Rule 1: a durable event has a sequence number `seq`. Numbers grow; not every number is sent to every browser.
Rule 2: a request carries an id made by the browser, `client`. The same id means the same request, for ever: a browser
        that is not sure whether a request arrived sends it again, and it is done once.
Rule 3: a browser keeps the highest `seq` it has seen and sends it in `hello`; the server replays what it missed.
Rule 4: a browser ignores an unknown `type` from the server, so that new ones can be added.

The frames are made of `nouns.py`; `docs/web-protocol.md` describes the same in prose.
"""

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from rejoinder.channels.web.nouns import Member, Message, Reaction, Room, RoomKind, Subagent, SubagentLine
from rejoinder.events import Choice
from rejoinder.unicode_repair import TOO_DEEP, repair_text

PROTOCOL = 1
"""Increased when an old page could not talk to a new server. A page that sees a different number reloads itself."""

Id = Annotated[str, Meta(min_length=1, max_length=128)]
Place = Annotated[int, Meta(ge=0, le=2**53)]
"""A `seq`; JavaScript counts no further."""
LONGEST_TEXT = 200_000
Words = Annotated[str, Meta(max_length=LONGEST_TEXT)]

# --- from the browser ---------------------------------------------------------------------------


class Hello(Struct, frozen=True, tag_field="type", tag="hello"):
    """The first frame of a browser."""

    protocol: int
    name: Annotated[str, Meta(max_length=40)] = ""
    """The person at the browser; empty: the owner, shown as "You". A different name is a different person. With a
    login, the login says who the person is, and this name is only the one that the owner is shown by."""
    seq: int | None = None
    """The highest `seq` seen; None: the browser keeps nothing and starts from the beginning."""
    journal: str = ""
    """The `journal` of the `welcome` that `seq` belongs to."""


class Say(Struct, frozen=True, tag_field="type", tag="say"):
    """Answered by `done` once it is durable, after the `message` frame that everybody gets."""

    client: Id
    room: Id
    text: Words = ""
    thread: Id | None = None
    """Id of a message outside threads; the first `say` with it begins the thread."""
    reply_to: Id | None = None
    files: Annotated[tuple[Id, ...], Meta(max_length=10)] = ()
    """Ids that `POST /files` gave."""


class Edit(Struct, frozen=True, tag_field="type", tag="edit"):
    """Changes the person's own message."""

    client: Id
    message: Id
    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT)]


class Delete(Struct, frozen=True, tag_field="type", tag="delete"):
    """Deletes the person's own message."""

    client: Id
    message: Id


class React(Struct, frozen=True, tag_field="type", tag="react"):
    client: Id
    message: Id
    emoji: Annotated[str, Meta(min_length=1, max_length=32)]
    remove: bool = False


class Press(Struct, frozen=True, tag_field="type", tag="press"):
    """A button was pressed; only the words of one of the message's `choices` are accepted."""

    client: Id
    message: Id
    says: Words


class Stop(Struct, frozen=True, tag_field="type", tag="stop"):
    """Stops the agent that is working there, like `/stop` but without a message; its growing message becomes
    `stopped`."""

    client: Id
    room: Id
    thread: Id | None = None


class MakeRoom(Struct, frozen=True, tag_field="type", tag="make_room"):
    client: Id
    title: Annotated[str, Meta(min_length=1, max_length=80)]
    agents: tuple[Id, ...] = ()
    """The agents in it; empty: all agents."""


class StillTyping(Struct, frozen=True, tag_field="type", tag="typing"):
    """Send it every three seconds while the person types. No answer."""

    room: Id
    thread: Id | None = None


class MarkRead(Struct, frozen=True, tag_field="type", tag="read"):
    """The person has seen everything in the room up to the message with this `seq`. No answer; marks never go back."""

    room: Id
    seq: Place


class AskHistory(Struct, frozen=True, tag_field="type", tag="history"):
    """Answered by `page`: the messages before, or around one (to jump to a quoted message)."""

    client: Id
    room: Id
    thread: Id | None = None
    before: Place | None = None
    """Only messages with a lower `seq`; None: the latest."""
    around: Id | None = None
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


class Search(Struct, frozen=True, tag_field="type", tag="search"):
    """Answered by `page`, the newest first. All words must occur; case does not matter."""

    client: Id
    query: Annotated[str, Meta(min_length=1, max_length=200)]
    room: Id | None = None
    before: Place | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 30


class AskSubagents(Struct, frozen=True, tag_field="type", tag="subagents"):
    """Answered by `subagents`: the runs beside this room, its threads included."""

    client: Id
    room: Id


class AskSubagentLog(Struct, frozen=True, tag_field="type", tag="subagent_log"):
    """Answered by `subagent_log`: what one of them was told, did and said."""

    client: Id
    room: Id
    subagent: Annotated[str, Meta(min_length=1, max_length=2000)]


class Ping(Struct, frozen=True, tag_field="type", tag="ping"):
    """Answered by `pong`; a page that has received nothing for long asks whether the connection is alive."""


FromBrowser = (
    Hello
    | Say
    | Edit
    | Delete
    | React
    | Press
    | Stop
    | MakeRoom
    | StillTyping
    | MarkRead
    | AskHistory
    | Search
    | AskSubagents
    | AskSubagentLog
    | Ping
)

# --- to the browser: once, and answers ----------------------------------------------------------


class Command(Struct, frozen=True, omit_defaults=True):
    """A slash command to complete."""

    name: str
    description: str
    aliases: tuple[str, ...] = ()
    """Other names of the command."""
    not_in: tuple[RoomKind, ...] = ()
    """The kinds of rooms where this person may not use it and would get no answer: there a page does not offer it."""


class Welcome(Struct, frozen=True, tag_field="type", tag="welcome"):
    """Answers `hello`. With `resumed` the missed events follow in order; without it the page forgets what it has
    and asks for the history of the room it shows."""

    protocol: int
    version: str
    journal: str
    seq: int
    """The last number in the journal; a page that was not resumed takes it as its highest `seq`."""
    resumed: bool
    me: Member
    agents: tuple[Member, ...]
    people: tuple[Member, ...]
    rooms: tuple[Room, ...]
    commands: tuple[Command, ...]
    growing: tuple[Message, ...]
    """Messages being written right now, with their text so far; with `resumed`, only those whose beginning it has
    seen."""
    upload_limit: int
    """Bytes of one file."""
    wake: str = "lead"
    """Which agents take a message in a room that names none: the first (`lead`), `all`, or none (`mentions`)."""
    known_by: Literal["name", "login"] = "name"
    """How the server knows who the person is: by a login, or only by the `name` in `hello`, which proves nothing."""


class Done(Struct, frozen=True, tag_field="type", tag="done", omit_defaults=True):
    """The request is durable."""

    client: str
    id: str = ""
    """The message it made or changed, or the room."""


class Refused(Struct, frozen=True, tag_field="type", tag="refused"):
    """The request was refused, and would be again. `client` is empty if none could be read."""

    client: str
    reason: str
    """A sentence for the person."""


class Page(Struct, frozen=True, tag_field="type", tag="page"):
    """Answers `history` (oldest first) and `search` (newest first)."""

    client: str
    messages: tuple[Message, ...]
    more: bool
    """There are more in the requested direction."""


class Subagents(Struct, frozen=True, tag_field="type", tag="subagents"):
    """Answers `subagents`, the latest first."""

    client: str
    room: str
    subagents: tuple[Subagent, ...]


class SubagentLog(Struct, frozen=True, tag_field="type", tag="subagent_log"):
    """Answers `subagent_log`, the oldest line first; the last one may still grow."""

    client: str
    subagent: str
    log: tuple[SubagentLine, ...]
    cut: bool = False
    """The beginning is left out."""


class Pong(Struct, frozen=True, tag_field="type", tag="pong"):
    """The connection is alive."""


# --- to the browser: what happened, numbered and kept -------------------------------------------


class RoomMade(Struct, frozen=True, tag_field="type", tag="room"):
    """A room is new or has changed."""

    seq: int
    room: Room


class PersonJoined(Struct, frozen=True, tag_field="type", tag="person"):
    """A person has opened the page for the first time."""

    seq: int
    person: Member


class Posted(Struct, frozen=True, tag_field="type", tag="message"):
    """A new message, including the person's own (recognised by its `client`)."""

    seq: int
    message: Message


class Edited(Struct, frozen=True, tag_field="type", tag="edited", omit_defaults=True):
    """The whole text as it is now; it replaces whatever the page had. A message that was growing is complete."""

    seq: int
    room: str
    message: str
    text: str
    edited: bool = False
    """Whether to show it as edited; false if a growing message was completed."""
    choices: tuple[Choice, ...] = ()


class Deleted(Struct, frozen=True, tag_field="type", tag="deleted", omit_defaults=True):
    seq: int
    room: str
    message: str
    stays: bool = False
    """The message stays in its place as `gone`, with only its thread."""


class Reacted(Struct, frozen=True, tag_field="type", tag="reacted"):
    """All reactions of a message, as they are now."""

    seq: int
    room: str
    message: str
    reactions: tuple[Reaction, ...]


class Marked(Struct, frozen=True, tag_field="type", tag="marked"):
    """A message of an agent is `outdated` or was `stopped`, or a voice note has a transcript; the fields are those of
    the message itself."""

    seq: int
    room: str
    message: str
    outdated: bool
    stopped: bool
    transcript: str = ""


class WasRead(Struct, frozen=True, tag_field="type", tag="read"):
    """The person's own read mark moved, perhaps in another browser."""

    seq: int
    room: str
    read: int


Happening = RoomMade | PersonJoined | Posted | Edited | Deleted | Reacted | Marked | WasRead

# --- to the browser: live, kept nowhere ---------------------------------------------------------


class Delta(Struct, frozen=True, tag_field="type", tag="delta"):
    """A growing message grew. `at` is the length before it, in UTF-16 units like a string's `length`: if it
    differs from what the page has, ask for the `history` around the message."""

    room: str
    message: str
    at: int
    text: str


class TypingNow(Struct, frozen=True, tag_field="type", tag="typing", omit_defaults=True):
    """Show it for six seconds, or until something from `who` comes in that place."""

    room: str
    who: str
    thread: str | None = None


class SubagentsChanged(Struct, frozen=True, tag_field="type", tag="subagents_changed"):
    """A run beside the room has begun or ended: ask for `subagents` again."""

    room: str


ToBrowser = (
    Welcome | Done | Refused | Page | Subagents | SubagentLog | Pong | Happening | Delta | TypingNow | SubagentsChanged
)

# --- how they are written -----------------------------------------------------------------------

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(FromBrowser)


def encode(frame: ToBrowser) -> bytes:
    return _encoder.encode(frame)


def decode(text: str | bytes) -> FromBrowser:
    """Raises msgspec.DecodeError (its ValidationError included) for what is not a frame."""
    try:
        return _decoder.decode(text)
    except msgspec.ValidationError:
        raise
    except RecursionError:
        raise msgspec.DecodeError(TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeError) as problem:
        repaired = _with_whole_letters(text)
        if repaired is None:
            raise msgspec.DecodeError(str(problem)) from None
        return _decoder.decode(repaired)


def _with_whole_letters(text: str | bytes) -> str | None:
    """Half an emoji is no reason to refuse what a person wrote; a browser sends it as `\\ud83d`."""
    try:
        return repair_text(json.dumps(json.loads(text), ensure_ascii=False))
    except (ValueError, RecursionError):
        return None


class _Address(Struct):
    client: Any | UnsetType = UNSET


def client_of(text: str | bytes) -> str:
    """The request id of a frame that is otherwise invalid, so that the browser can match the refusal."""
    try:
        found = msgspec.json.decode(text, type=_Address).client
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ""
    return found if isinstance(found, str) else ""
