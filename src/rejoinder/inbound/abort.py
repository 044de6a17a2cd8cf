"""Stop, before anything else is looked at (IN-70)."""

from datetime import datetime

from rejoinder.events import StopRun
from rejoinder.inbound.facts import RunFacts
from rejoinder.inbound.gate import Action, Denied, authorise
from rejoinder.inbound.message import Message
from rejoinder.inbound.outcome import PASS, Answer, Continue, Outcome
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import Rules, channel_rules

STOP = Action("/stop", "sender")


def abort(message: Message, session: None, rules: Rules, now: datetime) -> Outcome:
    """`/stop` anywhere; a bare stop word in a direct chat, or in a group when it is said to us."""
    asked = message.reading.stop
    if asked is None:
        return PASS
    if asked == "word" and message.addressed not in ("direct", "mention", "reply"):
        return Continue(reason="a bare stop word in a group needs a mention or a reply")
    verdict = authorise(message.actor, STOP, channel_rules(rules, message.inbound.channel).door)
    if isinstance(verdict, Denied):
        return refuse(message, STOP, verdict.reason) if asked == "command" else Continue(reason=verdict.reason)
    return Answer(
        (_said(message.facts.runs),),
        effects=(StopRun(message.route, message.inbound.sender.id),),
        reason="asked to stop",
    )


def _said(runs: RunFacts) -> str:
    if runs.nothing_to_stop:
        return "Nothing is running."
    subagents = runs.subagents
    if not subagents:
        return "Agent was aborted."
    return f"Agent was aborted. Stopped {subagents} sub-agent{'s' if subagents > 1 else ''}."
