"""Runs one command: checks the gate, its switch and its arguments, and calls a handler that may fail (IN-12, IN-60)."""

import traceback
from datetime import datetime
from typing import TYPE_CHECKING, cast

from rejoinder.events import ReportFailure
from rejoinder.inbound.commands.command import Command, CommandCall, fit_options, read_arguments
from rejoinder.inbound.gate import Allowed, Denied, GatedAction, authorise
from rejoinder.inbound.outcome import Answer, Drop
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.session import Session

if TYPE_CHECKING:
    from rejoinder.inbound.message import InboundMessage


def may_call(command: Command, said: str, message: "InboundMessage", rules: Rules) -> Allowed | Denied:
    """Whether the sender may use this command with these words after it."""
    auth = command.auth_for(_arguments(command, said, message), in_group=message.in_group)
    action = GatedAction(f"/{command.name}", auth)
    return authorise(message.actor, action, channel_rules(rules, message.inbound.channel).gate)


def _arguments(command: Command, said: str, message: "InboundMessage") -> dict[str, str] | None:
    """The arguments. Those of a command from the platform's own menu come by name and are not parsed (CH-9)."""
    invoked = message.inbound.invoked
    if invoked is not None and invoked.name.lower() in (command.name, *command.aliases):
        return fit_options(command, invoked.options)
    return read_arguments(command, said)


def run_command(
    command: Command, said: str, message: "InboundMessage", session: Session, rules: Rules, now: datetime
) -> Answer | Drop:
    """`said`: the words after its name."""
    name = f"/{command.name}"
    verdict = may_call(command, said, message, rules)
    if isinstance(verdict, Denied):
        return refuse(message, GatedAction(name, command.auth), verdict.reason)
    if command.switch and not getattr(rules.settings.commands, command.switch):
        off = f"{name} is off; commands.{command.switch} = true turns it on."
        return Answer((off,), reason=f"commands.{command.switch} is false")
    args = _arguments(command, said, message)
    if args is None:
        return Answer((f"Usage: {command.usage}",), reason="the arguments do not fit")
    assert command.handle is not None, "a command without a handler belongs to another stage"
    call = CommandCall(command, args, message, session, rules, channel_rules(rules, message.inbound.channel), now)
    try:
        answer = command.handle(call)
        if not isinstance(cast("object", answer), Answer):
            raise TypeError(f"{name} returned {answer!r:.100}, which is no Answer")
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - another package's may raise anything; argparse exits
        return _failed(name, problem)
    return answer if answer.reason else Answer(answer.replies, answer.effects, answer.session, reason=name)


def _failed(name: str, problem: BaseException) -> Answer:
    kind = type(problem).__name__
    detail = "".join(traceback.format_exception(problem)).rstrip()
    said = f"{name} failed ({kind}); the gateway's log has the details."
    return Answer((said,), effects=(ReportFailure(name, detail),), reason=f"{name} raised {kind}")
