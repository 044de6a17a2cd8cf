"""Decides how the operator's function is called. Its signature is read once, when the agent is opened."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct

from rejoinder.agents.python import text_of
from rejoinder.agents.steering_offers import SteeringOffers
from rejoinder.errors import BadAgent
from rejoinder.events import Turn

EXAMPLES = "`def answer(turn):` or `def answer(text: str):`"


class Signature(Struct, frozen=True):
    takes_text: bool = False
    """Whether its parameter is annotated `str`, so that it gets what people said."""
    steers: bool = False
    """Whether it has a parameter called `further`."""

    def bound(self, call: Callable[..., Any], turn: Turn, further: SteeringOffers) -> Callable[[], Any]:
        """The call with its arguments; `inspect` still sees through it whether it is async or a generator."""
        more = {"further": further} if self.steers else {}
        return partial(call, text_of(turn) if self.takes_text else turn, **more)


def signature_of(call: Callable[..., Any], name: str) -> Signature:
    """Raises BadAgent for a function that cannot be called with a turn."""
    try:
        signature = _read(call)
    except (ValueError, TypeError):  # its signature cannot be read
        return Signature()
    steers = "further" in signature.parameters
    try:
        given = signature.bind(None, **({"further": None} if steers else {}))
    except TypeError as problem:
        raise BadAgent(
            name, f"{called(call)}{signature} cannot be given a turn ({problem}); write it as {EXAMPLES}"
        ) from None
    parameter = signature.parameters[next(iter(given.arguments))]
    if _is_another_class(parameter.annotation):
        wanted = parameter.annotation.__name__
        raise BadAgent(
            name,
            f"{called(call)} wants {parameter.name!r} to be of type {wanted}, which it is never given; "
            f"write it as {EXAMPLES}",
        )
    return Signature(_is_text(parameter.annotation), steers)


def called(call: Callable[..., Any]) -> str:
    return getattr(call, "__name__", type(call).__name__)


def _read(call: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(call, eval_str=True)
    except NameError:  # the annotation names something that is imported only for type checkers
        return inspect.signature(call)


def _is_text(annotation: Any) -> bool:
    return annotation in ("str", "str | None", str) or annotation == str | None


def _is_another_class(annotation: Any) -> bool:
    try:
        return (
            isinstance(annotation, type)
            and annotation not in (str, inspect.Parameter.empty)
            and not issubclass(Turn, annotation)
        )
    except TypeError:  # a protocol that is not runtime-checkable
        return False
