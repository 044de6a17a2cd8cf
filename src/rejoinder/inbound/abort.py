"""The stop command, which comes before everything else (IN-70)."""

from datetime import datetime

from rejoinder.events import StopRun
from rejoinder.inbound.facts import RunFacts
from rejoinder.inbound.gate import Denied, GatedAction, authorise
from rejoinder.inbound.message import InboundMessage, text_without_directives
from rejoinder.inbound.outcome import PASS, Answer, Continue, Outcome
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import Rules, channel_rules

STOP = GatedAction("/stop", "sender")
NOT_RUN = "The rest of your message was not run."


def abort(message: InboundMessage, session: None, rules: Rules, now: datetime) -> Outcome:
    """Stops on `/stop` or `[[/stop]]` anywhere, and on a bare stop word that is in a direct chat or said to us."""
    stop = message.reading.stop
    if stop is None:
        return PASS
    if stop == "word" and message.addressed not in ("direct", "mention", "reply"):
        return Continue(reason="a bare stop word in a group needs a mention or a reply")
    verdict = authorise(message.actor, STOP, channel_rules(rules, message.inbound.channel).gate)
    if isinstance(verdict, Denied):
        is_all = stop == "command" or (stop == "inline" and not text_without_directives(message))
        return refuse(message, STOP, verdict.reason) if is_all else Continue(reason=verdict.reason)
    return Answer(
        (reply_to_stop(message, message.facts.run_facts),),
        effects=(StopRun(message.route, message.inbound.sender.id),),
        reason="asked to stop",
    )


def reply_to_stop(message: InboundMessage, runs: RunFacts) -> str:
    """What whoever asked to stop is told."""
    unread = (NOT_RUN,) if message.reading.stop == "inline" and text_without_directives(message) else ()
    return " ".join((_said(runs), *unread))


def _said(runs: RunFacts) -> str:
    if runs.nothing_to_stop:
        return "Nothing is running."
    subagents = runs.subagents
    if not subagents:
        return "Agent was aborted."
    return f"Agent was aborted. Stopped {subagents} sub-agent{'s' if subagents > 1 else ''}."
