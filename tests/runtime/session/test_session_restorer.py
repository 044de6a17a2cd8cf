"""What an agent is told of a conversation it cannot know any more."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rejoinder.agents.base import Exchange
from rejoinder.bounded import Bounded
from rejoinder.events import PromptText
from rejoinder.runtime.session.session_restorer import SessionRestorer, exchanges, noted
from rejoinder.store.base import AgentSession, TranscriptEntry

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def said(text: str) -> tuple[PromptText, ...]:
    return (PromptText(text),)


def told(*lines: str) -> tuple[TranscriptEntry, ...]:
    """`?` begins a question, `!` an answer, `=` what stands for all before it."""
    roles = {"?": "user", "!": "agent", "=": "user"}
    return tuple(TranscriptEntry(roles[line[0]], said(line[1:]), NOW, stands_for_all=line[0] == "=") for line in lines)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((), ()),
        (("?one", "!first"), (Exchange(said("one"), "first"),)),
        (("?one", "?two", "!both"), (Exchange(said("one") + said("two"), "both"),)),
        (("?one", "!first", "?two"), (Exchange(said("one"), "first"), Exchange(said("two")))),
        (("?one", "!first", "=in short", "!Yes.", "?two"), (Exchange(said("in short"), "Yes."), Exchange(said("two")))),
        (("?one", "=in short"), (Exchange(said("in short")),)),
        (("!the end of it", "?two", "!second"), (Exchange(said("two"), "second"),)),
    ],
)
def test_a_transcript_as_questions_and_answers(lines: tuple[str, ...], found: tuple[Exchange, ...]):
    """TU-23, TU-33: an answer whose question is out of reach is left out, for a model takes none without one."""
    assert exchanges(told(*lines)) == found


class Kept:
    """A store that keeps one session of an agent."""

    def __init__(self, stored: AgentSession) -> None:
        self._stored = stored

    async def agent_session(self, session: str) -> AgentSession:
        return self._stored


class Bound:
    name = "coder"

    def __init__(self, *, shared: bool = False) -> None:
        self._shared = shared
        self.told: list[tuple[str, str]] = []

    def is_bound(self) -> bool:
        return not self._shared

    def load_session(self, session: str, saved: str) -> None:
        self.told.append(("load", saved))

    def lose_session(self, session: str, saved: str) -> None:
        self.told.append(("lose", saved))


@pytest.mark.parametrize(
    ("saved_on", "here", "shared", "what"),
    [
        ("oak", "oak", False, "load"),
        ("oak", "elm", False, "lose"),
        ("oak", "elm", True, "load"),
        ("", "elm", False, "load"),
        ("oak", "", False, "load"),
    ],
    ids=["here", "elsewhere", "on a shared disk", "by an earlier version", "in a store of one process"],
)
async def test_a_session_is_loaded_where_it_was_saved(saved_on: str, here: str, shared: bool, what: str):
    """SC-7: the saved session names its machine; on another one the agent is told that it is lost."""
    agent: Any = Bound(shared=shared)
    store: Any = Kept(noted("id-1", Bound(), saved_on))
    await SessionRestorer(store, Bounded(1), here).restore("s", agent, NOW)
    assert agent.told == [(what, "id-1")]


def test_only_what_lies_on_a_machine_names_it():
    """SC-7: not an agent on a shared disk, nor one whose sessions are elsewhere anyway."""
    bound, shared, other = Bound(), Bound(shared=True), object()
    saved = [noted("id-1", each, "oak") for each in (bound, shared, other)]
    assert saved == [AgentSession("id-1", "oak"), AgentSession("id-1"), AgentSession("id-1")]
