"""The stage that carries out directives: alone they change the session, inside a text only this turn (IN-54 to
IN-56)."""

from datetime import datetime
from typing import Any

from rejoinder.inbound.commands.running import may_call
from rejoinder.inbound.commands.stage import run_all
from rejoinder.inbound.directives.check import DirectiveContext, find_problem
from rejoinder.inbound.directives.store import (
    TITLES,
    acknowledged,
    current,
    keep,
    plain,
    spoken,
    takes_effect,
    values,
)
from rejoinder.inbound.directives.table import BY_NAME, ORDER
from rejoinder.inbound.directives.tokenise import Token
from rejoinder.inbound.gate import Denied, GatedAction, authorise
from rejoinder.inbound.ids import candidates
from rejoinder.inbound.message import InboundMessage, without_spans
from rejoinder.inbound.outcome import PASS, Answer, Continue, Drop, Outcome
from rejoinder.inbound.reading import InboundReading
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.session import Session


def inline_directives(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    """Directives alone are stored and acknowledged; inside a text they apply to this turn."""
    found = message.reading.tokens
    tokens = [token for token in found if token.kind == "directive"] if found else []
    if not tokens:
        return PASS
    if message.listening:
        why = "in listen mode directives are removed and not obeyed"
        heard = without_spans(message, _spans(tokens))
        return Continue(heard, reason=why) if heard.agent_text.strip() or heard.brings_files else Drop(why)
    inbound = message.inbound
    channel = channel_rules(rules, inbound.channel)
    ids = candidates(channel.place.identity, inbound.sender)
    agent = channel.agent_called(session.agent, message.facts)
    here = DirectiveContext(rules, channel, message.actor, inbound.account, ids, agent)
    tokens.sort(key=lambda token: ORDER[token.name])
    if message.reading.alone and not message.brings_files:
        asked = [token for token in message.reading.tokens if token.kind == "command"]
        return _alone(message, session, tokens, asked, here, now)
    return _in_text(message, tokens, here)


def _alone(
    message: InboundMessage,
    session: Session,
    tokens: list[Token],
    asked: list[Token],
    here: DirectiveContext,
    now: datetime,
) -> Outcome:
    """`asked`: the commands among the directives (IN-63), which see the session as the directives changed it."""
    called = message.reading.invocation
    if refused := _refused(message, tokens, asked, here):
        return refused
    for token in tokens:
        if problem := find_problem(token, here):
            return Answer((problem,), refuses=True, reason=f"/{token.name} is refused, nothing is stored")
    said: list[str] = []
    stored: dict[str, Any] = {}
    meant = values((token for token in tokens if token.value is not None), here.agent)
    for name in dict.fromkeys(token.name for token in tokens):
        if (value := meant.get(name)) is None:
            said.append(current(name, session, here.rules, here.channel, here.agent))
            continue
        session = keep(session, name, value)
        if takes_effect(name, value):
            stored[name] = plain(value)
        said.append(acknowledged(name, value, session, here.rules, here.agent))
    replies = (" ".join(said),) if said else ()
    done = run_all(asked, message, session, here.rules, now, alone=False) if asked else Answer(())
    session, replies = done.session or session, replies + done.replies
    reason = f"stored: {', '.join(meant)}" if meant else "asked for the current value"
    if called is not None:
        rest = without_spans(message, _spans(tokens), reading=InboundReading(invocation=called))
        return Continue(rest, session, replies, done.effects, stored=stored, reason=reason)
    return Answer(replies, done.effects, session, stored, reason=reason)


def _refused(
    message: InboundMessage, tokens: list[Token], asked: list[Token], here: DirectiveContext
) -> Answer | Drop | None:
    """The refusal of the first directive or command that the sender may not use; if there is one, nothing else is
    done."""
    commands, called = here.rules.commands, message.reading.invocation
    for token in tokens:
        action = GatedAction(f"/{token.name}", BY_NAME[token.name].auth)
        verdict = authorise(here.actor, action, here.channel.gate)
        if isinstance(verdict, Denied):
            return refuse(message, action, verdict.reason)
    given = [(commands[token.name], token.value) for token in asked]
    if called is not None and called.command is not None:
        given.append((called.command, called.line))
    for command, said in given:
        verdict = may_call(command, said, message, here.rules)
        if isinstance(verdict, Denied):
            return refuse(message, GatedAction(f"/{command.name}", command.auth), verdict.reason)
    return None


def _in_text(message: InboundMessage, tokens: list[Token], here: DirectiveContext) -> Outcome:
    obeyed: list[Token] = []
    for token in tokens:
        action = GatedAction(f"/{token.name}", BY_NAME[token.name].auth)
        if isinstance(authorise(here.actor, action, here.channel.gate), Denied) or token.value is None:
            continue
        if problem := find_problem(token, here):
            return Answer((problem,), refuses=True, reason=f"/{token.name} is refused, the agent is not run")
        obeyed.append(token)
    if not obeyed:
        return Continue(reason="directives from somebody who may not use them are text")
    choices = values(obeyed, here.agent)
    told = ", ".join(f"{TITLES[name].lower()} {spoken(value)}" for name, value in choices.items())
    changed = without_spans(message, _spans(obeyed), choices={**message.choices, **choices})
    return Continue(changed, replies=(f"For this turn: {told}.",), reason=f"for this turn: {', '.join(choices)}")


def _spans(tokens: list[Token]) -> tuple[tuple[int, int], ...]:
    return tuple((token.start, token.end) for token in tokens)
