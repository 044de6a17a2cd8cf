"""Turns settings back into the text of a file, with every default and without secrets.

A text from the environment is shown as it was written (`${VAR}`), a secret in the file as `***`, an address without its
password. The output can be read again.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from rejoinder.config.schema import SECTIONS, ConfiguredAgent, Settings
from rejoinder.config.wording import dotted, quoted, without_password
from rejoinder.documents import is_object
from rejoinder.secret import FromEnvironment, Secret


def effective(settings: Settings) -> dict[str, Any]:
    """Section, key, value, as in the file; keys without a value are left out."""
    agents = {name: _agent(agent) for name, agent in settings.agents.items()}
    channels = {
        name: {"kind": channel.kind, **_plain(channel.settings), **_plain(channel.common)}
        for name, channel in settings.channels.items()
    }
    sections = {name: _plain(getattr(settings, name)) for name in SECTIONS}
    gateway = sections.pop("gateway")
    defaults = _plain(settings.agent_defaults)
    named = {"cron": _plain(settings.cron), "hooks": _plain(settings.hooks)}
    named = {section: tables for section, tables in named.items() if tables}
    return {"gateway": gateway, "agents": {"defaults": defaults, **agents}, "channels": channels, **named, **sections}


def _agent(agent: ConfiguredAgent) -> dict[str, Any]:
    beats = {} if agent.heartbeat is None else {"heartbeat": _plain(agent.heartbeat)}
    return {"kind": agent.kind, **_plain(agent.settings), **beats}


def part(document: Mapping[str, Any], key: str) -> str | None:
    """The value of a dotted key, as TOML text; None if there is none."""
    path = tuple(key.split(".")) if key else ()
    found: Any = document
    for name in path:
        if not isinstance(found, dict) or name not in found:
            return None
        found = cast("dict[str, Any]", found)[name]
    if isinstance(found, dict):
        return "\n".join(_tables(cast("dict[str, Any]", found), path)).strip()
    return f"{key} = {_value(found)}"


def _plain(value: Any) -> Any:
    match value:
        case Struct():
            fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
            return {name: _plain(item) for name, item in fields if item is not None}
        case Secret() | FromEnvironment():
            return value.written
        case str():
            return without_password(value).replace("${", "$${")
        case dict():
            return {key: _plain(item) for key, item in cast("dict[str, Any]", value).items()}
        case tuple() | list():
            return [_plain(item) for item in cast("list[Any]", value)]
        case _:
            return value


def as_toml(document: Mapping[str, Any]) -> str:
    """The document as TOML text."""
    return "\n".join(_tables(document, ())).strip() + "\n"


def _tables(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    inside = {key: value for key, value in table.items() if is_object(value) and value}
    plain = {key: value for key, value in table.items() if key not in inside}
    if path and (plain or not inside):
        yield f"\n[{dotted(path)}]"
    for key, value in plain.items():
        yield f"{dotted((key,))} = {_value(value)}"
    for key, value in inside.items():
        yield from _tables(value, (*path, key))


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case dict():
            items = cast("dict[str, Any]", value).items()
            return "{" + ", ".join(f"{dotted((key,))} = {_value(item)}" for key, item in items) + "}"
        case list():
            return "[" + ", ".join(map(_value, cast("list[Any]", value))) + "]"
        case _:
            return str(value)
