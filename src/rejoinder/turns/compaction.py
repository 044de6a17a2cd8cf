"""When a conversation is compacted automatically, and what the agent is told before and after (TU-23, TU-29).

Rule 1: compaction follows the turn that filled the context, so that no user has to wait for it.
Rule 2: first the agent gets one turn to write down what it must not forget; its answer is not shown. It gets that turn
        once per compaction, however many attempts the compaction takes.
Rule 3: the next turn tells the agent once about the compaction, together with its start-up notes.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

FLUSH_PROMPT: Final = (
    "This conversation has become long and will be shortened now: you will only keep a summary of it. If there is "
    "something you must not forget and you have a place to write it down, do so now. Nobody reads your answer: "
    "reply with NO_REPLY."
)
SHORTENED: Final = "The conversation was long and has been shortened: what came before is only a summary."


class CompactionSettings(Struct, frozen=True, kw_only=True):
    budget: int = 0
    flushes: bool = True
    startup_notes: Mapping[str, str] = {}
    """The notes that each agent gets again after compaction, by its name."""


class Fullness(Struct, frozen=True):
    """How much of its budget a session's context takes; 0: unknown, or no budget set."""

    context_tokens: int = 0
    budget: int = 0
    flushed: bool = False
    """Whether the agent has had its turn to write things down since the last compaction."""


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
