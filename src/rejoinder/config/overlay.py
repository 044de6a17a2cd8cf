"""Single keys laid over the file until the next start: what `/debug` sets.

Rule 1: they are laid over what the file says before it is checked, so the whole is checked as if it were one file.
Rule 2: their values are taken literally: no `${VAR}` is filled in.
Rule 3: only the file says who may do what, and what is run: FILE_ALONE.
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
"""`*`: any name, except `agents.defaults`, which is no agent."""


def read_key(text: str) -> tuple[str, ...]:
    """The parts of a dotted key; raises BadUse for what is no key, and for a key that a chat may not change."""
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
    """Whether it is this key, stands under it, or is a table that may hold it."""
    return all(part in ("*", name) for part, name in zip(key, path, strict=False))


def read_value(text: str) -> Any:
    """The value as TOML reads it; what is not TOML is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text


def overlaid(raw: Mapping[str, Any], overlay: Overlay) -> dict[str, Any]:
    """The document with these keys set; a value where a table is needed is replaced."""
    document = dict(raw)
    for path, value in overlay.items():
        table = document
        for name in path[:-1]:
            inner = table.get(name)
            table[name] = dict(cast("dict[str, Any]", inner)) if isinstance(inner, dict) else {}
            table = table[name]
        table[path[-1]] = value
    return document
