"""The parts of Discord's payloads that we read; the rest is ignored.

Fields that Discord may leave out or send as null have a default, so that one odd message does not stop the others.
"""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

T = TypeVar("T")
Id = Annotated[str, Meta(pattern="^[0-9]{1,20}$")]
"""These ids are compared as numbers, and contain the time at which something was made."""

# Kinds of channels (https://docs.discord.com/developers/resources/channel).
TEXT, DIRECT, VOICE, GROUP_DIRECT, ANNOUNCEMENTS, STAGE, FORUM, MEDIA = 0, 1, 2, 3, 5, 13, 15, 16
THREADS = frozenset({10, 11, 12})
FORUMS = frozenset({FORUM, MEDIA})

# Kinds of messages that somebody wrote; all others are system notes.
SAID = frozenset({0, 19, 20, 23})
"""A message, a reply, an answer to a slash command, an answer to a context menu."""

FORWARDED = 1
"""The type of a reference that passes a message on."""

# Kinds of interactions.
COMMAND, COMPONENT, AUTOCOMPLETE = 2, 3, 4


class User(Struct, frozen=True):
    id: str
    username: str = ""
    global_name: str | None = None
    bot: bool | None = False


class Member(Struct, frozen=True):
    nick: str | None = None
    user: User | None = None


class File(Struct, frozen=True):
    id: str
    filename: str = ""
    content_type: str | None = None
    size: int | None = None
    url: str = ""
    duration_secs: float | None = None
    waveform: str | None = None
    """Set only for recordings made in Discord."""


class Name(Struct, frozen=True):
    name: str | None = ""


class Words(Struct, frozen=True):
    text: str | None = ""


class Field(Struct, frozen=True):
    name: str = ""
    value: str = ""


class Embed(Struct, frozen=True):
    type: str | None = "rich"
    title: str | None = None
    description: str | None = None
    url: str | None = None
    author: Name | None = None
    fields: list[Field] | None = None
    footer: Words | None = None


class Sticker(Struct, frozen=True):
    id: str
    name: str = ""


class Answer(Struct, frozen=True):
    poll_media: Words = Words()


class Poll(Struct, frozen=True):
    question: Words = Words()
    answers: list[Answer] = []


class Reference(Struct, frozen=True):
    type: int | None = 0
    message_id: str | None = None
    channel_id: str | None = None


class Snapshot(Struct, frozen=True):
    message: "Message"


class Message(Struct, frozen=True):
    id: str = ""
    channel_id: str = ""
    guild_id: str | None = None
    author: User | None = None
    member: Member | None = None
    content: str | None = ""
    timestamp: str | None = None
    edited_timestamp: str | None = None
    type: int | None = 0
    mention_everyone: bool | None = False
    mentions: list[User] | None = None
    mention_roles: list[str] | None = None
    attachments: list[File] | None = None
    embeds: list[Embed] | None = None
    sticker_items: list[Sticker] | None = None
    poll: Poll | None = None
    message_reference: Reference | None = None
    referenced_message: "Message | None" = None
    message_snapshots: list[Snapshot] | None = None
    webhook_id: str | None = None
    nonce: str | int | None = None

    @property
    def has_place(self) -> bool:
        """False only for a quoted or forwarded message, which may come without these two ids."""
        return self.id.isdecimal() and self.channel_id.isdecimal()


class Deleted(Struct, frozen=True):
    channel_id: Id
    id: str = ""
    ids: list[str] = []
    guild_id: str | None = None

    @property
    def all(self) -> tuple[str, ...]:
        return (self.id, *self.ids) if self.id else tuple(self.ids)


class Emoji(Struct, frozen=True):
    id: str | None = None
    name: str | None = ""
    animated: bool | None = False

    @property
    def written(self) -> str:
        """How a server's own emoji is written in a text."""
        return f"<{'a' if self.animated else ''}:{self.name}:{self.id}>"


class Reaction(Struct, frozen=True):
    user_id: Id
    channel_id: Id
    message_id: Id
    emoji: Emoji
    guild_id: str | None = None
    member: Member | None = None


class Option(Struct, frozen=True):
    name: str
    value: str | int | float | bool | None = None
    focused: bool = False


class Pressed(Struct, frozen=True):
    """What was chosen: a command with its options, or a button or an entry of a menu."""

    name: str = ""
    options: list[Option] | None = None
    custom_id: str = ""
    values: list[str] | None = None


class Interaction(Struct, frozen=True):
    id: Id
    token: str
    type: int
    application_id: str = ""
    channel_id: str | None = None
    guild_id: str | None = None
    user: User | None = None
    member: Member | None = None
    message: Message | None = None
    data: Pressed | None = None


class Tag(Struct, frozen=True):
    """A tag for the posts of a forum."""

    id: str
    name: str = ""
    moderated: bool | None = False
    """Whether only moderators may set it."""


class Channel(Struct, frozen=True):
    """A channel or a thread."""

    id: Id
    type: int = TEXT
    name: str | None = ""
    guild_id: str | None = None
    parent_id: str | None = None
    last_message_id: Id | None = None
    owner_id: str | None = None
    """Whoever opened the thread."""
    flags: int = 0
    available_tags: list[Tag] | None = None


class ActiveThreads(Struct, frozen=True):
    threads: list[Channel] = []


class Role(Struct, frozen=True):
    id: str
    tags: dict[str, Any] | None = None


class Guild(Struct, frozen=True):
    id: str
    name: str | None = ""
    unavailable: bool | None = False
    channels: list[Channel] | None = None
    threads: list[Channel] | None = None
    emojis: list[Emoji] | None = None
    roles: list[Role] | None = None
    premium_tier: int | None = None
    """The level to which its members have boosted it."""


class Ready(Struct, frozen=True):
    session_id: str
    resume_gateway_url: str = ""
    guilds: list[Guild] = []


def convert(payload: Any, type: type[T]) -> T | None:
    """None if it is not what Discord documents."""
    try:
        return msgspec.convert(payload, type, strict=False)
    except (msgspec.ValidationError, RecursionError):
        return None
