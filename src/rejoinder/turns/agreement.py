"""The settings on which all processes on a store have to agree (SC-25): which chats share a session, and so a home, and
which accounts there are.

Rule 1: settings that decide where a chat lives never differ from the recorded ones.
Rule 2: accounts may differ from the recorded ones, but not while other processes run with those.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from rejoinder.session import SessionSettings

ACCOUNTS: Final = "channels"


def homes_by(session: SessionSettings) -> dict[str, str]:
    """The settings that decide where a chat lives, by their keys."""
    links = {name: sorted(entries) for name, entries in sorted(session.identity_links.items())}
    return {
        "session.scope": _written(session.scope),
        "session.group_scope": _written(session.group_scope),
        "session.main_key": _written(session.main_key),
        "session.identity_links": _written(links),
    }


def accounts_named(accounts: Iterable[tuple[str, str]]) -> str:
    """Channels and their accounts, in the recorded form."""
    return _written(sorted(f"{channel}/{account}" for channel, account in accounts))


def difference(recorded: Mapping[str, bytes], here: Mapping[str, str], *, others: bool) -> str:
    """Says which setting keeps a process from working on a store with these records; empty if none does. `others`:
    whether other processes run on it."""
    for key, value in here.items():
        known = recorded[key].decode() if key in recorded else value
        if key == ACCOUNTS and known != value and others:
            return (
                f"channels: the accounts are {value} here, but {known} in other gateways on this store, so this one "
                "answers no chats. Stop all of them and start them with the same configuration"
            )
        if key != ACCOUNTS and known != value:
            return (
                f"{key} is {value} here, but {known} in the store, so this gateway answers no chats. `rejoinder "
                "store rehome` applies the change, while no gateway runs"
            )
    return ""


def _written(value: object) -> str:
    return msgspec.json.encode(value).decode()
