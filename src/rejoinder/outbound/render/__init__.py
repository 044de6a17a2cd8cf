"""One renderer per platform, for drafts and finals alike (DE-1): Markdown in, the platform's own format out.

`messages` does all of it: it cuts a text into source chunks, each of which fits when it is rendered (DE-10 to DE-14).
"""

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from rejoinder.events import LengthUnit, Rendering, TableStyle
from rejoinder.outbound.chunk import cut, length
from rejoinder.outbound.render import discord, matrix, plain, slack, telegram, whatsapp
from rejoinder.outbound.white_space import is_seen

REMEMBERED, LONGEST_REMEMBERED = 128, 4096
"""How many renderings are cached, and the longest source that is."""


class Renderer(Struct, frozen=True):
    """What a platform makes of Markdown."""

    render: Callable[[str, TableStyle], Rendering]
    plain: Callable[[str], Rendering] = Rendering
    """The source as it was written, for a platform that refused the formatting; as safe as the rendering."""
    size: Callable[[Rendering], int] | None = None
    """For a platform that does not count the length of the text."""


class Message(Struct, frozen=True):
    """One message of a platform."""

    source: str
    rendering: Rendering
    fallback: Rendering
    """What is sent once when the platform refuses the rendering (DE-13)."""


def _as_written(source: str, tables: TableStyle) -> Rendering:
    return Rendering(source)


RENDERERS = {
    "telegram": Renderer(telegram.render, telegram.plain, telegram.size),
    "slack": Renderer(slack.render, slack.plain),
    "discord": Renderer(discord.render, discord.plain),
    "matrix": Renderer(matrix.render, matrix.plain, matrix.size),
    "whatsapp": Renderer(whatsapp.render),
    "signal": Renderer(plain.render),
}
_NATIVE = Renderer(_as_written)
_MARKUP = re.compile(
    r"[\\`*_\[\]<>&~|#@\x00\ud800-\udfff]|[^\S \n]|^ | $|^[-+]|^[0-9]+[.)](?: |$)|\n\n\n|\A\n|\n\Z", re.MULTILINE
)


def renderer(platform: str) -> Renderer:
    """A platform that is not in the table gets the Markdown as it is."""
    return RENDERERS.get(platform, _NATIVE)


def is_prose(text: str) -> bool:
    """Whether it is plain words in plain paragraphs, which every renderer shows unchanged, without a parser."""
    return bool(text) and _MARKUP.search(text) is None


def render(source: str, platform: str, tables: TableStyle = "code") -> Rendering:
    """One message. A source of nothing but markup, such as `#`, is shown as it is: it was meant to be seen."""
    if is_prose(source):
        return Rendering(source)
    return (_remembered if len(source) <= LONGEST_REMEMBERED else _rendered)(source, platform, tables)


def _rendered(source: str, platform: str, tables: TableStyle) -> Rendering:
    by = renderer(platform)
    rendering = by.render(source, tables)
    return rendering if is_seen(rendering.text) else by.plain(source)


_remembered = lru_cache(REMEMBERED)(
    _rendered
)  # cutting a text asks for the same rendering again, and so does a draft's next frame


def messages(
    text: str, platform: str, limit: int | None, unit: LengthUnit = "characters", tables: TableStyle = "code"
) -> list[Message]:
    """The messages of a text; none if it has no visible character (DE-14)."""
    by = renderer(platform)
    if is_prose(text) and is_seen(text):
        shown = Rendering(text)
        if limit is None or (by.size(shown) if by.size else length(text, unit)) <= limit:
            return [Message(text, shown, shown)]

    def size(source: str) -> int:
        both = render(source, platform, tables), by.plain(source)
        return max(by.size(rendering) if by.size else length(rendering.text, unit) for rendering in both)

    sources = [chunk.text for chunk in cut(text, limit, unit, size) if is_seen(chunk.text)]
    return [Message(source, render(source, platform, tables), by.plain(source)) for source in sources]
