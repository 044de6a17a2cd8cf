"""Which additional facts a message needs; they take time, so only few messages get them."""

import re
from typing import Final, Literal

Need = Literal["parts", "models", "levels", "trace"]
"""The number of stuck parts, for `/status`; the agent's models and thinking levels, for choosing one; what happened to
an earlier message, for a command about it."""

NOTHING: Final[frozenset[Need]] = frozenset()
_ASKS: Final[tuple[tuple[Need, "re.Pattern[str]"], ...]] = (
    ("parts", re.compile("/status", re.IGNORECASE)),
    ("models", re.compile("/model", re.IGNORECASE)),
    ("levels", re.compile(r"(?<!\S)(?:\[\[)?/t(?:hink(?:ing)?)?(?![\w/])", re.IGNORECASE)),
    ("trace", re.compile("/")),
)


def needs_of(text: str) -> frozenset[Need]:
    """Errs on the side of too much: whether the text is a command is decided later."""
    if "/" not in text:
        return NOTHING
    return frozenset(need for need, pattern in _ASKS if pattern.search(text))
