"""What comes in (IN-1), and where it is said."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events.vocabulary import ChatKind, FileKind


class Route(Struct, frozen=True):
    """One place of one platform: where a message came from and where its answer goes."""

    channel: str
    chat: str
    thread: str | None = None
    account: str = "default"


class Sender(Struct, frozen=True, omit_defaults=True):
    """Who wrote it. Only `id` is stable; names are what people call themselves today."""

    id: str
    name: str = ""
    display_name: str = ""
    phone: str | None = None
    address: str | None = None
    is_bot: bool = False
    is_self: bool = False

    @property
    def shown_name(self) -> str:
        """The name people see; empty if the platform gives none."""
        return self.display_name or self.name


class Chat(Struct, frozen=True, omit_defaults=True):
    id: str
    kind: ChatKind = "direct"
    title: str = ""
    agents: tuple[str, ...] = ()
    """Our agents in this chat; empty: all of the channel's."""
    former: str = ""
    """Its id before the platform changed it; settings and sessions still use this one."""


class Mention(Struct, frozen=True):
    """A mention made by the platform's own means; `token` is how it is written in the text, if it is."""

    id: str
    kind: Literal["user", "role", "everyone"] = "user"
    token: str = ""


class Quote(Struct, frozen=True):
    """The message that this one replies to, as far as the platform says."""

    message_id: str
    author_id: str | None = None
    author_name: str = ""
    text: str = ""
    elsewhere: bool = False
    """Whether it is a message of another chat."""
    files: tuple["Attachment", ...] = ()
    """Files that the agent may not have received yet: in a group not every message is for it."""


class Forward(Struct, frozen=True):
    """Another person's forwarded words: text, or the caption of forwarded media."""

    text: str = ""
    author_name: str = ""


class Attachment(Struct, frozen=True):
    """A file of a message. `mime` is never empty once the message is finalised (IN-5)."""

    id: str
    name: str = ""
    mime: str = ""
    size: int | None = None
    url: str | None = None
    content: bytes | None = None  # once it has been read
    described: str | None = None  # a picture in words, for agents that cannot see it
    kind: FileKind | None = None
    """How it is shown; None if the platform does not say."""
    seconds: float | None = None  # how long it plays, according to the platform
    waveform: bytes = b""  # up to a hundred levels of a voice note of ours, for platforms that draw them
    heard: str | None = None  # the words in it, once it has been listened to (ME-1)
    unheard: str | None = None  # why it could not be heard
    words: str | None = None  # the text of a document, once it has been read (ME-11)
    note: str | None = None  # what these words are, or why there are none


class EarlierMessage(Struct, frozen=True):
    """An earlier message of the same place: who said what, and how to point to it."""

    message_id: str
    author_id: str
    author_name: str = ""
    text: str = ""
    handle: str = ""
    is_bot: bool = False


class LinkedPage(Struct, frozen=True, omit_defaults=True):
    """A page that a message links to, as it was read: its author's words, not the sender's."""

    address: str
    title: str = ""
    text: str = ""
    unread: str | None = None
    """Why it could not be read."""


Entry = Literal["text", "native", "button", "reaction", "edit", "delete", "http", "cron"]


class NewThread(Struct, frozen=True, omit_defaults=True):
    """A thread that an answer opens (CH-2). The platform derives its id from the message under which it hangs."""

    thread: str
    title: str = ""


class ReplyContext(Struct, frozen=True, omit_defaults=True):
    """What is needed for the platform's own way to answer an event (CH-3): the token of an interaction, or a response
    address. After `expires` the answer is sent like any message."""

    token: str
    expires: datetime
    private: bool = False
    """Whether an answer sent with it can be shown to that one person alone."""
    data: dict[str, str] = {}
    """Anything else the channel needs to answer."""


class Invoked(Struct, frozen=True, omit_defaults=True):
    """A command chosen from the platform's own menu, with its options by name (CH-9)."""

    name: str
    options: dict[str, str] = {}


class Inbound(Struct, frozen=True, omit_defaults=True):
    """One event of one platform, as received.

    `text` is the body as typed. A channel that wraps or rewrites it puts the other versions into `raw_text`,
    `command_text` or `agent_text`; None means there is no such version, while an empty string is a value.
    """

    channel: str
    event_id: str
    message_id: str
    chat: Chat
    sender: Sender
    text: str = ""
    account: str = "default"
    thread: str | None = None
    entry: Entry = "text"
    raw_text: str | None = None
    command_text: str | None = None
    agent_text: str | None = None
    transcript: str | None = None
    thread_starter: EarlierMessage | str | None = None
    """The message its thread hangs under; a string if the platform gives only its words."""
    thread_history: tuple[EarlierMessage, ...] = ()
    """What was said in its thread before it, if the platform includes that."""
    untrusted_context: tuple[str, ...] = ()
    participants: tuple[str, ...] = ()
    reply_to: Quote | None = None
    former_text: str | None = None
    """For an edit: the previous text, from the platform or else from the gateway's own index."""
    forwarded: Forward | None = None
    mentions: tuple[Mention, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    sent_at: datetime | None = None
    thread_is_session: bool = False
    """Whether it is in a thread of a direct chat that is a conversation of its own, as with an assistant (CH-32)."""
    opens: NewThread | None = None
    """The thread that an agent's answer opens and in which the answer appears (CH-2). `thread` stays empty, because the
    message itself is in the chat."""
    reply_context: ReplyContext | None = None
    invoked: Invoked | None = None
    """For the entry `native`: the command that was chosen."""
    addressee: str = ""
    """The agent of ours that it is for, if a program names one (IN-8)."""
    peer: str = ""
    """The person whose direct chat it is, if the sender is a program and not that person."""
    unseen: bool = False
    """Whether it is not shown in the chat, because a program gave it only to the gateway."""
    understood: bool = False
    """Whether its voice notes have been transcribed and its links read, so that neither is done again. The results are
    in `transcript`, `pages` and the attachments."""
    pages: tuple[LinkedPage, ...] = ()
    """The pages its text links to."""
    own_id: str = ""
    own_name: str = ""
    """The bot's id and name when the message came: the process that continues with it may not have logged in yet
    (IN-20)."""

    @property
    def besides_text(self) -> str:
        """Its contents besides the text: somebody else's words, a poll, the card of another bot."""
        passed_on = self.forwarded.text if self.forwarded is not None else ""
        return "\n".join(filter(None, (passed_on, *self.untrusted_context)))

    @property
    def summary(self) -> str:
        """One line for lists and explanations: its text or, if it has none, the names of its files."""
        return self.text or ", ".join(each.name or each.kind or "file" for each in self.attachments)

    @property
    def route(self) -> Route:
        """Where it was said, and where its answer goes."""
        return Route(self.channel, self.chat.id, self.thread, self.account)

    @property
    def opened_thread(self) -> NewThread | None:
        """The thread that its answer opens, once the decision has put the message into it (CH-2)."""
        return self.opens if self.opens is not None and self.opens.thread == self.thread else None

    @property
    def own_route(self) -> Route:
        """The place that shows the message itself. This is the chat, if its answer opens the thread under it."""
        return Route(self.channel, self.chat.id, None if self.opened_thread else self.thread, self.account)
