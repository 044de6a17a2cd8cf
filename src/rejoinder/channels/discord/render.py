"""Discord reads Markdown itself: we only convert tables, and break what would notify everybody (DE-12, DE-34)."""

import re

from rejoinder.events import Rendering, TableStyle
from rejoinder.rendering.atoms import code_spans
from rejoinder.rendering.enclosures import enclosures
from rejoinder.rendering.layout import layout
from rejoinder.rendering.marks import ZERO_WIDTH_SPACE, Marks, write
from rejoinder.rendering.plain import as_it_is

_CALLS_EVERYBODY = re.compile(r"@(?=everyone|here|&[0-9])", re.IGNORECASE)
_MARK = re.compile(r"[\\*_~`|]")


def render(source: str, tables: TableStyle) -> Rendering:
    pieces: list[str] = []
    at = 0
    for table in [] if tables == "off" else enclosures(source):
        if not table.closing:
            shown = write(layout(source[table.start : table.stop], tables, bullet="- "), _MARKDOWN)
            pieces += source[at : table.start], shown
            at = table.stop
    return plain("".join((*pieces, source[at:])))


def plain(source: str) -> Rendering:
    """The text as it was written. Code is kept, since it notifies nobody; but to Discord, unclosed fences and tildes
    are not code."""
    fences = [
        (found.start, found.stop) for found in enclosures(source) if "```" in found.closing and found.end < found.stop
    ]
    pieces: list[str] = []
    at = 0
    for start, end in sorted((*fences, *code_spans(source))):
        if start >= at:
            pieces += _break_calls(source[at:start]), source[start:end]
            at = end
    return Rendering("".join((*pieces, _break_calls(source[at:]))))


def _break_calls(text: str) -> str:
    return _CALLS_EVERYBODY.sub("@" + ZERO_WIDTH_SPACE, text)


def _literal(line: str) -> str:
    return _MARK.sub(r"\\\g<0>", line)


def _link(address: str, label: str) -> str:
    return f"[{label}]({address})"


_MARKDOWN = Marks(
    bold="**", italic="*", strike="~~", tick="`", fence="```", quote="> ", escape=as_it_is, literal=_literal, link=_link
)
