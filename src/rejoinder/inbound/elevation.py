"""What keeps a sender from elevated rights, both for `/elevated` and for `/bash`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the rules import the commands, which import this module
    from rejoinder.inbound.rules import ChannelRules, Rules


def gates(rules: "Rules", channel: "ChannelRules", account: str, candidates: tuple[str, ...]) -> tuple[str, ...]:
    """The closed gates, each with what opens it; empty if the sender may."""
    closed: list[str] = []
    if not rules.settings.commands.elevated.enabled:
        closed.append("it is off (set commands.elevated.enabled = true)")
    if not channel.elevated.named(account, candidates):
        closed.append("you are not listed (add your id to commands.elevated.allow_from)")
    return tuple(closed)
