"""Abilities are asked once for each class, and most of them before anybody waits."""

from types import ModuleType
from typing import Protocol, runtime_checkable

from rejoinder.runtime.abilities import can, learn


@runtime_checkable
class CanSing(Protocol):
    def sing(self) -> None: ...


@runtime_checkable
class HasVoice(Protocol):
    voice: str


@runtime_checkable
class HasPitch(Protocol):
    @property
    def pitch(self) -> int: ...


BASE = ModuleType("base")
vars(BASE).update({each.__name__: each for each in (CanSing, HasVoice, HasPitch)}, other=Protocol)


def test_what_was_learnt_is_not_asked_again():
    """Neither what a class can nor what it cannot."""

    class Bird:
        def sing(self) -> None: ...

    class Fish: ...

    learn([Bird(), Fish()], BASE)
    del Bird.sing
    Fish.sing = print
    assert can(Bird(), CanSing)
    assert not can(Fish(), CanSing)


def test_a_value_may_come_later():
    """A channel knows its own name when it is connected."""

    class Late: ...

    thing = Late()
    learn([thing], BASE)
    thing.voice, thing.pitch = "low", 1
    assert can(thing, HasVoice)
    assert can(thing, HasPitch)
