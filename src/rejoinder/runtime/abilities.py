"""Whether an agent or a channel has an ability: `isinstance` against its Protocol, cached for each class.

Checking a runtime Protocol looks at all its members and takes microseconds; a turn asks a dozen times. The first check
of a class takes a hundred microseconds, so `learn` makes all of them when the gateway is built.
"""

from collections.abc import Iterable
from types import ModuleType
from typing import TypeGuard, TypeVar

from rejoinder.agents.base import CanSteer, ReportsSteering

Ability = TypeVar("Ability")
_KNOWN: dict[type, dict[type, bool]] = {}


def can(thing: object, ability: type[Ability]) -> TypeGuard[Ability]:
    try:
        return _KNOWN[type(thing)][ability]
    except KeyError:
        known = _KNOWN.setdefault(type(thing), {})[ability] = isinstance(thing, ability)
        return known


def can_steer(agent: object) -> bool:
    """Whether it is worth asking the agent to take a message into a running turn."""
    return can(agent, CanSteer) and not (can(agent, ReportsSteering) and agent.steers is False)


def learn(things: Iterable[object], base: ModuleType) -> None:
    """Checks each ability in `base` that has only methods: attributes might be missing before connecting."""
    declared = [each for each in vars(base).values() if getattr(each, "_is_runtime_protocol", False)]
    abilities = list(filter(_is_of_methods, declared))
    for thing in things:
        for ability in abilities:
            can(thing, ability)


def _is_of_methods(ability: type) -> bool:
    return not ability.__annotations__ and not any(isinstance(each, property) for each in vars(ability).values())
