"""The faults of a platform, added beforehand or drawn from a seed (DU-21). The same seed draws the same faults."""

import random
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Kind = Literal[
    "drop",  # the connection ends, nothing was accepted
    "accept-drop",  # the call was accepted, but the connection ends before the answer
    "429",
    "5xx",
    "400",  # the formatting is refused
    "401",
    "403",
    "404",
    "409",
    "slow",
    "half-open",  # nothing is accepted, nothing is answered, the connection stays
    "duplicate",  # an event comes once more, under a new number
    "reorder",  # an event comes after the one that follows it
]
Verb = Literal[
    "send", "edit", "react", "delete", "typing", "preview", "file", "thread", "poll", "event", "other", "any"
]


class Fault(Struct, frozen=True):
    """A fault for the next `times` calls of this verb, after `after` of them have passed."""

    kind: Kind
    on: Verb = "send"
    chat: str = "*"
    times: int = 1
    after: int = 0
    seconds: float = 1.0
    """How long to wait after a 429, or how slow the answer is."""


class Faults:
    def __init__(self, seed: int = 0, rates: Mapping[tuple[Verb, Kind], float] | None = None) -> None:
        self._random = random.Random(seed)
        self._rates = dict(rates or {})
        self._told: list[_Told] = []

    def add(self, fault: Fault) -> None:
        self._told.append(_Told(fault, fault.times, fault.after))

    def rate(self, on: Verb, kind: Kind, probability: float) -> None:
        self._rates[on, kind] = probability

    def draw(self, verb: Verb, chat: str) -> Fault | None:
        """The fault of this call, if any. Faults added beforehand come before drawn ones."""
        for told in self._told:
            if told.times and told.fault.on in (verb, "any") and told.fault.chat in ("*", chat):
                if told.after:
                    told.after -= 1
                    continue
                told.times -= 1
                return told.fault
        for (on, kind), probability in self._rates.items():
            if on == verb and self._random.random() < probability:
                return Fault(kind, verb, chat)
        return None


class _Told(Struct):
    fault: Fault
    times: int
    after: int
