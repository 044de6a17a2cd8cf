"""The rows of agents' questions (CH-10), and the verb that writes them."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import Question, Route
from rejoinder.store.verbs import Verb

QuestionState = Literal["open", "answered", "over"]


class StoredQuestion(Struct, frozen=True):
    """A question to people. `id`: the one in its buttons. `mark`: equal for questions that ask the same."""

    id: str
    turn: int
    session: str
    """The session of the run that asked."""
    mark: str
    question: Question
    route: Route
    people: tuple[str, ...]
    """Who may answer."""
    asked: datetime
    state: QuestionState = "open"
    answer: str | None = None
    """The chosen option, once it is answered; None means that nothing is allowed."""


class PutQuestion(Verb[None], frozen=True):
    """Stores a question in its present state."""

    question: StoredQuestion
