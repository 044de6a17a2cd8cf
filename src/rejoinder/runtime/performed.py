"""What a decision asks to be done, and what came of it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec import Struct

from rejoinder.inbound.message import Message
from rejoinder.runtime.conversations import Conversation
from rejoinder.session import Session
from rejoinder.store.base import InboxEvent, Verb


def _nothing() -> None:
    """Nothing is left to do."""


class Performed(Struct, frozen=True):
    """What is still to be written for it, what is so once that is done, and what it says in answer."""

    verbs: tuple[Verb[Any], ...] = ()
    then: Callable[[], None] = _nothing
    says: str | None = None
    tells: str | None = None
    """What the agent of this session hears of it in its next turn."""


class Asking(Struct, frozen=True):
    """A decision that asks for something to be done."""

    event: InboxEvent
    message: Message
    session: Session | None
    """As the decision leaves it; None where it was made before anybody looked for one."""
    conversation: Conversation
    agent: str
    """The one whose session it is about."""
    members: tuple[str, ...]
    """The agents that hear what is said here."""
    now: datetime
