"""Heartbeats: turns in which an agent looks after things when nobody has written (TU-26)."""

import re
from datetime import datetime, timedelta
from typing import Final

NOTES: Final = "HEARTBEAT.md"
PROMPT: Final = (
    f"Nobody has written; this is your time to look after things. If there is a file {NOTES}, read it and do what it "
    "says is due now. Do not go back to earlier topics unless the file says so. When nothing needs attention, "
    "answer HEARTBEAT_OK and nothing else."
)
EVERY: Final = "30m"
ACK_MAX_CHARS: Final = 300
"""The most characters besides `HEARTBEAT_OK` with which an answer is still not sent (OD-45)."""
SAID_AGAIN_AFTER: Final = timedelta(hours=24)

_HEADING = r"#{1,6}(\s.*)?"
_EMPTY_ITEM = r"([-*+]|\d+[.)])(\s+\[[ xX]?\])?"
_NOTHING = rf"\s*({_HEADING}|{_EMPTY_ITEM})?\s*"


def heartbeat_of(agent: str) -> str:
    """The name of the agent's heartbeat job; it is unique, because configured names cannot contain a slash."""
    return f"heartbeat/{agent}"


def asks_for_nothing(notes: str) -> bool:
    """Whether the notes contain only blank lines, headings and empty items, which are no reason to wake the agent."""
    return all(re.fullmatch(_NOTHING, line) for line in notes.splitlines())


def prompt_with(prompt: str, notes: str | None) -> str:
    """The prompt with the notes, for an agent that cannot read the file itself."""
    return prompt if notes is None else f"{prompt}\n\n{NOTES}:\n\n{notes.strip()}"


def was_just_said(at: datetime | None, now: datetime) -> bool:
    """Whether the same text was sent within the last day; repeating it would tell its reader nothing."""
    return at is not None and now - at < SAID_AGAIN_AFTER
