"""What became of the directives of an answer: for the trace, and for the agent's next turn (OD-51)."""

from typing import Literal

from msgspec import Struct

from rejoinder.inbound.facts import Step

Fate = Literal["done", "unsupported", "denied", "failed"]
MOST_TOLD = 20


class Outcome(Struct, frozen=True):
    what: str
    fate: Fate
    why: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.fate}" + (f" ({self.why})" if self.why else "")


class Outcomes:
    def __init__(self) -> None:
        self._all: list[Outcome] = []

    def note(self, what: str, fate: Fate, why: str = "") -> None:
        self._all.append(Outcome(what, fate, why))

    def told(self) -> str | None:
        """The sentence for the next turn; None when nothing was asked for."""
        if not self._all:
            return None
        return "Of your last answer: " + "; ".join(map(str, self._all[:MOST_TOLD])) + "."

    def steps(self) -> tuple[Step, ...]:
        return tuple(Step(each.what, each.fate, each.why or None, 0.0) for each in self._all)
