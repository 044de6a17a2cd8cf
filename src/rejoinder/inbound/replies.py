"""The gateway's own replies to a message, and who sees them."""

from collections.abc import Mapping, Sequence
from typing import Final

from rejoinder.events import Inbound
from rejoinder.inbound.commands.command import Command
from rejoinder.inbound.outcome import Drop, StageResult

NOT_YOURS: Final = "Nothing was done: you may not do this here."


def replies_to(inbound: Inbound, decided: StageResult, said: Sequence[str]) -> Sequence[str]:
    """The replies: what the effects `said`, if anything, or else the decision's own replies."""
    said = said or decided.replies
    if said or inbound.entry not in ("native", "button") or not isinstance(decided.outcome, Drop):
        return said
    # The platform shows a waiting sign to the person, and to nobody else, until they get an answer.
    return (NOT_YOURS,) if _is_answered_alone(inbound) else ()


def only_for(inbound: Inbound, commands: Mapping[str, Command]) -> str | None:
    """The only person who sees the answer: they pressed a button, or chose a command whose answer is private (CH-9)."""
    if not _is_answered_alone(inbound):
        return None
    named = inbound.invoked.name.lower() if inbound.invoked is not None else ""
    command = commands.get(named)
    return inbound.sender.id if inbound.entry == "button" or command is None or command.private else None


def _is_answered_alone(inbound: Inbound) -> bool:
    """Whether the platform can show the answer to only this person."""
    context = inbound.reply_context
    return context is not None and context.private and inbound.chat.kind != "direct"
