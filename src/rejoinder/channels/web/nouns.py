"""What the frames of the chat are made of: who is there, where people talk, what was said.

Rule 1: a page can draw each of them without asking for more.
Rule 2: live frames and what `reading.py` reads back are made of the same records, so history looks as it looked live.
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
    """Who opened the page: by a login, or on this machine by the name that was typed."""

    id: str
    name: str


class Room(Struct, frozen=True, omit_defaults=True):
    """A place to talk. `direct` has one person and one agent; a `group` is open to every person."""

    id: str
    kind: Literal["direct", "group"]
    title: str
    agents: tuple[str, ...]
    """Ids of the agents in it; the first takes what names no agent, unless configured otherwise."""
    unread: int = 0
    """Messages of others after the person's read mark, threads included; only in `welcome`."""
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
    """Something uploaded. `url` is a path of this server and always downloads; images may be shown from it."""

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
    """A message as it stands now. `text` is Markdown and may hold anything: draw it, never trust it."""

    id: str
    room: str
    author: str
    """Id of a member; empty: the gateway itself speaks."""
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
    """What was heard in its voice note."""
    outdated: bool = False
    """What it answers was changed since."""
    stopped: bool = False
    """The agent was stopped, or interrupted by a further message, while it wrote."""
    note: bool = False
    """A line for the operator that nobody said: why something was not done, or that an agent chose silence."""
    gone: bool = False
    """It was deleted, and stays in its place without its words because a thread hangs under it."""


class Subagent(Struct, frozen=True, omit_defaults=True):
    """A run beside a conversation (TU-36)."""

    id: str
    name: str
    agent: str
    """Id of the agent that works."""
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
