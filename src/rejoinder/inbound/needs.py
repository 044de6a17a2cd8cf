"""Which facts a message needs beyond those that every message needs: these take time, so few messages get them."""

import re
from typing import Final, Literal

Need = Literal["parts", "models", "levels", "trace"]
"""How many parts are stuck, for `/status`; the agent's models and its levels of thinking, for whoever chooses one; what
became of an earlier message, for a command about it."""

NOTHING: Final[frozenset[Need]] = frozenset()
_ASKS: Final[tuple[tuple[Need, "re.Pattern[str]"], ...]] = (
    ("parts", re.compile("/status", re.IGNORECASE)),
    ("models", re.compile("/model", re.IGNORECASE)),
    ("levels", re.compile(r"(?<!\S)(?:\[\[)?/t(?:hink(?:ing)?)?(?![\w/])", re.IGNORECASE)),
    ("trace", re.compile("/")),
)


def needs_of(text: str) -> frozenset[Need]:
    """Rather too much than too little: whether it is a command is decided later."""
    if "/" not in text:
        return NOTHING
    return frozenset(need for need, pattern in _ASKS if pattern.search(text))
