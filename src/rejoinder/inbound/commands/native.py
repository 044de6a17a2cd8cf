"""Turns a command chosen from the platform's own menu (CH-9) into the text a person would have typed."""

from msgspec.structs import replace

from rejoinder.events import Inbound
from rejoinder.inbound.commands.command import as_typed
from rejoinder.inbound.rules import Rules


def typed_out(inbound: Inbound, rules: Rules) -> Inbound:
    """The message with that text; its arguments are still the ones that came by name."""
    if (invoked := inbound.invoked) is None:
        return inbound
    name = invoked.name.lower()
    text = as_typed(rules.commands.get(name), name, invoked.options)
    return replace(inbound, text=text, entry="native")
