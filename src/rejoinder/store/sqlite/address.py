"""Parses the address of a SQLite store: `sqlite:FILE` or `sqlite::memory:`."""

from pathlib import Path
from typing import Final

from rejoinder.errors import BadUse, StoreUnavailable

SCHEME: Final = "sqlite:"
MEMORY: Final = "sqlite::memory:"


def path_of(url: str) -> str:
    if not url.startswith(SCHEME) or url == SCHEME:
        raise BadUse(f"{url!r} names no SQLite store; write sqlite:FILE or {MEMORY}")
    return url.removeprefix(SCHEME)


def existing(url: str) -> str:
    """The path of a store that has to exist."""
    path = path_of(url)
    if url == MEMORY:
        raise BadUse(f"{MEMORY} is in the memory of its gateway; no other program can read it")
    if not Path(path).is_file():
        raise StoreUnavailable("missing", path, "there is no such file")
    return path
