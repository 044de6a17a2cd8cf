"""Sets or removes one key in a configuration's text; every other byte stays, including comments (IN-61).

Rule 1: only keys that `/debug` may lay over the file may be written, and no secrets: `overlay.read_key` and
        `holds_secret` refuse the rest.
Rule 2: values are taken literally: `${VAR}` is written as `$${VAR}`.
Rule 3: the new text must mean exactly the old one with this key changed; otherwise nothing is written.
"""

import tomllib
from collections.abc import Mapping, MutableMapping
from importlib import import_module
from typing import Any, cast

from msgspec import Struct

from rejoinder.config.overlay import overlaid
from rejoinder.config.schema import Settings
from rejoinder.config.wording import dotted, without_password
from rejoinder.errors import BadUse
from rejoinder.secret import Secret

Key = tuple[str, ...]


def with_key(text: str, key: Key, value: Any) -> str:
    """The text with this key set."""
    document, literal = _parsed(text), _literal(value)
    table, left = document, list(key)
    while len(left) > 1 and left[0] in table:
        table = _inner(table, left.pop(0), key)
    new = literal
    for name in reversed(left[1:]):
        new = {name: new}
    table[left[0]] = new
    return _faithful(document, overlaid(tomllib.loads(text), {key: literal}), key)


def without_key(text: str, key: Key) -> str:
    """The text with this key removed, so that its default holds."""
    document, meant = _parsed(text), tomllib.loads(text)
    table, plain = document, meant
    for name in key[:-1]:
        if name not in table:
            raise BadUse(f"{dotted(key)} is not set in the file")
        table, plain = _inner(table, name, key), plain[name]
    if key[-1] not in table:
        raise BadUse(f"{dotted(key)} is not set in the file")
    del table[key[-1]], plain[key[-1]]
    return _faithful(document, meant, key)


def holds_secret(settings: Settings, key: Key) -> bool:
    """Whether this key holds a secret, or an address with a password in it; not for keys of agents."""
    section, *rest = key
    found: list[Any] = [getattr(settings, section, None)]
    if section == "channels":
        channel = settings.channels.get(rest.pop(0))
        found = [] if channel is None else [channel.settings, channel.common]
    elif section == "agents":
        rest.pop(0)
        found = [settings.agent_defaults]
    for name in rest:
        found = [_under(each, name) for each in found]
    return any(map(_is_secret, found))


def _under(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get(name)
    return getattr(value, name, None) if isinstance(value, Struct) else None


def _is_secret(value: Any) -> bool:
    match value:
        case Secret():
            return True
        case str():
            return without_password(value) != value
        case Struct():
            return any(_is_secret(getattr(value, name)) for name in value.__struct_fields__)
        case dict():
            return any(map(_is_secret, cast("dict[str, Any]", value).values()))
        case tuple() | list():
            return any(map(_is_secret, cast("list[Any]", value)))
        case _:
            return False


def _literal(value: Any) -> Any:
    match value:
        case str():
            return value.replace("${", "$${")
        case dict():
            return {key: _literal(item) for key, item in cast("dict[str, Any]", value).items()}
        case list():
            return [_literal(item) for item in cast("list[Any]", value)]
        case _:
            return value


def _tomlkit() -> Any:
    """Imported late, because it is needed only to write a configuration."""
    return import_module("tomlkit")


def _parsed(text: str) -> MutableMapping[str, Any]:
    try:
        return _tomlkit().parse(text)
    except ValueError as problem:
        raise BadUse(f"the file is not valid TOML: {problem}") from None


def _inner(table: MutableMapping[str, Any], name: str, key: Key) -> MutableMapping[str, Any]:
    inner = table[name]
    if not isinstance(inner, MutableMapping):
        raise BadUse(f"{dotted(key)} cannot be set: {name} is a value, not a table")
    return cast("MutableMapping[str, Any]", inner)


def _faithful(document: MutableMapping[str, Any], meant: Mapping[str, Any], key: Key) -> str:
    text: str = _tomlkit().dumps(document)
    if tomllib.loads(text) != meant:
        raise BadUse(f"{dotted(key)} cannot be written without changing something else; edit the file by hand")
    return text
