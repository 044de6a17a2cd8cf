"""Turns Markdown into what a platform takes, in the same way for drafts and finals (DE-1). Pure, for floors and
channels.

`messages` does everything: it cuts a text into source chunks that fit once they are rendered (DE-10 to DE-14).

Markdown     markdown, markdown_parsers, layout: a text as blocks and runs; tables; fence
renderers    plain, marks: parts from which channels build their renderers; a channel's own is in its folder
cutting      chunk, atoms, enclosures, white_space
reactions    emoji, slack_names
"""

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from rejoinder.events import LengthUnit, Rendering, TableStyle
from rejoinder.rendering.chunk import cut, length
from rejoinder.rendering.white_space import is_seen

REMEMBERED, LONGEST_REMEMBERED = 128, 4096
"""How many renderings are cached, and the longest source that is cached."""


def _as_written(source: str, tables: TableStyle) -> Rendering:
    return Rendering(source)


class Renderer(Struct, frozen=True):
    """How to render Markdown for a platform; the default is a platform that shows Markdown itself."""

    render: Callable[[str, TableStyle], Rendering] = _as_written
    plain: Callable[[str], Rendering] = Rendering
    """Renders the source as written, for a platform that refused the formatting; it is as safe as the rendering."""
    size: Callable[[Rendering], int] | None = None
    """Measures a rendering, if the platform counts something other than its text."""
    keeps_prose: bool = False
    """Whether it leaves plain words in plain paragraphs unchanged; such texts skip the renderer (`is_prose`)."""


MARKDOWN = Renderer(keeps_prose=True)
"""For a platform that shows Markdown itself."""


class RenderOptions(Struct, frozen=True):
    """How to write for a platform: its format, and how long a message may be (DE-10)."""

    renderer: Renderer = MARKDOWN
    limit: int | None = None
    unit: LengthUnit = "characters"
    tables: TableStyle = "code"


class RenderedMessage(Struct, frozen=True):
    """One message of a platform."""

    source: str
    rendering: Rendering
    fallback: Rendering
    """Sent once if the platform refuses the rendering (DE-13)."""


_MARKS = re.compile(
    r"[\\`*_\[\]<>&~|#@\x00\ud800-\udfff\t\r\f\v\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
)
_NUMBER = re.compile(r"\n[0-9]+[.)][ \n]")
_LINE_MARKS = ("\n ", " \n", "\n-", "\n+", "\n\n\n")


def is_prose(text: str) -> bool:
    """Whether the text is plain words in plain paragraphs, which most renderers show unchanged. It needs no parser.

    Each search looks only for characters: one with alternatives would hold the interpreter for too long in a long text.
    """
    if not text or _MARKS.search(text):
        return False
    if text[0].isalpha() and text[-1] != " " and "\n" not in text:
        return True  # one line, which begins with a word
    lines = f"\n{text}\n"
    if lines.startswith("\n\n") or lines.endswith("\n\n"):
        return False
    for mark in _LINE_MARKS:
        if mark in lines:
            return False
    return _NUMBER.search(lines) is None


def render(source: str, renderer: Renderer, tables: TableStyle = "code") -> Rendering:
    """Renders one message. A source that is only markup, such as `#`, is shown as it is, because it was meant to be
    seen."""
    if renderer.keeps_prose and is_prose(source):
        return Rendering(source)
    return (_remembered if len(source) <= LONGEST_REMEMBERED else _rendered)(source, renderer, tables)


def _rendered(source: str, renderer: Renderer, tables: TableStyle) -> Rendering:
    rendering = renderer.render(source, tables)
    return rendering if is_seen(rendering.text) else renderer.plain(source)


_remembered = lru_cache(REMEMBERED)(
    _rendered
)  # cutting a text asks for the same rendering again, and so does a draft's next frame


def messages(text: str, options: RenderOptions) -> list[RenderedMessage]:
    """The messages of a text; none if it has no visible character (DE-14)."""
    by, limit, unit, tables = options.renderer, options.limit, options.unit, options.tables
    if by.keeps_prose and is_prose(text) and is_seen(text):
        shown = Rendering(text)
        if limit is None or (by.size(shown) if by.size else length(text, unit)) <= limit:
            return [RenderedMessage(text, shown, shown)]

    def size(source: str) -> int:
        both = render(source, by, tables), by.plain(source)
        return max(by.size(rendering) if by.size else length(rendering.text, unit) for rendering in both)

    sources = [chunk.text for chunk in cut(text, limit, unit, size) if is_seen(chunk.text)]
    return [RenderedMessage(source, render(source, by, tables), by.plain(source)) for source in sources]
