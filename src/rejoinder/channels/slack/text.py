"""Converts Slack's notation to the text that people see: pure.

`&`, `<` and `>` are escaped; angle brackets enclose a mention, a link or a special word. Mentions of people stay as
they are written, `<@U1>`, so that an agent can point to the same person.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from rejoinder.events import Mention

_BRACKETS = re.compile(r"<([^<>\n]*)>")
WORDED = frozenset({"elements", "fields", "rows", "text", "title"})
"""The parts of a block that hold its words."""
DEEPEST = 10
_EVERYBODY = ("channel", "here", "everyone")


def plain(text: str) -> str:
    """The text as it was typed."""
    return unescape(_BRACKETS.sub(lambda found: _shown(found[1]), text))


def of_blocks(blocks: Iterable[dict[str, Any]]) -> str:
    """The words of a message that consists only of blocks, as other apps send: one line for each block."""
    lines = (" ".join(_words(block)) for block in blocks)
    return "\n".join(line for line in lines if line.strip())


def _words(value: Any, depth: int = 0) -> Iterator[str]:
    """Every value of a `text` key, in order."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _words(each, depth + 1)
    elif isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            if name == "text" and isinstance(each, str):
                yield each
            elif name in WORDED:
                yield from _words(each, depth + 1)


def mentions(text: str) -> Iterator[Mention]:
    for found in _BRACKETS.finditer(text):
        what, _, label = found[1].partition("|")
        if what.startswith("@") and len(what) > 1:
            yield Mention(what[1:], token=f"<{what}>")
        elif what.startswith("!subteam^"):
            yield Mention(what.removeprefix("!subteam^"), "role", label or f"@{what.removeprefix('!subteam^')}")
        elif what.startswith("!") and what[1:] in _EVERYBODY:
            yield Mention(what[1:], "everyone", f"@{what[1:]}")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _shown(inside: str) -> str:
    what, _, label = inside.partition("|")
    if what.startswith("@"):
        return f"<{what}>"
    if what.startswith("#"):
        return f"#{label or what[1:]}"
    if what.startswith("!subteam^"):
        return label or f"@{what.removeprefix('!subteam^')}"
    if what.startswith("!"):
        return label or f"@{what[1:]}"
    address = what.removeprefix("mailto:")
    if not label or label == address or address.removeprefix("https://").removeprefix("http://") == label:
        return address
    return f"{label} ({address})"
