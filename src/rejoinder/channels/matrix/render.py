"""Matrix: the source as body, and beside it HTML with only the tags that every client takes (DE-12, DE-34).

Tables are native. `@room` is broken everywhere in the body, since a server looks for it there even in code, and in the
HTML outside code. The channel adds an empty `m.mentions`, so that no name notifies anybody either.
"""

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from rejoinder.events import Rendering, TableStyle
from rejoinder.rendering.chunk import length
from rejoinder.rendering.layout import plain_text, runs_of
from rejoinder.rendering.markdown import parse
from rejoinder.rendering.marks import ZERO_WIDTH_SPACE

if TYPE_CHECKING:
    from markdown_it.token import Token

_CALLS_EVERYBODY = re.compile(r"@(?=room)", re.IGNORECASE)
_LINKABLE = re.compile(r"(?:https?|ftp|mailto|magnet):", re.IGNORECASE)
_PLAIN = frozenset(("paragraph_open", "inline", "paragraph_close", "text", "softbreak"))


def render(source: str, tables: TableStyle) -> Rendering:
    tokens = parse(source)
    if all(token.type in _PLAIN for block in tokens for token in (block, *(block.children or ()))):
        return plain(source)
    return Rendering(plain(source).text, html="".join(_html(tokens)).strip())


def plain(source: str) -> Rendering:
    return Rendering(_break_calls(source))


def size(rendering: Rendering) -> int:
    """The size in bytes of the event's JSON: body and HTML share one event."""
    return length(json.dumps(rendering.text + rendering.html, ensure_ascii=False)[1:-1], "bytes")


def _break_calls(text: str) -> str:
    return _CALLS_EVERYBODY.sub("@" + ZERO_WIDTH_SPACE, text)


def _html(tokens: Sequence["Token"]) -> Iterator[str]:
    address = ""
    for token in tokens:
        match token.type:
            case "inline":
                yield from _html(token.children or ())
            case "text":
                yield escape(_break_calls(token.content))
            case "code_inline":
                yield f"<code>{escape(token.content)}</code>"
            case "fence" | "code_block":
                language = token.info.strip().partition(" ")[0]
                named = f' class="language-{escape(language)}"' if language else ""
                yield f"<pre><code{named}>{escape(token.content)}</code></pre>\n"
            case "softbreak" | "hardbreak":
                yield "<br>\n"
            case "hr":
                yield "<hr>\n"
            case "image":
                yield _image(token, linked=bool(address))
            case "link_open":
                address = str(token.attrs["href"])
                yield f'<a href="{escape(address)}">' if _LINKABLE.match(address) else ""
            case "link_close":
                yield "</a>" if _LINKABLE.match(address) else f" ({escape(address)})"
                address = ""
            case "ordered_list_open" if "start" in token.attrs:
                yield f'<ol start="{token.attrs["start"]}">'
            case _ if not token.hidden:
                tag = "del" if token.tag == "s" else token.tag
                yield f"</{tag}>" if token.nesting < 0 else f"<{tag}>"
                yield "\n" if token.nesting < 0 and token.block else ""
            case _:
                pass


def _image(token: "Token", *, linked: bool) -> str:
    """The description as a link: a client loads no image from another server."""
    address = str(token.attrs["src"])
    description = escape(plain_text(runs_of(token.children or ())) or address)
    if linked or not _LINKABLE.match(address):
        return f"{description} ({escape(address)})"
    return f'<a href="{escape(address)}">{description}</a>'
