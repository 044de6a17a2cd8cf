"""Who serves a place: its channel and, where that has several accounts side by side, the account (CH-4)."""

from collections.abc import Iterable, Mapping

from rejoinder.channels.base import DEFAULT_ACCOUNT, Channel, HasAccount
from rejoinder.events import Route


def account_of(channel: Channel) -> str:
    return channel.account if isinstance(channel, HasAccount) else DEFAULT_ACCOUNT


def listener(channel: str, account: str) -> str:
    """What people call it: the channel's name, and the account's where there are several."""
    return channel if account == DEFAULT_ACCOUNT else f"{channel}/{account}"


def listeners(channels: Iterable[Channel]) -> dict[str, Channel]:
    """All that listen, by what people call them."""
    return {listener(each.name, account_of(each)): each for each in channels}


def by_name(channels: Iterable[Channel]) -> dict[str, Channel]:
    """One for each name: what a channel can do is the same for all its accounts; the first speaks where none is
    named."""
    found: dict[str, Channel] = {}
    for each in channels:
        found.setdefault(each.name, each)
    return found


def serving(channels: Mapping[str, Channel], route: Route) -> Channel:
    """The one that serves this place, among channels by name and accounts as `listener` calls them."""
    return channels.get(listener(route.channel, route.account)) or channels[route.channel]
