"""The one Markdown dialect of the gateway: cutting and rendering see the same code, tables and links (DE-12).

`markdown_parsers.py` defines it. That file is imported with the first text that has markup: most answers are prose and
need no parser, and startup should not wait for the sixty modules of the library.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token


def parse(text: str) -> "Sequence[Token]":
    """The tokens of a text."""
    from rejoinder.rendering import markdown_parsers as parsers  # noqa: PLC0415 - as said above

    tokens = parsers.whole().parse(text)
    return parsers.no_markdown().parse(text) if parsers.is_too_deep(tokens) else tokens


def parse_blocks(text: str) -> "Sequence[Token]":
    """The tokens of blocks only, to find where code and tables begin and end."""
    from rejoinder.rendering import markdown_parsers as parsers  # noqa: PLC0415 - as said above

    tokens = parsers.blocks().parse(text)
    return [] if parsers.is_too_deep(tokens) else tokens
