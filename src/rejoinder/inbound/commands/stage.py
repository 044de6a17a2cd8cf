"""The two stages that run commands: commands inside a text, and texts that are a command (IN-60 to IN-66)."""

from datetime import datetime

from rejoinder.events import Effect
from rejoinder.inbound.commands.consent import consent
from rejoinder.inbound.commands.near import nearest
from rejoinder.inbound.commands.running import may_call, run_command
from rejoinder.inbound.directives.tokenise import Token
from rejoinder.inbound.gate import Denied
from rejoinder.inbound.message import InboundMessage, text_without_directives, without_spans
from rejoinder.inbound.outcome import PASS, Answer, Continue, Drop, Outcome
from rejoinder.inbound.rules import Rules
from rejoinder.session import Session


def inline_commands(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    """Runs help, commands, whoami, status, or any command in brackets, inside other text; the agent gets the rest."""
    found = message.reading.tokens
    tokens = [token for token in found if token.kind == "command"] if found else []
    if not tokens or message.listening:
        return PASS
    allowed = [token for token in tokens if not isinstance(_may(token, message, rules), Denied)]
    if not allowed:
        if text_without_directives(message) or message.brings_files:
            return Continue(reason="commands from somebody who may not use them are text")
        return run_command(rules.commands[tokens[0].name], tokens[0].value, message, session, rules, now)
    rest = without_spans(message, tuple([(token.start, token.end) for token in allowed]))
    is_all = not rest.agent_text.strip() and not message.brings_files
    done = run_all(allowed, message, session, rules, now, alone=is_all)
    if is_all:
        return done
    return Continue(rest, done.session, done.replies, done.effects, reason=done.reason)


def _may(token: Token, message: InboundMessage, rules: Rules) -> object:
    return may_call(rules.commands[token.name], token.value, message, rules)


def run_all(
    tokens: list[Token], message: InboundMessage, session: Session, rules: Rules, now: datetime, *, alone: bool
) -> Answer:
    """Runs the commands of a text one after the other, each once. `alone`: the text contains nothing for the agent."""
    replies: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    called = dict.fromkeys((token.name, token.value) for token in tokens)
    for name, said in called:
        command = rules.commands[name]
        if command.takes_turn and not (alone and len(called) == 1):
            replies += (f"/{name} needs a message of its own.",)
            continue
        done = run_command(command, said, message, session, rules, now)
        if isinstance(done, Drop):
            continue
        session = done.session or session
        replies, effects = replies + done.replies, effects + done.effects
    why = f"answered inside the text: {', '.join(dict.fromkeys(name for name, _ in called))}"
    return Answer(replies, effects, session, reason=why)


def commands(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    """Runs a message that is a command, after the gate; its requests are returned as effects."""
    called = message.reading.invocation
    invoked = message.inbound.invoked
    if called is None and invoked is not None and not message.reading.is_command:
        return Answer((f"There is no command /{invoked.name} here.",), reason="an unknown command")
    if called is None:
        answered = consent(message, text_without_directives(message)) if message.facts.question is not None else PASS
        return _ask(message, rules) if answered is PASS else answered
    if called.command is None or not called.is_answered:
        return PASS
    return run_command(called.command, called.line, message, session, rules, now)


def _ask(message: InboundMessage, rules: Rules) -> Outcome:
    """Asks about a text that is almost a command; nothing runs."""
    if message.listening or (meant := nearest(message, rules)) is None:
        return PASS
    typed, names = meant
    said = f"There is no {typed}. Did you mean {' or '.join(names)}? Nothing was run."
    return Answer((said,), reason=f"{typed} is almost {' or '.join(names)}")
