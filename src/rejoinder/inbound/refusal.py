"""What a sender without permission is told (IN-14): usually nothing."""

from rejoinder.inbound.gate import GatedAction
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Answer, Drop


def refuse(message: InboundMessage, action: GatedAction, reason: str) -> Answer | Drop:
    """Refuses silently, with a trace, or with one fixed line for a known sender in a direct chat. The agent never
    runs."""
    if message.command_authorised and not message.in_group:
        return Answer((f"{action.name} is for the owner.",), reason=reason)
    return Drop(reason)
