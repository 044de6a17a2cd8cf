"""The parts of Telegram's own objects that we read; fields that we do not use are ignored.

Optional fields are absent, not null, as in the Bot API.
"""

from typing import Annotated

from msgspec import Meta, Raw, Struct, field

Seconds = Annotated[int, Meta(ge=0, le=0xFFFF_FFFF)]
"""Since 1970."""


class User(Struct, frozen=True):
    id: int
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""
    can_read_all_group_messages: bool = False  # only for the bot itself


class Chat(Struct, frozen=True):
    id: int
    type: str = "private"
    title: str = ""
    username: str = ""
    first_name: str = ""
    last_name: str = ""


class Entity(Struct, frozen=True):
    """Offset and length are counted in UTF-16 units."""

    type: str
    offset: int
    length: int
    user: User | None = None


class Origin(Struct, frozen=True):
    """The original author of a message: a user, a hidden user, a chat or a channel."""

    sender_user: User | None = None
    sender_user_name: str = ""
    sender_chat: Chat | None = None
    chat: Chat | None = None
    author_signature: str = ""


class TextQuote(Struct, frozen=True):
    text: str = ""


class ExternalReply(Struct, frozen=True):
    """A message of another chat or topic that this one replies to; its text comes only as a quote."""

    origin: Origin
    chat: Chat | None = None
    message_id: int | None = None


class File(Struct, frozen=True):
    """A photo size, document, audio, voice, video, video note, animation or sticker."""

    file_id: str
    file_unique_id: str = ""
    file_name: str = ""
    mime_type: str = ""
    file_size: int | None = None
    duration: float | None = None
    """Its length in seconds."""
    emoji: str = ""
    is_animated: bool = False
    is_video: bool = False


class Location(Struct, frozen=True):
    latitude: float
    longitude: float


class Venue(Struct, frozen=True):
    location: Location
    title: str = ""
    address: str = ""


class Contact(Struct, frozen=True):
    phone_number: str
    first_name: str = ""
    last_name: str = ""


class PollOption(Struct, frozen=True):
    text: str = ""


class Poll(Struct, frozen=True):
    question: str = ""
    options: tuple[PollOption, ...] = ()


class Dice(Struct, frozen=True):
    emoji: str = ""
    value: int = 0


class Topic(Struct, frozen=True):
    name: str = ""


class Message(Struct, frozen=True):
    message_id: int
    chat: Chat
    date: Seconds = 0
    message_thread_id: int | None = None
    is_topic_message: bool = False
    from_: User | None = field(default=None, name="from")
    sender_chat: Chat | None = None
    author_signature: str = ""
    via_bot: User | None = None
    forward_origin: Origin | None = None
    reply_to_message: "Message | None" = None
    external_reply: ExternalReply | None = None
    quote: TextQuote | None = None
    edit_date: Seconds | None = None
    media_group_id: str = ""
    text: str = ""
    entities: tuple[Entity, ...] = ()
    caption: str = ""
    caption_entities: tuple[Entity, ...] = ()
    photo: tuple[File, ...] = ()
    document: File | None = None
    audio: File | None = None
    voice: File | None = None
    video: File | None = None
    video_note: File | None = None
    animation: File | None = None
    sticker: File | None = None
    location: Location | None = None
    venue: Venue | None = None
    contact: Contact | None = None
    poll: Poll | None = None
    dice: Dice | None = None
    forum_topic_created: Topic | None = None
    migrate_to_chat_id: int | None = None
    migrate_from_chat_id: int | None = None


class ReactionType(Struct, frozen=True):
    """The emoji is empty unless it is a standard one."""

    emoji: str = ""


class ReactionUpdated(Struct, frozen=True):
    chat: Chat
    message_id: int
    date: Seconds
    old_reaction: tuple[ReactionType, ...] = ()
    new_reaction: tuple[ReactionType, ...] = ()
    user: User | None = None
    actor_chat: Chat | None = None


class CallbackQuery(Struct, frozen=True):
    id: str
    from_: User = field(name="from")
    message: Message | None = None
    data: str = ""


class Update(Struct, frozen=True):
    update_id: int
    message: Message | None = None
    edited_message: Message | None = None
    channel_post: Message | None = None
    edited_channel_post: Message | None = None
    message_reaction: ReactionUpdated | None = None
    callback_query: CallbackQuery | None = None


UPDATES = tuple(name for name in Update.__struct_fields__ if name != "update_id")
"""The updates that we request: exactly those that we read. Telegram sends reactions only if they are named here."""


class ResponseParameters(Struct, frozen=True):
    retry_after: int | None = None
    migrate_to_chat_id: int | None = None


class Response(Struct, frozen=True):
    """The envelope of every answer of the Bot API."""

    ok: bool
    result: Raw = Raw(b"null")
    error_code: int = 0
    description: str = ""
    parameters: ResponseParameters = ResponseParameters()


class Stored(Struct, frozen=True):
    """The path of a file, valid for at least an hour; empty if it cannot be loaded."""

    file_path: str = ""


class Sent(Struct, frozen=True):
    """The fields that we read of a message that Telegram accepted."""

    message_id: int
