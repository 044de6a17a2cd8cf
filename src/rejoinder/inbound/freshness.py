"""When a new session starts: on request, or because it is too old (IN-41, IN-42)."""

from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import ResetSession
from rejoinder.inbound.gate import Denied, GatedAction, authorise
from rejoinder.inbound.message import InboundMessage, text_without_directives, without_spans
from rejoinder.inbound.outcome import PASS, Continue, Outcome
from rejoinder.inbound.reading import Reset
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import ChannelRules, Rules, channel_rules
from rejoinder.inbound.session_age import grown_old, reset_policy
from rejoinder.session import Session, start_over

GREETING = "A new session has begun. Greet the user in one or two sentences and ask what they would like to do."


def freshness_and_reset(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    """Starts a new session on a trigger from somebody who may use it, or because the session is too old."""
    reset = message.reading.reset
    if reset is None:
        return _rollover(message, session, rules, now)
    channel = channel_rules(rules, message.inbound.channel)
    action = GatedAction(reset.trigger, "sender")
    verdict = authorise(message.actor, action, channel.gate)
    if isinstance(verdict, Denied):
        if reset.closes is not None and text_without_directives(message):
            return Continue(reason=verdict.reason)
        return refuse(message, action, verdict.reason)
    return _start(message, start_over(session, now), reset, channel)


def _start(message: InboundMessage, fresh: Session, reset: Reset, channel: ChannelRules) -> Outcome:
    """Starts a session on a trigger. The words in its brackets, or after it, may begin with a model; the rest is the
    first prompt."""
    end, said = reset.end, "New session."
    within = message.text[end : reset.closes[0] if reset.closes else None]
    word = within.split(maxsplit=1)[0] if within.strip() else ""
    agent = channel.agent_called(fresh.agent, message.facts)
    if word and agent.changes_model and agent.models.is_known(word) and (model := agent.models.choose(word)):
        fresh, said = replace(fresh, model=model), f"New session with {model}."
        end = message.text.index(word, end) + len(word)
    changed = _with_prompt(message, reset, end)
    effects = (ResetSession(fresh.key, "asked"),)
    return Continue(changed, fresh, replies=(said,), effects=effects, reason=f"asked for by {reset.trigger}")


def _with_prompt(message: InboundMessage, reset: Reset, end: int) -> InboundMessage:
    """The message without its triggers; if nothing is left, the agent has to greet."""
    tokens = message.reading.tokens
    triggers = [(token.start, token.end) for token in tokens if token.kind == "reset"]
    if reset.closes is None:
        changed, left = without_spans(message, ((reset.start, end), *triggers)), message.text[end:].strip()
    else:
        changed, left = without_spans(message, tuple(triggers)), text_without_directives(message)
        if first := message.text[end : reset.closes[0]].strip():
            left = f"{first}\n\n{left}".strip()
            changed = replace(changed, prompt=left)
    asks_more = len(tokens) > len(triggers) or message.brings_files
    return changed if left or asks_more else replace(changed, prompt=GREETING)


def _rollover(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    policy = reset_policy(message.inbound, rules.settings.session)
    old = None if policy.mode == "never" or message.facts.run_facts.running else grown_old(session, policy, now)
    if old is None:
        return PASS
    why = f"after {policy.idle_minutes} idle minutes" if old == "idle" else "for a new day"
    return Continue(
        session=start_over(session, now),
        replies=() if message.listening else (f"A new session has begun {why}.",),
        effects=(ResetSession(session.key, old),),
        reason=f"the session was too old ({old})",
    )
