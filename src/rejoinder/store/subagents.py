"""The rows of sub-agents (TU-36), and the verb that writes them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import PromptText, Route
from rejoinder.store.rows import TranscriptEntry
from rejoinder.store.verbs import Verb

SubagentState = Literal["running", "ended", "failed", "killed"]


class StoredSubagent(Struct, frozen=True):
    """A sub-agent. `session`: its own session. `parent`: the session that started it. `root`: the session of its
    conversation."""

    session: str
    parent: str
    root: str
    name: str
    agent: str
    task: str
    route: Route
    """The place of the conversation, where its questions are asked and its end is reported."""
    started: datetime
    key: str = ""
    """The key of the request; a request with the same key means the same sub-agent."""
    depth: int = 1
    by_person: bool = False
    """Whether a person started it by a command."""
    people: tuple[str, ...] = ()
    """Who may answer its questions."""
    lifts: bool = False
    """Whether everybody whose words led to it is an owner, so that a looser policy of the conversation applies to it,
    too."""
    state: SubagentState = "running"
    ended: datetime | None = None
    result: str = ""
    turn: int = 0
    """Its last turn."""
    lines: tuple[str, ...] = ()
    """What it did in that turn besides writing."""
    told: bool = True
    """Whether its end has been reported; True while it runs, as there is nothing to report."""

    @property
    def is_running(self) -> bool:
        return self.state == "running"


class PutSubagent(Verb[None], frozen=True):
    """Stores a sub-agent in its present state."""

    subagent: StoredSubagent


class WriteOffSubagent(Verb[None], frozen=True):
    """Marks a sub-agent as failed, with nothing to report: its row cannot be read, and stays as it is."""

    session: str


class LogLine(Struct, frozen=True):
    """One line in the log of a sub-agent: what it received, did or said."""

    kind: Literal["told", "did", "said"]
    text: str

    @property
    def plain(self) -> str:
        """The line as text, with a mark for the speaker."""
        return {"told": "> ", "did": "", "said": "< "}[self.kind] + self.text


def log_of(
    kept: StoredSubagent, entries: Sequence[TranscriptEntry], doing: Sequence[str] = (), saying: str = ""
) -> list[LogLine]:
    """The log of a sub-agent, the oldest line first. `doing` and `saying`: what it has done and said so far in the
    running turn. What it did in its last turn precedes what it said in it."""
    log = [LogLine("told" if entry.role == "user" else "said", words_of(entry)) for entry in entries]
    if kept.is_running:
        log += [*(LogLine("did", line) for line in doing), LogLine("said", saying)]
    else:
        last = len(log) - 1 if log and log[-1].kind == "said" else len(log)
        log[last:last] = [LogLine("did", line) for line in kept.lines]
    return [line for line in log if line.text]


def words_of(entry: TranscriptEntry) -> str:
    return "\n".join(part.text for part in entry.parts if isinstance(part, PromptText)).strip()
