"""The output directives: one file with one declaration for each (OD-55). The file is the registration."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from rejoinder.errors import BadConfiguration
from rejoinder.outbound.directives.declaration import Declaration, Registry

SHARED = ("declaration", "effects")


def built_in() -> tuple[Declaration, ...]:
    """The declarations of this folder, in the order of their file names."""
    names = sorted(module.name for module in iter_modules(__path__) if module.name not in SHARED)
    return tuple(import_module(f"{__name__}.{name}").DIRECTIVE for name in names)


@cache
def default_registry(*, links: bool = False) -> Registry:
    return Registry(built_in(), links=links)


def registry_with(theirs: Iterable[Declaration], *, links: bool = False) -> Registry:
    """Our declarations and those of other packages. Two with the same name are an error before anything starts."""
    others = tuple(theirs)
    try:
        return Registry(built_in(), others, links=links) if others else default_registry(links=links)
    except ValueError as clash:
        raise BadConfiguration(f"{clash}: a directive of another package has to choose another name") from None
