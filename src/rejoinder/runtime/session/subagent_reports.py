"""The texts about sub-agents (TU-36): for the chat, for the agent that started them, and for `/subagents`."""

from collections.abc import Sequence
from datetime import datetime

from rejoinder.inbound.commands.status import age
from rejoinder.rendering.fence import fenced
from rejoinder.store.base import StoredSubagent, TranscriptEntry, log_of
from rejoinder.turns.backlog import summary_line

NONE = "No sub-agents here. /subagents spawn <agent> <task> starts one."
MOST_LISTED = 30
LONGEST_LOG = 3000
STATES = {"running": "at work", "ended": "finished", "failed": "failed", "killed": "stopped"}


def end_line(kept: StoredSubagent) -> str:
    """The line that tells the chat of its end."""
    if kept.state == "failed":
        return f"_Sub-agent {kept.name} failed: {summary_line(kept.result)}_"
    return f"_Sub-agent {kept.name} has finished._"


def end_told(kept: StoredSubagent) -> str:
    """What the agent that started it is told. What the sub-agent said is passed separately, as untrusted text."""
    how = "could not finish" if kept.state == "failed" else "has finished"
    result = "What it said is in the untrusted context." if kept.result else "It said nothing."
    return f"Your sub-agent {kept.name} ({kept.agent}) {how}. Its task was: {summary_line(kept.task)}\n{result}"


def listing(kept: Sequence[StoredSubagent], now: datetime) -> str:
    if not kept:
        return NONE
    shown = sorted(kept[-MOST_LISTED:], key=lambda each: not each.is_running)
    lines = [f"{'  ' * (each.depth - 1)}{each.name} ({each.agent}): {_how(each, now)}, {_task(each)}" for each in shown]
    return "\n".join(lines)


def info(kept: StoredSubagent, now: datetime) -> str:
    lines = [
        f"{kept.name}: {_how(kept, now)}",
        f"Agent: {kept.agent}",
        f"Session: {kept.session}",
        f"Depth: {kept.depth}",
        f"Task: {_task(kept)}",
    ]
    if kept.result:
        lines.append(f"Result: {summary_line(kept.result)}")
    return "\n".join(lines)


def log(kept: StoredSubagent, entries: Sequence[TranscriptEntry], doing: Sequence[str], saying: str) -> str:
    """What it received, did and said; the latest words unchanged."""
    text = "\n".join(line.plain for line in log_of(kept, entries, doing, saying)).strip()
    if not text:
        return f"{kept.name} has said nothing yet."
    cut = text if len(text) <= LONGEST_LOG else f"…{text[-LONGEST_LOG:]}"
    return f"{kept.name}:\n{fenced(cut)}"


def _how(kept: StoredSubagent, now: datetime) -> str:
    since = kept.started if kept.ended is None else kept.ended
    past = age(now - since)
    return f"{STATES[kept.state]} for {past}" if kept.is_running else f"{STATES[kept.state]} {past} ago"


def _task(kept: StoredSubagent) -> str:
    return summary_line(kept.task)
