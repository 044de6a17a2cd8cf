"""Whether a granted action only repeats what a person wrote (OD-53).

A person may write `<send-message chat="C1">...</send-message>` into a chat; an agent that quotes it would act. What
stands in an inbound text, in code or not, is that person's and not the agent's.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from rejoinder.events import Directive
from rejoinder.outbound.directives.declaration import Declaration, Registry
from rejoinder.outbound.reading import read_reply


def is_echo(directive: Directive, declared: Declaration, texts: Iterable[str], registry: Registry) -> bool:
    if declared.tag is None:
        return False
    beginning = f"<{declared.tag.name}"
    return any(
        _same(directive, written)
        for text in texts
        if beginning in text.lower()
        for written in _written(text, declared.tag.name, registry)
    )


@lru_cache(maxsize=256)
def _written(text: str, tag: str, registry: Registry) -> tuple[Directive, ...]:
    """Every such tag of a text, read as if it stood in an answer."""
    found = re.finditer(rf"<{tag}\b.*?(?:</{tag}\s*>|/>|\Z)", text, re.IGNORECASE | re.DOTALL)
    return tuple(
        directive
        for match in found
        for directive in read_reply(f"<actions>{match[0]}</actions>", registry=registry).directives
    )


def _same(one: Directive, other: Directive) -> bool:
    return one.name == other.name and one.args == other.args and _words(one.body) == _words(other.body)


def _words(body: str | None) -> list[str]:
    return (body or "").split()
