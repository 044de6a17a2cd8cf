"""Whether an agent's answer may be sent at all (IN-75). This is checked after commands, so that they still answer."""

from datetime import datetime

from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import PASS, Drop, Outcome
from rejoinder.inbound.rules import Rules
from rejoinder.inbound.settings import SendRule
from rejoinder.session import Session


def send_policy(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    """The session's own setting, otherwise the rules (any deny wins), otherwise the default."""
    if session.send_policy is not None:
        return PASS if session.send_policy == "on" else Drop("/send off is set in this session")
    policy = rules.settings.send_policy
    fitting = [rule for rule in policy.rules if _fits(rule, message, session)] if policy.rules else []
    for rule in fitting:
        if rule.action == "deny":
            return Drop(f"a send rule denies it ({_described(rule)})")
    if fitting or policy.default == "allow":
        return PASS
    return Drop("the send policy denies it by default")


def _fits(rule: SendRule, message: InboundMessage, session: Session) -> bool:
    inbound = message.inbound
    return (
        (rule.channel is None or rule.channel == inbound.channel)
        and (rule.chat is None or rule.chat == inbound.chat.kind)
        and (rule.key_prefix is None or session.key.startswith(rule.key_prefix))
    )


def _described(rule: SendRule) -> str:
    said = {"channel": rule.channel, "chat": rule.chat, "key_prefix": rule.key_prefix}
    return ", ".join(f"{key} = {value}" for key, value in said.items() if value is not None) or "for all"
