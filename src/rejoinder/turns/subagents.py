"""Sub-agents, which a session starts beside its own run (TU-36): who may start one, and what it is called.

Rule 1: a sub-agent may start others, down to a depth of two below the conversation, and no deeper.
Rule 2: at most eight of one conversation are at work at once.
Rule 3: at most 24 are started without anybody writing in between, so that a loop of them ends.
"""

import re
from collections.abc import Collection
from typing import Final

from msgspec import Struct

MOST_DEPTH: Final = 2
MOST_AT_ONCE: Final = 8
MOST_UNASKED: Final = 24
LONGEST_NAME: Final = 40
_NAME: Final = re.compile(r"[^\W_](?:[\w.-]*\w)?")
RESERVED: Final = frozenset({"all", "list", "info", "log", "send", "steer", "kill", "spawn"})


class SpawnRequest(Struct, frozen=True):
    """The request that this agent works on this task, under a name if one was chosen."""

    agent: str
    task: str
    name: str = ""


class SpawnState(Struct, frozen=True):
    """The sub-agents of one conversation, as seen by the one that wants another."""

    may: tuple[str, ...]
    """The agents that may be started."""
    depth: int = 0
    """The depth of the one that wants another; the conversation itself is at 0."""
    names: frozenset[str] = frozenset()
    """The names that are taken, in lower case."""
    at_work: int = 0
    unasked: int = 0
    """How many were started since somebody last wrote."""


def refusal(wish: SpawnRequest, family: SpawnState) -> str | None:
    """Why it is not started; None if it is."""
    if wish.agent not in family.may:
        listed = ", ".join(family.may) or "none"
        return f"The agent {wish.agent} may not be started here; there are: {listed}."
    if not wish.task.strip():
        return "A sub-agent needs a task."
    if family.depth >= MOST_DEPTH:
        return f"Sub-agents can be nested at most {MOST_DEPTH} deep."
    if wish.name and (why := _bad_name(wish.name, family.names)) is not None:
        return why
    return limit_reached(family)


def limit_reached(family: SpawnState) -> str | None:
    """Why nobody can start another one now, if a limit is reached."""
    if family.at_work >= MOST_AT_ONCE:
        return f"{MOST_AT_ONCE} sub-agents are already at work here, which is the limit."
    if family.unasked >= MOST_UNASKED:
        return f"{MOST_UNASKED} sub-agents were started since somebody last wrote; no more until somebody does."
    return None


def _bad_name(name: str, taken: Collection[str]) -> str | None:
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return f"A name has letters, digits, '.', '_' and '-', at most {LONGEST_NAME} of them."
    if name.lower() in RESERVED:
        return f"{name} is a word of /subagents, not a name."
    return f"There is already a sub-agent called {name}." if name.lower() in taken else None


def name_for(wish: SpawnRequest, taken: Collection[str]) -> str:
    """The chosen name, or the agent's name with the first free number."""
    if wish.name:
        return wish.name
    number = 1
    while f"{wish.agent}-{number}".lower() in taken:
        number += 1
    return f"{wish.agent}-{number}"
