"""Suggestions of a platform's own menu while a person types an option (CH-9), such as the models for `/model`."""

from rejoinder.inbound.commands.running import may_call
from rejoinder.inbound.gate import Denied
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rules import Rules, channel_rules


def suggestions(message: InboundMessage, option: str, rules: Rules) -> tuple[str, ...]:
    """Values of this option that match what was typed so far, best first; none for somebody who may not use the
    command. The channel shows as many of them as its platform takes.

    `message` is finalised, so its sender is known.
    """
    invoked = message.inbound.invoked
    command = rules.commands.get(invoked.name.lower()) if invoked is not None else None
    if invoked is None or command is None or message.refusal is not None:
        return ()
    if isinstance(may_call(command, "", message, rules), Denied):
        return ()
    arg = next((each for each in command.args if each.name == option), None)
    if arg is None:
        return ()
    match arg.suggests:
        case "models":
            known = channel_rules(rules, message.inbound.channel).agent_called(message.agents[0]).models
            own = (known.default,) if known.default else ()
            values = (*known.aliases, *own, *known.allowed, *known.fallbacks, *message.facts.offered)
        case "skills":
            values = tuple(rules.skills)
        case _:
            values = arg.choices
    typed = invoked.options.get(option, "").strip().lower()
    fitting = [value for value in dict.fromkeys(values) if typed in value.lower()]
    return tuple(sorted(fitting, key=lambda value: not value.lower().startswith(typed)))
