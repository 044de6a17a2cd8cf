"""Whether an agent or a channel has an ability: `isinstance` of the Protocol, asked once for each class.

The check of a runtime Protocol looks through all its members and takes microseconds; a turn asks a dozen times.
"""

from typing import TypeGuard, TypeVar

Ability = TypeVar("Ability")
_KNOWN: dict[tuple[type, type], bool] = {}


def can(thing: object, ability: type[Ability]) -> TypeGuard[Ability]:
    key = (type(thing), ability)
    if key not in _KNOWN:
        _KNOWN[key] = isinstance(thing, ability)
    return _KNOWN[key]
