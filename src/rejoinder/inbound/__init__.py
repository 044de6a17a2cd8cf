"""Floor 1, pure: an event becomes a turn, an answer, or nothing, and always with a reason.

The two tuples below give the order of the stages. A stage is a function of the message, the session, the prepared
settings (`Rules`) and the current time; it returns Continue, Answer or Drop. Until the session is known it gets None.
"""

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import Inbound
from rejoinder.inbound.abort import abort
from rejoinder.inbound.access import access
from rejoinder.inbound.activation import activation
from rejoinder.inbound.bots import bot_rules, own_message
from rejoinder.inbound.commands.stage import commands, inline_commands
from rejoinder.inbound.directives.stage import inline_directives
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.finalise import finalise, undecided_message
from rejoinder.inbound.freshness import freshness_and_reset
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Continue, EarlyStage, Stage, StageResult, run_stages
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
    find_session: Callable[[InboundMessage], Session],
    rules: Rules,
    now: datetime,
    tick: Callable[[], float],
) -> StageResult:
    """Runs all stages. The session is looked up only if the message gets far enough to need one."""
    first = run_stages(BEFORE_SESSION, undecided_message(inbound, facts), None, rules, now, tick)
    if not isinstance(first.outcome, Continue):
        return first
    return resume(first, find_session(first.message), rules, now, tick)


def resume(first: StageResult, session: Session, rules: Rules, now: datetime, tick: Callable[[], float]) -> StageResult:
    """Runs the second half of the stages, for callers that look the session up in between."""
    second = run_stages(WITH_SESSION, first.message, session, rules, now, tick, first.trace)
    if not first.replies and not first.effects:
        return second
    return replace(second, replies=first.replies + second.replies, effects=first.effects + second.effects)
