"""Single keys that `/debug` lays over the file until the next start.

Rule 1: they are laid over the file's values before the check, so everything is checked as if it were one file.
Rule 2: their values are taken literally: no `${VAR}` is filled in.
Rule 3: permissions and programs to run can be set only in the file: FILE_ALONE.
"""

import tomllib
from collections.abc import Mapping
from typing import Any, cast

from rejoinder.config.wording import dotted
from rejoinder.errors import BadUse

Overlay = Mapping[tuple[str, ...], Any]
"""Key and value."""
NO_OVERLAY: Overlay = {}

FILE_ALONE: tuple[tuple[str, ...], ...] = (
    ("commands",),
    ("directives", "allow"),
    ("directives", "send_to"),
    ("channels", "*", "owners"),
    ("channels", "*", "host"),
    ("channels", "*", "trusted_proxies"),
    ("agents", "*"),
)
"""`*`: any name, except `agents.defaults`, which is not an agent."""


def read_key(text: str) -> tuple[str, ...]:
    """The parts of a dotted key; raises BadUse if it is not a key, or a key that may not be changed from a chat."""
    try:
        found: Any = tomllib.loads(f"{text} = 0") if "\n" not in text else {}
    except tomllib.TOMLDecodeError:
        found = {}
    path: list[str] = []
    while isinstance(found, dict) and found:
        ((name, found),) = cast("dict[str, Any]", found).items()
        path.append(name)
    if len(path) < 2 or found != 0:
        raise BadUse(f"{text} is not a key; a key looks like messages.queue.mode")
    if path[:2] != ["agents", "defaults"] and any(_touches(path, key) for key in FILE_ALONE):
        raise BadUse(f"{dotted(tuple(path))} can only be changed in the file: it says who may do what, or what is run")
    return tuple(path)


def _touches(path: list[str], key: tuple[str, ...]) -> bool:
    """Whether `path` is this key, a key below it, or a table that may contain it."""
    return all(part in ("*", name) for part, name in zip(key, path, strict=False))


def read_value(text: str) -> Any:
    """The value as TOML; anything that is not TOML is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text


def overlaid(raw: Mapping[str, Any], overlay: Overlay) -> dict[str, Any]:
    """The document with these keys set; a value in the place of a needed table is replaced."""
    document = dict(raw)
    for path, value in overlay.items():
        table = document
        for name in path[:-1]:
            inner = table.get(name)
            table[name] = dict(cast("dict[str, Any]", inner)) if isinstance(inner, dict) else {}
            table = table[name]
        table[path[-1]] = value
    return document
