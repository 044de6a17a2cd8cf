"""Where an agent may send on its own (OD-52): to chats that it serves and in which people are let in, or that are
listed."""

from collections.abc import Collection

from rejoinder.events import Route
from rejoinder.inbound.ids import Ids, split
from rejoinder.inbound.rules import Rules


def is_listed(route: Route, send_to: Collection[str]) -> bool:
    """Whether `directives.send_to` names this chat."""
    return any(
        entry.id == route.chat and entry.channel in (None, route.channel) and entry.account in (None, route.account)
        for entry in map(split, send_to)
    )


def refusal(
    route: Route,
    agent: str,
    rules: Rules,
    *,
    allow: Ids | None,
    paired: bool,
    known: bool,
    direct: bool | None = None,
    members: tuple[str, ...] = (),
) -> str | None:
    """Why this agent may not send to this chat; None if it may.

    `allow`: the list as owners have edited it. `known`: whether somebody has written there, let in or not; if everybody
    is let in, the chat has to be known, because an agent may have made up its id. `direct`: whether it is a direct
    chat; None if that is unknown. `members`: our agents in that chat; empty: all of the channel's.
    """
    channel = rules.channels.get(route.channel)
    if channel is None or agent not in [each.name for each in channel.agents]:
        return f"{agent} does not serve {route.channel}; add this chat to `directives.send_to` to allow it"
    if members and agent not in members:
        return f"{agent} is not in this chat; add this chat to `directives.send_to` to allow it"
    settings, chat = channel.settings, (route.chat,)
    people = channel.owners | (channel.allow if allow is None else allow)
    if settings.dm != "off" and (paired or people.named(route.account, chat)):
        return None
    if settings.groups != "off" and channel.allow_groups.named(route.account, chat):
        return None
    accesses = (settings.dm, settings.groups) if direct is None else (settings.dm if direct else settings.groups,)
    if known and all(access == "open" for access in accesses):
        return None
    return "nobody there is let in; add this chat to `directives.send_to` to allow it"
