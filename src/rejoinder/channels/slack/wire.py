"""What we read of Slack's events, commands and presses: exactly these fields, whatever else comes."""

from typing import Any

from msgspec import Struct


class File(Struct, frozen=True):
    id: str
    name: str = ""
    title: str = ""
    mimetype: str = ""
    size: int | None = None
    url_private: str = ""
    url_private_download: str = ""
    mode: str = ""
    """`tombstone` or `hidden_by_limit`: there is nothing to load."""


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
    app_id: str = ""
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
    latest_reply: str = ""
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


class Event(Struct, frozen=True):
    """The outer frame of an event; what it is about is read by its type."""

    event: dict[str, Any] = {}
    event_id: str = ""
    event_time: float = 0.0
    type: str = "event_callback"
    team_id: str = ""
    challenge: str = ""


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
    team_id: str = ""


class Named(Struct, frozen=True):
    id: str = ""
    name: str = ""
    username: str = ""


class Option(Struct, frozen=True):
    value: str = ""


class Action(Struct, frozen=True):
    action_id: str = ""
    block_id: str = ""
    type: str = "button"
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
    """What Socket Mode sends."""

    type: str = ""
    envelope_id: str = ""
    payload: dict[str, Any] = {}
    retry_attempt: int = 0
    retry_reason: str = ""
    accepts_response_payload: bool = False
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
    """Of conversations.history and conversations.replies."""

    messages: tuple[Message, ...] = ()
    has_more: bool = False
    response_metadata: dict[str, Any] = {}

    @property
    def next(self) -> str:
        return str(self.response_metadata.get("next_cursor", ""))
