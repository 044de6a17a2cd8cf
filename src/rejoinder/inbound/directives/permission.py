"""What `/elevated` and `/exec` decide before the agent asks for permission, and who may grant it otherwise (IN-59).

Rule 1: they set the policy of the session; a stricter policy applies to everybody who speaks in it.
Rule 2: a looser policy lends its rights to nobody: it counts only in a turn in which every word is from people who
could have set it themselves. A run that begins by itself because of somebody's words (TU-36) has no more rights than
they have.
Rule 3: what an agent asks permission for happens on the operator's machine, so only people who may use commands can
grant it, and not a stranger in an open group.
"""

from collections.abc import Collection, Iterable
from typing import Any

from msgspec import Struct

from rejoinder.events import Sender
from rejoinder.inbound.directives.effective import effective_exec
from rejoinder.inbound.ids import candidates
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.session import Session


class Initiators(Struct, frozen=True):
    """The people whose words led to something that runs by itself. `lifts`: whether all of them are owners."""

    channel: str
    account: str
    people: tuple[str, ...]
    lifts: bool


def decided_beforehand(
    choices: dict[str, Any],
    session: Session,
    words: Iterable[InboundMessage],
    rules: Rules,
    led: tuple[Initiators, ...] = (),
) -> bool | None:
    """Whether the agent may do what it requests; None if a person has to decide. `words`: all messages of the turn.
    `led`: the other people behind it."""
    chosen, elevated = effective_exec(choices, session), choices.get("elevated") or session.elevated
    if chosen.security == "deny":
        return False
    if chosen.ask == "always":
        return None
    said = list(words)
    of_people = [message for message in said if not message.background]
    behind = (*led, *[_led_by(message) for message in said if message.background])
    are_owners = all(each.actor.role == "owner" for each in of_people) and all(each.lifts for each in behind)
    if are_owners and (chosen.security == "full" or (elevated == "full" and _may_elevate(of_people, behind, rules))):
        return True
    return False if chosen.ask == "off" else None


def _led_by(message: InboundMessage) -> Initiators:
    return Initiators(message.inbound.channel, message.inbound.account, message.answerable, message.lifts)


def _may_elevate(said: Iterable[InboundMessage], behind: Iterable[Initiators], rules: Rules) -> bool:
    """Whether all of them may use `/elevated`."""

    def named(channel: str, account: str, sender: Sender) -> bool:
        known = channel_rules(rules, channel)
        return known.elevated.named(account, candidates(known.place.identity, sender))

    return (
        rules.settings.commands.elevated.enabled
        and all(named(each.inbound.channel, each.inbound.account, each.inbound.sender) for each in said)
        and all(named(each.channel, each.account, Sender(person)) for each in behind for person in each.people)
    )


def may_grant(asked: Collection[InboundMessage]) -> frozenset[str]:
    """The people who requested a turn and may answer its questions: no bots, jobs or guests, and no senders whose
    messages are only listened to. If no person's message began the turn, the people behind it."""
    people = [message.inbound.sender.id for message in asked if _is_wish(message)]
    return frozenset([*people, *[person for message in asked for person in message.answerable]])


def _is_wish(message: InboundMessage) -> bool:
    """Whether it is a request of a person who may use commands."""
    if message.background or message.listening:
        return False
    return message.command_authorised and not message.inbound.sender.is_bot
