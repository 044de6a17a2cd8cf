"""Slack's own writing of a text, read as people see it: pure.

`&`, `<` and `>` are escaped; what stands between angle brackets is a mention, a link or a special word. Mentions of
people stay as they are written, `<@U1>`, so that an agent can point to the same person.
"""

import re
from collections.abc import Iterator

from rejoinder.events import Mention

_BRACKETS = re.compile(r"<([^<>\n]*)>")
_EVERYBODY = ("channel", "here", "everyone")


def plain(text: str) -> str:
    """The words as they were typed."""
    return unescape(_BRACKETS.sub(lambda found: _shown(found[1]), text))


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
