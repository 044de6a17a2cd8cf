"""Finds the channel that serves a place and, if the channel has several accounts, the account (CH-4)."""

from collections.abc import Iterable, Mapping

from rejoinder.channels.base import DEFAULT_ACCOUNT, Channel, HasAccount
from rejoinder.events import Route


def account_of(channel: Channel) -> str:
    return channel.account if isinstance(channel, HasAccount) else DEFAULT_ACCOUNT


def listener(channel: str, account: str) -> str:
    """The name that people see: the channel's, with the account's if there are several."""
    return channel if account == DEFAULT_ACCOUNT else f"{channel}/{account}"


def listeners(channels: Iterable[Channel]) -> dict[str, Channel]:
    """All channels and accounts that listen, by the names that people see."""
    return {listener(each.name, account_of(each)): each for each in channels}


def by_name(channels: Iterable[Channel]) -> dict[str, Channel]:
    """One channel for each name. The abilities of a channel are the same for all its accounts; the first account speaks
    if none is named."""
    found: dict[str, Channel] = {}
    for each in channels:
        found.setdefault(each.name, each)
    return found


def serving(channels: Mapping[str, Channel], route: Route) -> Channel:
    """The channel or account that serves this place. `channels`: by name, accounts by their names from `listener`."""
    return channels.get(listener(route.channel, route.account)) or channels[route.channel]
