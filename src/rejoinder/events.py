"""The nouns that cross borders: frozen values without behaviour."""

from typing import Any, Literal

from msgspec import Struct

# --- what the reader of agent output emits ------------------------------------------------------


class Text(Struct, frozen=True):
    """Visible text, in pieces as it becomes certain."""

    text: str


class Directive(Struct, frozen=True):
    """Something the agent asked for beside its text. `args` holds validated values."""

    name: str
    args: dict[str, Any]
    body: str | None = None


class Problem(Struct, frozen=True):
    """Something in the output that was not obeyed, and why: for logs, traces and agent authors."""

    code: str
    level: Literal["debug", "warning"]
    detail: str


class Silent(Struct, frozen=True):
    """Last event of a reply that asks for silence: withdraw what it has shown."""


ReplyEvent = Text | Directive | Problem | Silent

# --- where something is said --------------------------------------------------------------------


class Route(Struct, frozen=True):
    """One place of one platform: where a message came from and where its answer goes."""

    channel: str
    chat: str
    thread: str | None = None
    account: str = "default"


# --- what comes in (IN-1) -----------------------------------------------------------------------


class Sender(Struct, frozen=True):
    """Who wrote it. Only `id` is stable; names are what people call themselves today."""

    id: str
    name: str = ""
    display_name: str = ""
    phone: str | None = None
    address: str | None = None
    is_bot: bool = False
    is_self: bool = False


class Chat(Struct, frozen=True):
    id: str
    kind: Literal["direct", "group", "channel"] = "direct"
    title: str = ""


class Quote(Struct, frozen=True):
    """The message this one answers, as far as the platform tells."""

    message_id: str
    author_id: str | None = None
    author_name: str = ""
    text: str = ""


class Inbound(Struct, frozen=True):
    """One event of one platform, as it came."""

    channel: str
    event_id: str
    message_id: str
    chat: Chat
    sender: Sender
    text: str = ""
    account: str = "default"
    thread: str | None = None
    reply_to: Quote | None = None


# --- what an agent is given ---------------------------------------------------------------------


class PromptText(Struct, frozen=True, tag="text"):
    text: str


class PromptImage(Struct, frozen=True, tag="image"):
    mime: str
    data: bytes


PromptPart = PromptText | PromptImage


class Turn(Struct, frozen=True):
    """One question to one agent, complete: an agent needs nothing else to answer it."""

    session: str
    parts: tuple[PromptPart, ...]
    system: str = ""
    model: str | None = None
    think: str | None = None


# --- what is sent -------------------------------------------------------------------------------


class Part(Struct, frozen=True):
    """One platform message, ready to be sent."""

    route: Route
    text: str
    reply_to: str | None = None
    silent: bool = False
