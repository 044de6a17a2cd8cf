"""The effects of directives, as values: a declaration names the effect, and delivery carries it out (OD-55).

A directive of another package may return any of these; its `act` does what they cannot express.
"""

from msgspec import Struct


class ReplyTo(Struct, frozen=True):
    """The answer is a native reply to this message: a handle, an id, `current`, or `none`."""

    message: str


class AddReaction(Struct, frozen=True):
    emoji: str
    message: str = "current"
    remove: bool = False


class SendText(Struct, frozen=True):
    """A message to another chat, of this channel unless another is named."""

    chat: str
    text: str
    channel: str | None = None
    thread: str | None = None


class SendFile(Struct, frozen=True, omit_defaults=True):
    """A file of the session's outbox folder, for this chat unless another is named."""

    path: str
    caption: str = ""
    kind: str | None = None
    cleanup: bool = False
    """Remove it from the folder once the channel has its copy."""
    channel: str | None = None
    chat: str | None = None


class HandOff(Struct, frozen=True):
    """Another agent of the room gets a turn with these words."""

    to: str
    words: str = ""


class Spawn(Struct, frozen=True):
    """A sub-agent works on this task beside the conversation."""

    agent: str
    task: str
    name: str = ""


class ShapeReply(Struct, frozen=True):
    """How the reply is shown; what is None stays as it is."""

    silent: bool | None = None
    previews: bool | None = None
    only_for_asker: bool | None = None
    title: str | None = None
    """The title of the thread that the reply opens."""
    as_voice: bool | None = None
    """Whether the reply is spoken and its audio sent as voice notes."""


class Speak(Struct, frozen=True):
    """A voice note with these words."""

    text: str


Effect = ReplyTo | AddReaction | SendText | SendFile | HandOff | Spawn | ShapeReply | Speak
