"""What is stored about sub-agents (TU-36): one row for each, and the verb that writes it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import PromptText, Route
from rejoinder.store.rows import TranscriptEntry
from rejoinder.store.verbs import Verb

SubagentState = Literal["running", "ended", "failed", "killed"]


class StoredSubagent(Struct, frozen=True):
    """A sub-agent. `session`: its own; `parent`: that of who started it; `root`: the conversation's."""

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
    lines: tuple[str, ...] = ()
    """What it did in that turn, beside its words."""
    told: bool = True
    """Whether its end has been told; while it runs, there is nothing to tell."""

    @property
    def is_running(self) -> bool:
        return self.state == "running"


class PutSubagent(Verb[None], frozen=True):
    """Stores a sub-agent as it is now."""

    subagent: StoredSubagent


class WriteOffSubagent(Verb[None], frozen=True):
    """It has failed, and there is nothing to tell: what is stored of it cannot be read, and stays as it is."""

    session: str


class LogLine(Struct, frozen=True):
    """One thing in the log of a sub-agent: what it was told, did or said."""

    kind: Literal["told", "did", "said"]
    text: str

    @property
    def plain(self) -> str:
        """As one line of text, with a mark for who spoke."""
        return {"told": "> ", "did": "", "said": "< "}[self.kind] + self.text


def log_of(
    kept: StoredSubagent, entries: Sequence[TranscriptEntry], doing: Sequence[str] = (), saying: str = ""
) -> list[LogLine]:
    """Its log, the oldest first. `doing` and `saying`: what it has done and said so far in the turn that runs; what it
    did in its last turn stands before what it said then."""
    log = [LogLine("told" if entry.role == "user" else "said", words_of(entry)) for entry in entries]
    if kept.is_running:
        log += [*(LogLine("did", line) for line in doing), LogLine("said", saying)]
    else:
        last = len(log) - 1 if log and log[-1].kind == "said" else len(log)
        log[last:last] = [LogLine("did", line) for line in kept.lines]
    return [line for line in log if line.text]


def words_of(entry: TranscriptEntry) -> str:
    return "\n".join(part.text for part in entry.parts if isinstance(part, PromptText)).strip()
