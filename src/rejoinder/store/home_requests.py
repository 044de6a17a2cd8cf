"""Requests from one owner to another (SC-1, SC-12): rows in the home of the session concerned, and their verbs."""

from msgspec import Struct

from rejoinder.events import Route
from rejoinder.store.verbs import Verb


class TellSession(Struct, frozen=True, tag="tell"):
    """The agent is told this with its next turn."""

    event: str


class AnswerAgent(Struct, frozen=True, tag="answer"):
    """A person has answered a question of the session's agent. `pressed`: the message whose button was pressed."""

    question: str
    words: str
    route: Route
    sender: str
    pressed: str = ""


class StopWork(Struct, frozen=True, tag="stop"):
    """Stop everything that runs or waits for this place. `asked`: the event that requested it; anything that came later
    goes on."""

    route: Route
    asked: int | None = None


HomeRequest = TellSession | AnswerAgent | StopWork


class StoredHomeRequest(Struct, frozen=True):
    """`request`: None if it is damaged, so that nobody can read it."""

    id: int
    session: str
    request: HomeRequest | None


class AskHome(Verb[None], frozen=True):
    """Sends a request to the owner of this session's home, and wakes it."""

    session: str
    request: HomeRequest


class EndHomeRequest(Verb[None], frozen=True):
    """Removes a request, in the write of its effects."""

    id: int
