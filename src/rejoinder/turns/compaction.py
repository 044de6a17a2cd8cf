"""When a conversation is shortened without being asked, and what is said around it (TU-23, TU-29).

Rule 1: it is shortened after the turn that filled it, so that nobody waits for it.
Rule 2: before that the agent gets one turn to write down what it must not forget; nobody reads its answer. It is
        given once for each time the conversation is shortened, however often that has to be tried.
Rule 3: the next turn is told that it happened, with the agent's start-up notes, once.
"""

from typing import Final

from msgspec import Struct

FLUSH_PROMPT: Final = (
    "This conversation has become long and will be shortened now: you will only keep a summary of it. If there is "
    "something you must not forget and you have a place to write it down, do so now. Nobody reads your answer: "
    "reply with NO_REPLY."
)
SHORTENED: Final = "The conversation was long and has been shortened: what came before is only a summary."


class Fullness(Struct, frozen=True):
    """How much of its budget a session's context takes; 0 where nobody knows or nobody set one."""

    context_tokens: int = 0
    budget: int = 0
    flushed: bool = False
    """It had its turn to write things down since it was last shortened."""


class Plan(Struct, frozen=True):
    flush: bool = False
    compact: bool = False


def plan(fullness: Fullness, *, can_compact: bool, flushes: bool) -> Plan:
    full = 0 < fullness.budget <= fullness.context_tokens
    if not full or not can_compact:
        return Plan()
    return Plan(flush=flushes and not fullness.flushed, compact=True)


def after_compaction(startup_notes: str) -> str:
    """What the agent is told in the next turn."""
    notes = startup_notes.strip()
    return f"{SHORTENED}\n\n{notes}" if notes else SHORTENED
