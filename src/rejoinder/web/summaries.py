"""The first sentence of `Why?`: what happened to a message, in plain words."""

from collections.abc import Sequence

from msgspec import Struct

from rejoinder.channels.web.avatars import agent_member
from rejoinder.durations import duration_text
from rejoinder.events import Step
from rejoinder.store.base import InboxEvent, Input, StoredTurn

NOTICED = 1.0
"""A shorter wait, in seconds, is not mentioned."""


class HandledTurn(Struct, frozen=True):
    """A message in one session: its agent and its turn."""

    agent: str
    put: Input
    turn: StoredTurn | None = None


def summary_of(event: InboxEvent, steps: Sequence[Step], handled: Sequence[HandledTurn]) -> str:
    if event.state == "quarantined":
        return f"It was quarantined: {event.reason or 'it was tried too often'}."
    if handled:
        sentence = "; ".join(_of_one(event, each) for each in handled)
        return f"{sentence[0].upper()}{sentence[1:]}."
    last = next((step for step in reversed(steps) if step.decision in ("answer", "drop")), None)
    if last is None:
        return "Nothing has been decided about it yet."
    why = f": {last.reason}" if last.reason else ""
    return f"The gateway answered it itself{why}." if last.decision == "answer" else f"No agent was asked{why}."


def _of_one(event: InboxEvent, handled: HandledTurn) -> str:
    agent, put, turn = agent_member(handled.agent).name, handled.put, handled.turn
    why = f" ({put.reason})" if put.reason else ""
    if turn is None:
        return {
            "waiting": f"it waits for its turn with {agent}",
            "steered": f"handed to {agent} while it was at work",
            "summarised": f"too many messages were waiting: {agent} gets only a one-line summary of this one",
        }.get(put.state, f"{agent} was not asked{why}")
    if turn.closed is None:
        return f"{agent} is at work on it"
    took = duration_text((turn.closed - event.accepted).total_seconds())
    because = f": {turn.detail}" if turn.detail else ""
    match turn.outcome:
        case "answered":
            waited = (turn.opened - event.accepted).total_seconds()
            held = f"it waited {duration_text(waited)} for its turn" if waited > NOTICED else "it did not have to wait"
            return f"answered by {agent} in {took}; {held}"
        case "silent":
            return f"{agent} read it and chose to stay silent, after {took}"
        case "stopped":
            return f"{agent} was stopped after {took}"
        case "failed":
            return f"{agent} failed after {took}{because}"
        case _:
            return f"{agent} gave no answer{because}"
