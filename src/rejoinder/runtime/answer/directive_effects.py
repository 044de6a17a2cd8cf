"""What a directive does, as its declaration says; one of another package may raise or return anything."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from rejoinder.events import Directive
from rejoinder.outbound.directives.effects import Effect
from rejoinder.runtime.foreign_calls import ForeignError


def effect_of(directive: Directive, effect: Callable[[Mapping[str, Any], str], Effect]) -> Effect:
    """Raises ForeignError in place of whatever it raises, and for what is no effect."""
    try:
        found = effect(directive.args, directive.body or "")
    except (Exception, SystemExit) as problem:
        raise ForeignError(str(problem) or type(problem).__name__) from problem
    if not isinstance(cast("object", found), Effect):
        raise ForeignError(f"it returned {type(found).__name__}, which is no effect")
    return found
