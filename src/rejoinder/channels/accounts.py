"""The accounts of a channel: several bots side by side under one section, each with a name (CH-4)."""

import re
from collections.abc import Iterable, Iterator

from rejoinder.channels.base import DEFAULT_ACCOUNT

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def section_of(channel: str, account: str) -> str:
    """The section in which an account is configured, as messages name it."""
    return channel if account == DEFAULT_ACCOUNT else f"{channel}.accounts.{account}"


def name_problems(accounts: Iterable[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The names that cannot be used: where each is, and why."""
    for name in accounts:
        if not _NAME.fullmatch(name) or name == DEFAULT_ACCOUNT:
            yield ("accounts", name), f"a name is made of letters, digits, - and _, and is not {DEFAULT_ACCOUNT!r}"
