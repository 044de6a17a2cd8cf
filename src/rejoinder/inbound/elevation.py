"""Who may do more than talk: what stands in the way of it, for `/elevated` and `/bash` alike."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the rules know the commands, which ask here
    from rejoinder.inbound.rules import ChannelRules, Rules


def gates(rules: "Rules", channel: "ChannelRules", account: str, candidates: tuple[str, ...]) -> tuple[str, ...]:
    """Each with what opens it; none: the way is free."""
    closed: list[str] = []
    if not rules.settings.commands.elevated.enabled:
        closed.append("it is off (set commands.elevated.enabled = true)")
    if not channel.elevated.named(account, candidates):
        closed.append("you are not listed (add your id to commands.elevated.allow_from)")
    return tuple(closed)
