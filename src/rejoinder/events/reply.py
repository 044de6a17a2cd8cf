"""What the reader of agent output emits."""

from typing import Any, Literal

from msgspec import Struct


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
    level: Literal["debug", "info", "warning"]
    detail: str


class Silent(Struct, frozen=True):
    """Last event of a reply that asks for silence: withdraw what it has shown."""


ReplyEvent = Text | Directive | Problem | Silent
