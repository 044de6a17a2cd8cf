"""Handles scheduled turns. No person wrote the text, so it is not searched for commands; the gate and the send policy
apply as to any message (IN-12, IN-75)."""

from datetime import datetime
from typing import Any, Final

from rejoinder.events import Inbound
from rejoinder.inbound.access import admit
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.gate import Actor, Denied, GatedAction, authorise
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Drop
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.inbound.send_policy import send_policy
from rejoinder.session import Session

TURN: Final = GatedAction("a turn", "anyone")


def scheduled_message(
    inbound: Inbound, agent: str, model: str | None, rules: Rules, *, heartbeat: bool
) -> InboundMessage:
    """The message of a scheduled turn; `inbound.entry` is `cron`. `model` may be an alias."""
    facts = Facts(OwnIdentity(agent, agent))
    choices: dict[str, Any] = {}
    if model is not None:
        choices["model"] = rules.agents[agent].models.known(model) or model
    return InboundMessage(
        inbound,
        facts,
        inbound.text,
        actor=Actor(admit(inbound, facts, channel_rules(rules, inbound.channel)).role, "cron"),
        refusal=None,
        choices=choices,
        agents=(agent,),
        heartbeat=heartbeat,
    )


def refusal(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> str | None:
    """Why the message gets no turn; None if it gets one."""
    verdict = authorise(message.actor, TURN, channel_rules(rules, message.inbound.channel).gate)
    if isinstance(verdict, Denied):
        return verdict.reason
    outcome = send_policy(message, session, rules, now)
    return outcome.reason if isinstance(outcome, Drop) else None
