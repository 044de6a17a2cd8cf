"""The fields that we read of Slack's events, commands and presses; all others are ignored."""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

Read = TypeVar("Read", bound=Struct)
EXTRAS = frozenset({"attachments", "blocks", "bot_profile", "files", "metadata", "user_profile"})
"""Fields without which a message can still be read."""


class File(Struct, frozen=True):
    id: str
    name: str = ""
    title: str = ""
    mimetype: str = ""
    size: int | None = None
    url_private: str = ""
    url_private_download: str = ""
    subtype: str = ""
    """`slack_audio`: a clip that was recorded in Slack."""
    duration_ms: float | None = None
    mode: str = ""
    """If it is `tombstone` or `hidden_by_limit`, there is nothing to load."""


class Edited(Struct, frozen=True):
    user: str = ""
    ts: str = ""


class Profile(Struct, frozen=True):
    display_name: str = ""
    real_name: str = ""
    name: str = ""


class BotProfile(Struct, frozen=True):
    name: str = ""


class Metadata(Struct, frozen=True):
    event_type: str = ""
    event_payload: dict[str, Any] = {}


class Attached(Struct, frozen=True):
    """A quoted or shared message, or what another app attached."""

    fallback: str = ""
    text: str = ""
    title: str = ""
    author_name: str = ""
    author_id: str = ""
    is_share: bool = False
    is_msg_unfurl: bool = False
    from_url: str = ""


class Message(Struct, frozen=True):
    """A message, in an event or in history; in an event it names its channel."""

    ts: str = ""
    type: str = "message"
    subtype: str = ""
    channel: str = ""
    channel_type: str = ""
    user: str = ""
    bot_id: str = ""
    username: str = ""
    text: str = ""
    thread_ts: str = ""
    parent_user_id: str = ""
    hidden: bool = False
    edited: Edited | None = None
    files: tuple[File, ...] = ()
    attachments: tuple[Attached, ...] = ()
    blocks: tuple[dict[str, Any], ...] = ()
    user_profile: Profile | None = None
    bot_profile: BotProfile | None = None
    metadata: Metadata | None = None
    streaming_state: str = ""
    reply_count: int = 0
    # of message_changed and message_deleted
    message: "Message | None" = None
    previous_message: "Message | None" = None
    deleted_ts: str = ""
    event_ts: str = ""


class Item(Struct, frozen=True):
    type: str = ""
    channel: str = ""
    ts: str = ""


class Reaction(Struct, frozen=True):
    type: str
    user: str = ""
    reaction: str = ""
    item: Item = Item()
    event_ts: str = ""


class AssistantThread(Struct, frozen=True):
    user_id: str = ""
    channel_id: str = ""
    thread_ts: str = ""


class Assistant(Struct, frozen=True):
    type: str
    assistant_thread: AssistantThread = AssistantThread()
    event_ts: str = ""


class Authorization(Struct, frozen=True):
    """An installation of the app that an event is for."""

    user_id: str = ""
    is_bot: bool = False


class Event(Struct, frozen=True):
    """The outer frame of an event; its type says how the inner event is read."""

    event: dict[str, Any] = {}
    authorizations: tuple[Authorization, ...] = ()


class Command(Struct, frozen=True):
    """A slash command."""

    command: str
    user_id: str
    channel_id: str
    text: str = ""
    channel_name: str = ""
    user_name: str = ""
    response_url: str = ""
    trigger_id: str = ""


class Named(Struct, frozen=True):
    id: str = ""
    name: str = ""
    username: str = ""


class Option(Struct, frozen=True):
    value: str = ""


class Action(Struct, frozen=True):
    value: str = ""
    selected_option: Option | None = None
    action_ts: str = ""


class Container(Struct, frozen=True):
    message_ts: str = ""
    channel_id: str = ""
    thread_ts: str = ""
    is_ephemeral: bool = False


class Pressed(Struct, frozen=True):
    """A pressed button or a choice in a menu."""

    type: str
    user: Named = Named()
    channel: Named = Named()
    container: Container = Container()
    message: Message | None = None
    actions: tuple[Action, ...] = ()
    response_url: str = ""
    trigger_id: str = ""


class Envelope(Struct, frozen=True):
    """A frame of Socket Mode."""

    type: str = ""
    envelope_id: str = ""
    payload: dict[str, Any] = {}
    num_connections: int = 0
    reason: str = ""


class Person(Struct, frozen=True):
    """Of users.info."""

    id: str = ""
    name: str = ""
    real_name: str = ""
    is_bot: bool = False
    profile: Profile = Profile()


class History(Struct, frozen=True):
    """The answer of conversations.history and conversations.replies."""

    messages: tuple[Message, ...] = ()
    response_metadata: dict[str, Any] = {}

    @property
    def next(self) -> str:
        return str(self.response_metadata.get("next_cursor", ""))


def read(given: Any, kind: type[Read]) -> Read:
    """Reads it leniently: Slack writes null for missing values, and a strange attachment must not lose anybody's words.
    Raises ValidationError for what cannot be read at all."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError:
        pass
    try:
        return msgspec.convert(_without(given, frozenset()), kind)
    except msgspec.ValidationError:
        return msgspec.convert(_without(given, EXTRAS), kind)


def history(given: dict[str, Any]) -> History:
    """A page of history; messages that cannot be read are skipped."""
    messages: list[Message] = []
    for each in given.get("messages") or ():
        try:
            messages.append(read(each, Message))
        except msgspec.ValidationError:
            continue
    about = given.get("response_metadata")
    return History(tuple(messages), about if isinstance(about, dict) else {})  # type: ignore[reportUnknownArgumentType]


def _without(value: Any, names: frozenset[str]) -> Any:
    """The same value without nulls, and without fields of these names."""
    if isinstance(value, dict):
        items: list[tuple[str, Any]] = list(value.items())  # type: ignore[reportUnknownMemberType]
        return {name: _without(each, names) for name, each in items if each is not None and name not in names}
    if isinstance(value, list):
        every: list[Any] = list(value)  # type: ignore[reportUnknownArgumentType]
        return [_without(each, names) for each in every if each is not None]
    return value
