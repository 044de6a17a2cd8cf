"""The accounts of a channel: several bots side by side under one section, each with a name (CH-4)."""

import re
from collections.abc import Iterable, Iterator

from rejoinder.channels.base import ONLY

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def misnamed(accounts: Iterable[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where a name cannot be used, and why."""
    for name in accounts:
        if not _NAME.fullmatch(name) or name == ONLY:
            yield ("accounts", name), f"a name is made of letters, digits, - and _, and is not {ONLY!r}"
