"""A server's own emoji: `:name:` in words and in reactions becomes what Discord shows (CH-27). Pure."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from rejoinder.channels.discord import LIMITS
from rejoinder.events import Part
from rejoinder.rendering.atoms import code_spans
from rejoinder.rendering.chunk import length
from rejoinder.rendering.enclosures import enclosures

# Not within `<:name:id>`, an address or a word.
_NAMED = re.compile(r"(?<![<:\w/]):([A-Za-z0-9_]{2,32}):(?![\w:])")


def in_reaction(emoji: str, own: Mapping[str, str]) -> str:
    name = emoji.strip(":")
    return own[name].strip("<>").removeprefix("a:").removeprefix(":") if name in own else emoji


def with_own_emoji(part: Part, own: Mapping[str, str]) -> Part:
    """`own`: Discord's notation for each emoji of the server, by name. Code stays as it is, and so does a text that
    would become too long."""
    if not own or ":" not in part.text:
        return part
    code = [(found.start, found.stop) for found in enclosures(part.text) if found.closing]
    code += code_spans(part.text)

    def shown(found: "re.Match[str]") -> str:
        in_code = any(start <= found.start() < stop for start, stop in code)
        return found[0] if in_code else own.get(found[1], found[0])

    text = _NAMED.sub(shown, part.text)
    if text == part.text or (LIMITS.length is not None and length(text, LIMITS.unit) > LIMITS.length):
        return part
    return replace(part, text=text)
