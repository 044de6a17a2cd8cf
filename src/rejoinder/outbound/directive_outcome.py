"""Whether a directive is carried out on a platform and, if not, why (OD-51, OD-72). This is known before anything is
sent."""

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from rejoinder.events import Directive
from rejoinder.outbound.directives.declaration import Declaration, Registry
from rejoinder.outbound.directives.effects import AddReaction
from rejoinder.rendering.emoji import ReactionNames, project


class DirectiveOutcome(Struct, frozen=True):
    outcome: Literal["done", "unsupported", "denied"]
    note: str


def directive_outcome(
    directive: Directive,
    registry: Registry,
    *,
    can: Collection[str],
    reactions: ReactionNames,
    granted: Collection[str],
) -> DirectiveOutcome:
    """The outcome on a platform with these abilities, under these grants."""
    declared = registry.named[directive.name]
    if declared.granted and directive.name not in granted:
        return DirectiveOutcome("denied", f'it needs a grant: [directives] allow = ["{directive.name}"]')
    if declared.ability and declared.ability not in can:
        return DirectiveOutcome("unsupported", "this platform cannot do it; the text goes out without it")
    effect = _effect_of(directive, declared) if declared.ability == "react" else None
    if not isinstance(effect, AddReaction):
        return DirectiveOutcome("done", declared.help)
    projected = project(effect.emoji, reactions)
    if projected.value is None:
        return DirectiveOutcome("unsupported", projected.note or "this platform has no such emoji")
    return DirectiveOutcome("done", f"sent as {projected.value}" + (f" ({projected.note})" if projected.note else ""))


def _effect_of(directive: Directive, declared: Declaration) -> object:
    if declared.act is not None or declared.effect is None:
        return None
    return declared.effect(directive.args, directive.body or "")
