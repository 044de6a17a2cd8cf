"""The stage that obeys directives: alone they change the session, in a text this turn (IN-54 to IN-56)."""

from datetime import datetime
from typing import Any

from rejoinder.inbound.commands.command import Call
from rejoinder.inbound.directives.check import Here, find_problem
from rejoinder.inbound.directives.store import TITLES, current, keep, plain, spoken, values
from rejoinder.inbound.directives.table import BY_NAME, ORDER
from rejoinder.inbound.directives.tokenise import Token
from rejoinder.inbound.gate import Action, Denied, authorise
from rejoinder.inbound.ids import candidates
from rejoinder.inbound.message import Message, take
from rejoinder.inbound.outcome import PASS, Answer, Drop, Outcome
from rejoinder.inbound.outcome import Continue as On
from rejoinder.inbound.reading import Reading
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.session import Session


def inline_directives(message: Message, session: Session, rules: Rules, now: datetime) -> Outcome:
    """Directives alone are stored and acknowledged; inside a text they hold for this turn."""
    found = message.reading.tokens
    tokens = [token for token in found if token.kind == "directive"] if found else []
    if not tokens:
        return PASS
    if message.listening:
        why = "directives are taken out, not obeyed, while listening"
        heard = take(message, _spans(tokens))
        return On(heard, reason=why) if heard.agent_text.strip() or heard.brings_files else Drop(why)
    inbound = message.inbound
    channel = channel_rules(rules, inbound.channel)
    ids, agent = candidates(inbound.channel, inbound.sender), channel.agent_called(session.agent)
    here = Here(rules, channel, message.actor, inbound.account, ids, agent)
    tokens.sort(key=lambda token: ORDER[token.name])
    if message.reading.alone and not message.brings_files:
        asked = [token.name for token in message.reading.tokens if token.kind == "command"]
        return _alone(message, session, tokens, list(dict.fromkeys(asked)), here, now)
    return _in_text(message, tokens, here)


def _alone(
    message: Message, session: Session, tokens: list[Token], asked: list[str], here: Here, now: datetime
) -> Outcome:
    """`asked` are the commands among the directives (IN-63); they see the session as the directives changed it."""
    commands, called = here.rules.commands, message.reading.invocation
    actions = [Action(f"/{token.name}", BY_NAME[token.name].auth) for token in tokens]
    actions += [Action(f"/{name}", commands[name].auth) for name in asked]
    if called is not None and called.command is not None:
        actions.append(Action(f"/{called.command.name}", called.command.auth))
    for action in actions:
        verdict = authorise(here.actor, action, here.channel.door)
        if isinstance(verdict, Denied):
            return refuse(message, action, verdict.reason)
    for token in tokens:
        if problem := find_problem(token, here):
            return Answer((problem,), refuses=True, reason=f"/{token.name} is refused, nothing is stored")
    said: list[str] = []
    stored: dict[str, Any] = {}
    meant = values((token for token in tokens if token.value is not None), here.agent)
    for name in dict.fromkeys(token.name for token in tokens):
        if (value := meant.get(name)) is None:
            said.append(current(name, session, here.rules, here.channel))
            continue
        session = keep(session, name, value)
        stored[name] = plain(value)
        said.append(f"{TITLES[name]}: {spoken(value)}.")
    replies = (" ".join(said),) if said else ()
    for name in asked:
        if handle := commands[name].handle:
            replies += handle(Call(commands[name], {}, message, session, here.rules, here.channel, now)).replies
    reason = f"stored: {', '.join(stored)}" if stored else "asked for what is set"
    if called is not None:
        rest = take(message, _spans(tokens), reading=Reading(invocation=called))
        return On(rest, session, replies, stored=stored, reason=reason)
    return Answer(replies, session=session, stored=stored, reason=reason)


def _in_text(message: Message, tokens: list[Token], here: Here) -> Outcome:
    obeyed: list[Token] = []
    for token in tokens:
        action = Action(f"/{token.name}", BY_NAME[token.name].auth)
        if isinstance(authorise(here.actor, action, here.channel.door), Denied) or token.value is None:
            continue
        if problem := find_problem(token, here):
            return Answer((problem,), refuses=True, reason=f"/{token.name} is refused, the agent is not run")
        obeyed.append(token)
    if not obeyed:
        return On(reason="directives of somebody who may not use them are text")
    choices = values(obeyed, here.agent)
    told = ", ".join(f"{TITLES[name].lower()} {spoken(value)}" for name, value in choices.items())
    changed = take(message, _spans(obeyed), choices={**message.choices, **choices})
    return On(changed, replies=(f"For this turn: {told}.",), reason=f"for this turn: {', '.join(choices)}")


def _spans(tokens: list[Token]) -> tuple[tuple[int, int], ...]:
    return tuple((token.start, token.end) for token in tokens)
