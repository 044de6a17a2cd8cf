"""The records that frames of the chat are made of: people, rooms and messages.

Rule 1: a page can draw each record without asking for more.
Rule 2: live frames and the history that `reading.py` reads use the same records, so both look the same.
"""

from typing import Literal

from msgspec import Struct

from rejoinder.events import Choice


class Avatar(Struct, frozen=True, omit_defaults=True):
    """How a member looks: `hue` in degrees, each theme chooses the shade; the emoji is preferred to the initials."""

    hue: int
    initials: str
    emoji: str = ""


class Member(Struct, frozen=True, omit_defaults=True):
    """A person or an agent. `@id` in a text mentions an agent."""

    id: str
    name: str
    face: Avatar
    agent: bool = False


class Person(Struct, frozen=True):
    """The person who opened the page: known by a login, or on this machine by the name that was typed."""

    id: str
    name: str


RoomKind = Literal["direct", "group"]


class Room(Struct, frozen=True, omit_defaults=True):
    """A place to talk. `direct` has one person and one agent; a `group` is open to every person."""

    id: str
    kind: RoomKind
    title: str
    agents: tuple[str, ...]
    """Ids of the agents in it; the first takes messages that name no agent, unless configured otherwise."""
    unread: int = 0
    """How many messages of others come after the person's read mark, including threads; only in `welcome`."""
    read: int = 0
    """The person's read mark, as the `seq` of the last message seen; only in `welcome`."""
    latest: "Message | None" = None
    """The last message outside threads; only in `welcome`."""


class Quoted(Struct, frozen=True, omit_defaults=True):
    """The message that another replies to: enough to draw the quoted line, and its id to jump to."""

    id: str
    author: str = ""
    text: str = ""
    """Its first words on one line; empty when it is gone."""


class File(Struct, frozen=True):
    """An uploaded file. `url` is a path of this server and always downloads; images may be shown from it."""

    id: str
    name: str
    mime: str
    size: int
    url: str


class Reaction(Struct, frozen=True):
    emoji: str
    who: tuple[str, ...]
    """Ids of the members who gave it, in order."""


class Thread(Struct, frozen=True):
    """The thread under the message that began it."""

    replies: int
    latest: int
    """When the last reply came, in milliseconds since 1970."""


class Message(Struct, frozen=True, omit_defaults=True):
    """A message as it is now. `text` is Markdown and may contain anything: draw it, never trust it."""

    id: str
    room: str
    author: str
    """Id of a member; empty if the gateway itself speaks."""
    at: int
    """Milliseconds since 1970."""
    seq: int
    """Its place in the room: the number of the event that posted it."""
    text: str
    thread: str | None = None
    """Id of the message that began its thread."""
    reply_to: Quoted | None = None
    files: tuple[File, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    choices: tuple[Choice, ...] = ()
    """Its buttons: pressing one sends a `press` with what it `says`."""
    under: Thread | None = None
    """The thread it began, if any."""
    client: str = ""
    """The `client` id of the `say` that made it."""
    only_for: str = ""
    """The one person who sees it."""
    edited: bool = False
    growing: bool = False
    """It is being written: `delta` frames follow, and an `edited` frame ends it."""
    silent: bool = False
    """No sound, no notification."""
    answers: str = ""
    """The message that an agent answers with it."""
    transcript: str = ""
    """The transcript of its voice note."""
    outdated: bool = False
    """The message that it answers was changed since."""
    stopped: bool = False
    """The agent was stopped, or interrupted by a further message, while it wrote."""
    note: bool = False
    """A line for the operator, not written by anybody: why something was not done, or that an agent chose silence."""
    gone: bool = False
    """It was deleted, but stays in its place without its words because it has a thread."""


class Subagent(Struct, frozen=True, omit_defaults=True):
    """A run beside a conversation (TU-36)."""

    id: str
    name: str
    agent: str
    """Id of the agent that is working."""
    state: Literal["running", "ended", "failed", "killed"]
    task: str
    started: int
    """Milliseconds since 1970."""
    ended: int | None = None
    of: str = ""
    """Id of the agent whose conversation it works for."""
    thread: str | None = None
    """The thread it works for."""
    parent: str = ""
    """Id of the sub-agent that started it; empty: the conversation did."""
    problem: str = ""
    """Why it failed."""


class SubagentLine(Struct, frozen=True):
    """One thing in the log of a sub-agent. `text` is untrusted; what was `said` is Markdown."""

    kind: Literal["told", "did", "said"]
    text: str
