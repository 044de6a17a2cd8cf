"""What the reader of agent output emits."""

from typing import Any, Literal

from msgspec import Struct


class Text(Struct, frozen=True):
    """A piece of visible text, emitted as soon as it is certain to be text."""

    text: str


class Directive(Struct, frozen=True):
    """A request of the agent besides its text. `args` contains validated values."""

    name: str
    args: dict[str, Any]
    body: str | None = None


class Problem(Struct, frozen=True):
    """Something in the output that was ignored, and why: for logs, traces and authors of agents."""

    code: str
    level: Literal["debug", "info", "warning"]
    detail: str


class Silent(Struct, frozen=True):
    """The last event of a reply that asks for silence: withdraw what was shown."""


ReplyEvent = Text | Directive | Problem | Silent
