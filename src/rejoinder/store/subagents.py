"""What is stored about sub-agents (TU-36): one row for each, and the verb that writes it."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import Route
from rejoinder.store.verbs import Verb

SubagentState = Literal["running", "ended", "failed", "killed"]


class KeptSubagent(Struct, frozen=True):
    """A run beside a conversation. `session`: its own; `parent`: that of who started it; `root`: the conversation's."""

    session: str
    parent: str
    root: str
    name: str
    agent: str
    task: str
    route: Route
    """Where the conversation is: its questions are asked there, and its end is told."""
    started: datetime
    key: str = ""
    """Under which it was asked for: asked for again under the same, it is the same."""
    depth: int = 1
    by_person: bool = False
    """A person started it by a command."""
    people: tuple[str, ...] = ()
    """Who may answer its questions."""
    lifts: bool = False
    """Everybody whose words led to it is an owner, so that a looser policy of the conversation holds for it, too."""
    state: SubagentState = "running"
    ended: datetime | None = None
    result: str = ""
    turn: int = 0
    """Its last turn."""
    told: bool = True
    """Whether its end has been told; while it runs, there is nothing to tell."""

    @property
    def is_running(self) -> bool:
        return self.state == "running"


class PutSubagent(Verb[None], frozen=True):
    """Stores a sub-agent as it is now."""

    subagent: KeptSubagent
