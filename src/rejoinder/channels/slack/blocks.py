"""Blocks, for what a text alone cannot show: buttons and menus, tables, long code (CH-33). Pure.

Rule 1: the text is always sent as well: notifications and other apps read it, and if Slack refuses the blocks, only the
        text is sent.
Rule 2: up to five choices become buttons, more become a menu. A choice that is too long gets none; it can be typed.
Rule 3: a message has at most one Slack table; a second one, or one that is too large, is shown as code, as in the text.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from rejoinder.channels.slack.render import MRKDWN, escape, written
from rejoinder.events import Choice, Part
from rejoinder.rendering import layout as laid_out
from rejoinder.rendering.layout import layout
from rejoinder.rendering.marks import write
from rejoinder.rendering.tables import Grid

MOST_BLOCKS = 50
MOST_BUTTONS = 5
MOST_OPTIONS = 100
LONGEST_LABEL, LONGEST_VALUE, LONGEST_OPTION = 75, 2000, 75
LONGEST_SECTION = 3000
MOST_ROWS, MOST_COLUMNS, MOST_IN_CELLS = 100, 20, 10_000
LONG_CODE = 1000
"""Code with at least this many characters has a block of its own, which no section cuts."""
LANGUAGES = frozenset(
    {"bash", "css", "go", "html", "java", "javascript", "json", "python", "ruby", "rust", "sql", "yaml"}
)
"""Languages that Slack highlights; it may refuse a name that it does not know."""
ACTION = "rejoinder_choice"

Block = dict[str, Any]
_UNITS = re.compile(r"<[^<>\n]*>|&(?:amp|lt|gt);")


def blocks_of(part: Part, text: str, *, whole: bool) -> list[Block]:
    """Empty if the text alone is enough. `whole`: the message is no longer being written."""
    choices = [choice for choice in part.choices if 0 < len(choice.says) <= LONGEST_VALUE and choice.label]
    body = _rich(part) if whole else []
    if not choices:
        return body
    elements = _elements(choices)
    return [*(body or map(_section, _pieces(text))), {"type": "actions", "elements": elements}] if elements else body


def addressed(part: Part, text: str) -> str:
    """With a mention that works for everybody who is addressed (DE-34)."""
    for person in part.addressed:
        text = text.replace(f"&lt;@{person}&gt;", f"<@{person}>")
    return text


# --- tables and code ----------------------------------------------------------------------------


def _rich(part: Part) -> list[Block]:
    """The message as blocks if it has a table or long code; empty if it has neither, or is too long for blocks."""
    if "|" not in part.html and len(part.html) < LONG_CODE:
        return []
    found = layout(written(part.html), "code")
    table = next((each for each in found if each.grid is not None and _fits(each, part)), None)
    special = {id(each) for each in found if each is table or _is_long_code(each)}
    if not special:
        return []
    blocks: list[Block] = []
    for own, group in groupby(found, key=lambda each: id(each) if id(each) in special else 0):
        each, *more = group
        if not own:
            prose = addressed(part, write([each, *more], MRKDWN).strip("\n"))
            blocks += map(_section, _pieces(prose))
        elif each.grid is not None:
            blocks.append(_table(each.grid))
        else:
            blocks.append(_code(each.text, each.language or ""))
    return blocks if len(blocks) < MOST_BLOCKS else []


def _fits(block: laid_out.TextBlock, part: Part) -> bool:
    """Whether Slack accepts it as a table, and it is to be shown as one (not as bullets, for example)."""
    assert block.grid is not None
    rows = block.grid.rows
    size = sum(len(cell) or 1 for row in rows for cell in row)
    shown = escape(block.text) in part.text
    return shown and len(rows) <= MOST_ROWS and len(rows[0]) <= MOST_COLUMNS and size <= MOST_IN_CELLS


def _is_long_code(block: laid_out.TextBlock) -> bool:
    return block.language is not None and block.grid is None and len(block.text) >= LONG_CODE


def _table(grid: Grid) -> Block:
    settings = [{"align": align or "left", "is_wrapped": True} for align in grid.aligns]
    rows = [[{"type": "raw_text", "text": cell or " "} for cell in row] for row in grid.rows]
    return {"type": "table", "rows": rows, "column_settings": settings}


def _code(code: str, language: str) -> Block:
    preformatted: Block = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": code}]}
    if language in LANGUAGES:
        preformatted["language"] = language
    return {"type": "rich_text", "elements": [preformatted]}


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, "expand": True}


def _pieces(text: str) -> Iterator[str]:
    """A section holds less than a message, so the text is cut, at line ends if possible, so that no mark is split."""
    left = text
    while len(left) > LONGEST_SECTION:
        at = _cut_at(left)
        yield left[:at]
        left = left[at:].lstrip("\n")
    if left.strip():
        yield left


def _cut_at(text: str) -> int:
    """The end of a line, or else of a word, or else a place that splits no link and no escaped character."""
    for end in "\n", " ":
        at = text.rfind(end, LONGEST_SECTION // 2, LONGEST_SECTION)
        if at > 0 and not _inside(text, at):
            return at
    at = LONGEST_SECTION
    return _begin_of(text, at) if _inside(text, at) else at


def _inside(text: str, at: int) -> bool:
    return 0 < _begin_of(text, at) < at


def _begin_of(text: str, at: int) -> int:
    """If this place is inside a link or an escaped character, where that begins; otherwise this place."""
    found = [
        match.start() for match in _UNITS.finditer(text, 0, at + LONGEST_SECTION) if match.start() < at < match.end()
    ]
    return found[0] if found else at


# --- choices ------------------------------------------------------------------------------------


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
    if not options:
        return []
    return [{"type": "static_select", "action_id": ACTION, "placeholder": _label("Choose"), "options": options}]


def _label(text: str) -> Block:
    cut = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
    return {"type": "plain_text", "text": cut, "emoji": True}
