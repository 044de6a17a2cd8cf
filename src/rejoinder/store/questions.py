"""What is stored about the questions of agents (CH-10): one row for each, and the verb that writes it."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import Question, Route
from rejoinder.store.verbs import Verb

QuestionState = Literal["open", "answered", "over"]


class StoredQuestion(Struct, frozen=True):
    """A question that was put to people. `id`: what its buttons carry; `mark`: equal for those that ask the same."""

    id: str
    turn: int
    session: str
    """Of the run that asked."""
    mark: str
    question: Question
    route: Route
    people: tuple[str, ...]
    """Who may answer."""
    asked: datetime
    state: QuestionState = "open"
    answer: str | None = None
    """The option that was chosen, once it is answered; None: nothing is allowed."""


class PutQuestion(Verb[None], frozen=True):
    """Stores a question as it is now."""

    question: StoredQuestion
