"""Blocks, where a text alone does not do: buttons and menus under a question (CH-33): pure.

Rule 1: the text is always sent as well: it is what notifications and other apps read.
Rule 2: up to five choices are buttons, more are a menu. A choice whose words are too long gets none: it can be typed.
"""

from collections.abc import Iterator
from typing import Any

from rejoinder.events import Choice, Part

MOST_BUTTONS = 5
MOST_OPTIONS = 100
LONGEST_LABEL, LONGEST_VALUE, LONGEST_OPTION = 75, 2000, 75
LONGEST_SECTION = 3000
ACTION = "rejoinder_choice"

Block = dict[str, Any]


def blocks_of(part: Part, text: str) -> list[Block]:
    """Nothing where the text alone says everything."""
    choices = [choice for choice in part.choices if 0 < len(choice.says) <= LONGEST_VALUE and choice.label]
    if not choices:
        return []
    sections = [{"type": "section", "text": {"type": "mrkdwn", "text": piece}} for piece in _pieces(text)]
    return [*sections, {"type": "actions", "elements": _elements(choices)}]


def _elements(choices: list[Choice]) -> list[Block]:
    if len(choices) <= MOST_BUTTONS:
        return [
            {
                "type": "button",
                "action_id": f"{ACTION}_{number}",
                "text": _label(choice.label),
                "value": choice.says,
            }
            for number, choice in enumerate(choices)
        ]
    fitting = [choice for choice in choices if len(choice.says) <= LONGEST_OPTION][:MOST_OPTIONS]
    options = [{"text": _label(choice.label), "value": choice.says} for choice in fitting]
    return [{"type": "static_select", "action_id": ACTION, "placeholder": _label("Choose"), "options": options}]


def _label(text: str) -> Block:
    cut = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
    return {"type": "plain_text", "text": cut, "emoji": True}


def _pieces(text: str) -> Iterator[str]:
    """A section holds less than a message: cut at lines where that is possible, so that no mark is torn apart."""
    left = text
    while len(left) > LONGEST_SECTION:
        at = left.rfind("\n", 1, LONGEST_SECTION)
        at = at if at > 0 else LONGEST_SECTION
        yield left[:at]
        left = left[at:].lstrip("\n")
    if left.strip():
        yield left
