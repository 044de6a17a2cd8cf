"""What `Why?` says first (IN-64): what became of a message, in one plain sentence."""

from datetime import UTC, datetime, timedelta

import pytest

from rejoinder.events import Chat, Inbound, Route, Sender, Step
from rejoinder.store.base import InboxEvent, Input, StoredTurn
from rejoinder.web.summaries import HandledTurn, summary_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EVENT = InboxEvent(1, Inbound("web", "1", "w1", Chat("lobby"), Sender("anna"), "hi"), NOON, "routed")


def handled(outcome: str | None, *, waited: float = 0.0, detail: str = "") -> HandledTurn:
    closed = NOON + timedelta(seconds=1.9) if outcome else None
    state = "closed" if outcome else "open"
    opened = NOON + timedelta(seconds=waited)
    turn = StoredTurn(1, "s", Route("web", "lobby"), state, 1, opened, outcome=outcome, detail=detail, closed=closed)
    return HandledTurn("tour", Input(EVENT, "s", state="taken", turn=1), turn)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (handled("answered"), "Answered by Tour in 1.9 s; it did not have to wait."),
        (handled("answered", waited=1.5), "Answered by Tour in 1.9 s; it waited 1.5 s for its turn."),
        (handled("silent"), "Tour read it and chose to stay silent, after 1.9 s."),
        (handled("stopped"), "Tour was stopped after 1.9 s."),
        (handled("failed", detail="no key"), "Tour failed after 1.9 s: no key."),
        (handled(None), "Tour is at work on it."),
        (HandledTurn("tour", Input(EVENT, "s")), "It waits for its turn with Tour."),
        (HandledTurn("tour", Input(EVENT, "s", state="dropped", reason="stopped")), "Tour was not asked (stopped)."),
    ],
)
def test_a_message_for_an_agent(how: HandledTurn, sentence: str) -> None:
    assert summary_of(EVENT, (), (how,)) == sentence


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ((), "Nothing has been decided about it yet."),
        ((Step("access", "drop", "not let in"),), "No agent was asked: not let in."),
        ((Step("commands", "answer", "/status"),), "The gateway answered it itself: /status."),
    ],
)
def test_a_message_for_nobody(steps: tuple[Step, ...], sentence: str) -> None:
    assert summary_of(EVENT, steps, ()) == sentence
