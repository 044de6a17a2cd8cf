"""One renderer per platform, for drafts and finals alike (DE-1): Markdown in, the platform's own format out.

`messages` is the whole way: a text becomes source chunks of which each fits when it is rendered (DE-10 to DE-14).
"""

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from rejoinder.events import Rendering
from rejoinder.outbound.chunk import Unit, cut, length
from rejoinder.outbound.render import discord, matrix, plain, slack, telegram, whatsapp
from rejoinder.outbound.render.tables import Tables
from rejoinder.outbound.white_space import is_seen

REMEMBERED, LONGEST_REMEMBERED = 128, 4096
"""How many renderings are kept, and of how long a source."""


class Renderer(Struct, frozen=True):
    """What a platform makes of Markdown."""

    render: Callable[[str, Tables], Rendering]
    plain: Callable[[str], Rendering] = Rendering
    """The source as it was written, for a platform that refused the formatting; as safe as the rendering."""
    size: Callable[[Rendering], int] | None = None
    """Where it is not the length of the text that counts."""


class Message(Struct, frozen=True):
    """One message of a platform."""

    source: str
    rendering: Rendering
    fallback: Rendering
    """What is sent once when the platform refuses the rendering (DE-13)."""


def _as_written(source: str, tables: Tables) -> Rendering:
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
    """A platform that is not in the table gets Markdown, and makes of it what it likes."""
    return RENDERERS.get(platform, _NATIVE)


def is_prose(text: str) -> bool:
    """Whether it is plain words in plain paragraphs: every renderer shows it as it is, and no parser is needed."""
    return bool(text) and _MARKUP.search(text) is None


def render(source: str, platform: str, tables: Tables = "code") -> Rendering:
    """One message. A source of nothing but markup, as `#`, is shown as it is: it was meant to be seen."""
    if is_prose(source):
        return Rendering(source)
    return (_remembered if len(source) <= LONGEST_REMEMBERED else _rendered)(source, platform, tables)


def _rendered(source: str, platform: str, tables: Tables) -> Rendering:
    by = renderer(platform)
    rendering = by.render(source, tables)
    return rendering if is_seen(rendering.text) else by.plain(source)


_remembered = lru_cache(REMEMBERED)(
    _rendered
)  # to cut a text asks for the same again, and so does a draft's next frame


def messages(
    text: str, platform: str, limit: int | None, unit: Unit = "characters", tables: Tables = "code"
) -> list[Message]:
    """The messages of a text; none when there is nothing to see (DE-14)."""
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
