"""The two stages that run commands: those inside a text, and those that are the text (IN-60 to IN-66)."""

from datetime import datetime

from rejoinder.inbound.commands.command import Call, Command, read_arguments
from rejoinder.inbound.gate import Action, Denied, authorise
from rejoinder.inbound.message import Message, take
from rejoinder.inbound.outcome import PASS, Answer, Continue, Outcome
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.session import Session


def inline_commands(message: Message, session: Session, rules: Rules, now: datetime) -> Outcome:
    """help, commands, whoami and status inside other text: answered at once, the agent gets the rest."""
    tokens = [token for token in message.reading.tokens if token.kind == "command"]
    if not tokens or message.listening:
        return PASS
    channel = channel_rules(rules, message.inbound.channel)
    replies: dict[str, tuple[str, ...]] = {}
    spans: list[tuple[int, int]] = []
    for token in tokens:
        command = rules.commands[token.name]
        if isinstance(authorise(message.actor, _action(command), channel.door), Denied) or not command.handle:
            continue
        spans.append((token.start, token.end))
        if token.name not in replies:
            call = Call(command, {}, message, session, rules, channel, now)
            replies[token.name] = command.handle(call).replies
    if not spans:
        return Continue(reason="commands of somebody who may not use them are text")
    said = tuple(reply for each in replies.values() for reply in each)
    rest = take(message, tuple(spans))
    why = f"answered inside the text: {', '.join(replies)}"
    if not rest.agent_text.strip() and not message.brings_files:
        return Answer(said, reason=why)
    return Continue(rest, replies=said, reason=why)


def commands(message: Message, session: Session, rules: Rules, now: datetime) -> Outcome:
    """The command the message is, through the gate; what it asks for comes back as effects."""
    called = message.reading.invocation
    command = called.command if called and called.is_answered else None
    if called is None or command is None:
        return PASS
    channel = channel_rules(rules, message.inbound.channel)
    action = _action(command)
    verdict = authorise(message.actor, action, channel.door)
    if isinstance(verdict, Denied):
        return refuse(message, action, verdict.reason)
    if command.switch and not getattr(rules.settings.commands, command.switch):
        off = f"/{command.name} is off; commands.{command.switch} = true turns it on."
        return Answer((off,), reason=f"commands.{command.switch} is false")
    args = read_arguments(command, called.line)
    if args is None:
        return Answer((f"Usage: {command.usage}",), reason="the arguments do not fit")
    if (auth := command.auth_for(args)) != command.auth:
        action = Action(action.name, auth)
        verdict = authorise(message.actor, action, channel.door)
        if isinstance(verdict, Denied):
            return refuse(message, action, verdict.reason)
    if command.handle is None:
        return PASS
    answer = command.handle(Call(command, args, message, session, rules, channel, now))
    return answer if answer.reason else Answer(answer.replies, answer.effects, answer.session, reason=action.name)


def _action(command: Command) -> Action:
    return Action(f"/{command.name}", command.auth)
