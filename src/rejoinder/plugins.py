"""Finds plug-ins by file name or entry point, and imports one only when it is asked for by name.

A channel is a module that declares itself: `CHANNEL = ChannelKind(...)`. A file or folder in `channels/` is found by
its name, a module of another package by its entry point:

    [project.entry-points."rejoinder.channels"]
    zulip = "my_package.zulip"
"""

import logging
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from msgspec import Struct

from rejoinder.errors import BadConfiguration
from rejoinder.extras import how_to_install, packages

log = logging.getLogger(__name__)


class Kind(Struct, frozen=True):
    """Where plug-ins of a kind are: our own folder, if any, and the entry points of other packages; and what each
    module must define."""

    folder: str | None
    group: str
    defines: str
    before: tuple[str, str] = ("", "")
    """The function that earlier versions asked for, and how to declare it now."""
    takes: Callable[[Any], bool] | None = None
    """Whether the value has the right type; None: its user finds out."""
    looks_like: str = ""
    """An example, shown if the value is wrong."""


KINDS = {
    "channel": Kind(
        "rejoinder.channels",
        "rejoinder.channels",
        "CHANNEL",
        ("open_channel", "CHANNEL = ChannelKind(settings=Settings, open=open_channel, ...)"),
    ),
    "agent": Kind(
        "rejoinder.agents",
        "rejoinder.agents",
        "AGENT",
        ("open_agent", "AGENT = AgentKind(settings=Settings, open=open_agent)"),
    ),
    "store": Kind("rejoinder.store", "rejoinder.stores", "STORE"),
    "directive": Kind(
        "rejoinder.outbound.directives",
        "rejoinder.directives",
        "DIRECTIVE",
        takes=lambda found: all(hasattr(found, name) for name in ("name", "tag", "effect", "act")),
        looks_like="DIRECTIVE = Declaration(...)",
    ),
    "command": Kind(
        "rejoinder.inbound.commands",
        "rejoinder.commands",
        "COMMANDS",
        takes=lambda found: isinstance(found, tuple | list) and all(hasattr(each, "handle") for each in _items(found)),
        looks_like="COMMANDS = (Command(...),)",
    ),
    "hook": Kind(
        None,
        "rejoinder.hooks",
        "HOOKS",
        takes=lambda found: isinstance(found, Mapping) and all(map(callable, _items(found.values()))),
        looks_like='HOOKS = {"turn_ended": told}, each an async function',
    ),
}


def _items(found: Any) -> list[Any]:
    return list(found)


def names(kind: str) -> list[str]:
    """All names of a kind, sorted. None of our own modules is imported for this."""
    return sorted({*_files(KINDS[kind]), *from_packages(kind)})


def find(kind: str, name: str) -> ModuleType:
    """The module of this name; ours come first, so that a package cannot take a built-in's name."""
    where = KINDS[kind]
    if _is_ours(where, name):
        module = _imported(kind, name, f"{where.folder}.{name}")
        if name in from_packages(kind) and not gives_way(module):
            _warn_of_unused(kind, name)
        return module
    if name in from_packages(kind):
        return find_other(kind, name)
    raise BadConfiguration(_unknown(kind, name))


def gives_way(module: ModuleType) -> bool:
    """Whether one of our modules only declares a channel that cannot connect yet; another package may take its name."""
    return getattr(getattr(module, "CHANNEL", None), "open", module) is None


@cache
def _warn_of_unused(kind: str, name: str) -> None:
    log.warning(
        "the %s %r of another package, %s, is not used: the one built into rejoinder has this name, %s; "
        "the package has to choose another name",
        kind,
        name,
        from_packages(kind)[name],
        f"{KINDS[kind].folder}.{name}",
    )


def exists(kind: str, name: str) -> bool:
    return _is_ours(KINDS[kind], name) or name in from_packages(kind)


def from_packages(kind: str) -> Mapping[str, str]:
    """The plug-ins of other packages of a kind: their modules by name."""
    return installed().get(KINDS[kind].group, {})


def others(kind: str) -> list[ModuleType]:
    """All modules of other packages of a kind, in the order of their names."""
    return [find_other(kind, name) for name in sorted(from_packages(kind))]


def commands_of_others() -> list[Any]:
    """The commands of other packages; a module may declare several."""
    return [command for module in others("command") for command in module.COMMANDS]


def _imported(kind: str, name: str, place: str) -> ModuleType:
    """Imports one of our modules. The packages it may need are an extra of the same name."""
    try:
        return import_module(place)
    except ModuleNotFoundError as problem:
        raise missing_extra(kind, name, problem) from problem


def missing_extra(kind: str, name: str, problem: ModuleNotFoundError, extra: str = "") -> Exception:
    """The error for a missing package: it names the extra to install, if there is one. `extra`: its name, if it differs
    from the plug-in's."""
    extra = extra or name
    if not packages(extra):
        return problem
    return BadConfiguration(
        f"the {kind} {name!r} needs the extra {extra!r}; it is not installed: {how_to_install(extra)}"
    )


def find_other(kind: str, name: str) -> ModuleType:
    """The module of this name that another package brings."""
    place = from_packages(kind)[name]
    if len(rivals := _bringing(kind, name)) > 1:
        raise BadConfiguration(
            f"several packages bring a {kind} called {name!r}: {' and '.join(rivals)}; "
            "remove all but one, or have the others choose another name"
        )
    try:
        module = import_module(place)
    except (Exception, SystemExit) as problem:  # another package's code may raise anything
        raise BadConfiguration(f"the {kind} {name!r} cannot be loaded from {place}: {problem}") from problem
    return _checked(module, kind)


def _checked(module: ModuleType, kind: str) -> ModuleType:
    wanted = KINDS[kind]
    if hasattr(module, wanted.defines):
        if wanted.takes is None or wanted.takes(getattr(module, wanted.defines)):
            return module
        raise BadConfiguration(
            f"the module {module.__name__} cannot be used for a {kind}: write {wanted.looks_like} in it"
        )
    function, now = wanted.before
    hint = f"; it was written for an earlier version: add {now}" if function and hasattr(module, function) else ""
    article = "an" if kind[0] in "aeiou" else "a"
    raise BadConfiguration(
        f"the module {module.__name__} cannot be used as {article} {kind}: it does not define {wanted.defines}{hint}"
    )


def raised(problem: BaseException) -> str:
    """What another package's code has raised and where, in a few words for its author instead of a traceback."""
    at = problem.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f" ({Path(at.tb_frame.f_code.co_filename).name}, line {at.tb_lineno})" if at is not None else ""
    return f"{type(problem).__name__}: {problem}{where}"


def _files(kind: Kind) -> set[str]:
    folder = find_spec(kind.folder) if kind.folder else None
    places = folder.submodule_search_locations if folder is not None else None
    return {module.name for module in iter_modules(places or ()) if _is_ours(kind, module.name)}


def _is_ours(kind: Kind, name: str) -> bool:
    """Whether the folder has a plug-in of this name, not just a shared file: its source defines the required name."""
    if not name.isidentifier() or kind.folder is None or find_spec(kind.folder) is None:
        return False
    spec = find_spec(f"{kind.folder}.{name}")
    source = spec.loader.get_source(spec.name) if spec and isinstance(spec.loader, InspectLoader) else None
    return re.search(rf"^{kind.defines}\b", source or "", re.MULTILINE) is not None


@cache
def installed() -> Mapping[str, Mapping[str, str]]:
    """The modules of other packages, by group and name."""
    groups = (kind.group for kind in KINDS.values())
    return {group: {point.name: point.module for point in _points() if point.group == group} for group in groups}


@cache
def _points() -> tuple[EntryPoint, ...]:
    """Cached, because this looks into every installed package."""
    points = entry_points()
    return tuple(point for kind in KINDS.values() for point in points.select(group=kind.group))


def _bringing(kind: str, name: str) -> list[str]:
    """The modules installed under this name, each with the package that it belongs to."""
    group = KINDS[kind].group
    found = {point.module: point.dist for point in _points() if (point.group, point.name) == (group, name)}
    return [f"{module} of {dist.name}" if dist else module for module, dist in sorted(found.items())]


def _unknown(kind: str, name: str) -> str:
    there = names(kind)
    near = get_close_matches(name, there, n=1)
    guess = f"did you mean {near[0]}? " if near else ""
    return f"no {kind} called {name!r}; {guess}there are: {', '.join(there) or 'none'}"
