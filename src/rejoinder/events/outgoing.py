"""What is sent."""

from typing import Literal

from msgspec import Struct

from rejoinder.events.inbound import Attachment, NewThread, ReplyContext, Route


class Reply(Struct, frozen=True):
    """One message of the bot, for a caller without a channel."""

    text: str
    reply_to: str | None = None
    silent: bool = False
    is_error: bool = False
    """Whether it says that there is no answer, and why."""
    media: tuple[Attachment, ...] = ()
    """The files that come with it, each with its content."""


EntityType = Literal["bold", "italic", "strikethrough", "code", "pre", "text_link", "blockquote"]


class Entity(Struct, frozen=True, omit_defaults=True):
    """A stretch of a text with a format, counted in UTF-16 units, in the words of Telegram."""

    type: EntityType
    offset: int
    length: int
    url: str = ""
    language: str = ""


class Rendering(Struct, frozen=True):
    """A text in a platform's own format."""

    text: str
    entities: tuple[Entity, ...] = ()
    html: str = ""
    """The same text as HTML, where the platform takes that besides the plain text."""


class Choice(Struct, frozen=True):
    """A button under a message: its label, and the text that pressing it sends in the person's name."""

    label: str
    says: str


class Part(Struct, frozen=True, omit_defaults=True):
    """One platform message, ready to be sent: these bytes and no others are sent under its key (DU-4)."""

    route: Route
    text: str
    """As people see it."""
    reply_to: str | None = None
    silent: bool = False
    key: str = ""
    entities: tuple[Entity, ...] = ()
    html: str = ""
    author: str = ""
    """The agent that says it; empty: the gateway itself."""
    addressed: tuple[str, ...] = ()
    """Whom a mention in it may ping (DE-34): ids, and `@name` for people mentioned by name."""
    previews: bool = False
    """Links may be fetched and shown."""
    only_for: str | None = None
    """The one person who sees it."""
    choices: tuple[Choice, ...] = ()
    files: tuple[Attachment, ...] = ()
    """Shown with it; they are in the store already, under these ids."""
    is_error: bool = False
    """Whether it says that there is no answer, and why."""
    answers: str = ""
    """The message that an agent's turn is about, if there is one."""
    opens: NewThread | None = None
    """This part opens the thread of `route` if that does not exist yet; the answer "already
    created" is no failure."""
    title: str = ""
    """The title that the agent wants for its thread; empty: none."""
    reply_context: ReplyContext | None = None
    """The platform's own way to answer; None: there is none, or it has expired."""
