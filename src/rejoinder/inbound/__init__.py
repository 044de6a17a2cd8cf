"""Floor 1, pure: an event becomes a turn, an answer, or nothing, and always with a reason.

The order of the stages is the two tuples below. A stage is a function of message, session, settings made
ready (`Rules`) and now; it returns Continue, Answer or Drop. Before the session is known it gets None.
"""

from collections.abc import Callable
from datetime import datetime

from rejoinder.events import Inbound
from rejoinder.inbound.abort import abort
from rejoinder.inbound.access import access
from rejoinder.inbound.activation import activation
from rejoinder.inbound.bots import bot_rules, own_message
from rejoinder.inbound.commands.stage import commands, inline_commands
from rejoinder.inbound.directives.stage import inline_directives
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.finalise import arrived, finalise
from rejoinder.inbound.freshness import freshness_and_reset
from rejoinder.inbound.message import Message
from rejoinder.inbound.outcome import Continue, EarlyStage, Stage, Walk, walk
from rejoinder.inbound.rules import Rules
from rejoinder.inbound.send_policy import send_policy
from rejoinder.inbound.skills import skills
from rejoinder.session import Session

BEFORE_SESSION: tuple[EarlyStage, ...] = (finalise, own_message, bot_rules, access, abort)
WITH_SESSION: tuple[Stage, ...] = (
    activation,
    freshness_and_reset,
    inline_directives,
    skills,
    inline_commands,
    commands,
    send_policy,
)


def decide(
    inbound: Inbound,
    facts: Facts,
    find_session: Callable[[Message], Session],
    rules: Rules,
    now: datetime,
    tick: Callable[[], float],
) -> Walk:
    """The whole way. The session is looked for only when the message has come far enough to need one."""
    first = walk(BEFORE_SESSION, arrived(inbound, facts), None, rules, now, tick)
    if not isinstance(first.outcome, Continue):
        return first
    return resume(first, find_session(first.message), rules, now, tick)


def resume(first: Walk, session: Session, rules: Rules, now: datetime, tick: Callable[[], float]) -> Walk:
    """The second half of the way, for who looks the session up in between."""
    second = walk(WITH_SESSION, first.message, session, rules, now, tick)
    return Walk(
        second.message,
        second.session,
        second.outcome,
        first.replies + second.replies,
        first.effects + second.effects,
        first.trace + second.trace,
        second.stored,
    )
