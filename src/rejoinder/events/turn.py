"""What an agent receives, and what it asks a person (TU-34)."""

from typing import Literal

from msgspec import Struct

from rejoinder.events.vocabulary import Strictness


class PromptText(Struct, frozen=True, tag="text"):
    text: str


class PromptImage(Struct, frozen=True, tag="image"):
    mime: str
    data: bytes


class PromptAudio(Struct, frozen=True, tag="audio"):
    """A recording, for agents that take audio. The agent gets it once; the history keeps only the text around it."""

    mime: str
    data: bytes


PromptPart = PromptText | PromptImage | PromptAudio


def without_sound(parts: tuple[PromptPart, ...]) -> tuple[PromptPart, ...]:
    """The part of a question that the history keeps: text and pictures, but no recordings."""
    for part in parts:
        if not isinstance(part, PromptText):
            return tuple([part for part in parts if not isinstance(part, PromptAudio)])
    return parts


class Turn(Struct, frozen=True):
    """One question to one agent, complete: an agent needs nothing else to answer it."""

    session: str
    parts: tuple[PromptPart, ...]
    system: str = ""
    model: str | None = None
    think: str | None = None
    permissions: Strictness | None = None
    """Set if this session is stricter than the agent's settings."""
    host: str | None = None
    """Where to run its commands (`/exec host=`): sandbox, gateway or node; for agents that declare that they obey
    it."""
    node: str | None = None
    """The node on which to run them (`/exec node=`)."""


Grant = Literal["once", "always", "no", ""]
"""What an option allows; empty if the question is not about permission."""


class Option(Struct, frozen=True):
    """One way to answer a Question: people see the label, the agent is told the id."""

    id: str
    label: str = ""
    grants: Grant = ""

    @property
    def shown_label(self) -> str:
        return self.label.strip() or self.id


class Question(Struct, frozen=True, tag="question"):
    """The agent waits for a person: `answer(id, option)` of CanAnswer goes back to it.

    Without options it asks for permission. A plain word is an option whose label is its id.
    """

    id: str
    text: str
    options: tuple[str | Option, ...] = ()
    about: str = ""
    """The full subject, such as the arguments of a tool. It is not shown, but two questions are the same only if it is
    the same (CH-10)."""

    @property
    def offered(self) -> tuple[Option, ...]:
        return tuple([Option(option) if isinstance(option, str) else option for option in self.options])
