"""The results of an answer's directives, for the trace and for the agent's next turn (OD-51)."""

from typing import Literal

from rejoinder.events import Step

DirectiveResult = Literal["done", "unsupported", "denied", "failed"]
MOST_TOLD, MOST_KEPT = 20, 100
"""How many results the agent is told, and how many are stored: an agent may write thousands."""


class DirectiveResults:
    def __init__(self) -> None:
        self._all: list[Step] = []

    def note(self, what: str, result: DirectiveResult, why: str = "") -> None:
        if len(self._all) < MOST_KEPT:
            self._all.append(Step(what, result, why or None))

    def sentence(self) -> str | None:
        """The sentence for the next turn; None if there were no directives."""
        if not self._all:
            return None
        return "About your last answer: " + "; ".join(map(_in_words, self._all[:MOST_TOLD])) + "."

    def steps(self) -> tuple[Step, ...]:
        return tuple(self._all)


def _in_words(step: Step) -> str:
    return f"{step.stage}: {step.decision}" + (f" ({step.reason})" if step.reason else "")
