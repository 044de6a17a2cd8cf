"""What `/elevated` and `/exec` decide before the agent asks for permission (IN-59).

Rule 1: they set the policy of the session; a stricter policy applies to everybody who speaks in it.
Rule 2: a looser policy lends its rights to no one: it counts only in a turn whose every word is from people who could
have set it themselves.
"""

from collections.abc import Iterable
from typing import Any

from rejoinder.inbound.directives.effective import effective_exec
from rejoinder.inbound.ids import candidates
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.session import Session


def decided_beforehand(
    choices: dict[str, Any], session: Session, words: Iterable[InboundMessage], rules: Rules
) -> bool | None:
    """Whether the agent may do what it asks for; None: a person has to decide. `words`: every message of the turn."""
    chosen, elevated = effective_exec(choices, session), choices.get("elevated") or session.elevated
    if chosen.security == "deny":
        return False
    if chosen.ask == "always":
        return None
    of_people = [message for message in words if not message.background]
    lifted = chosen.security == "full" or (elevated == "full" and all(_may_elevate(each, rules) for each in of_people))
    if lifted and all(each.actor.role == "owner" for each in of_people):
        return True
    return False if chosen.ask == "off" else None


def _may_elevate(message: InboundMessage, rules: Rules) -> bool:
    inbound, channel = message.inbound, channel_rules(rules, message.inbound.channel)
    named = channel.elevated.named(inbound.account, candidates(channel.place.identity, inbound.sender))
    return named and rules.settings.commands.elevated.enabled
