"""Slack: mrkdwn. `&`, `<` and `>` are escaped everywhere, so `<!channel>` and `<@U1>` notify nobody (DE-34)."""

import re

from rejoinder.events import Rendering, TableStyle
from rejoinder.rendering.layout import layout
from rejoinder.rendering.marks import ZERO_WIDTH_SPACE, Marks, write

_LIVE = re.compile(r"(<|&lt;?|&#0*60;?|&#[xX]0*3[cC];?|\]\(\s*<?)(?=\\?[@!#])")
_STILLED = re.compile(f"{_LIVE.pattern[: _LIVE.pattern.index('(?=')]}{ZERO_WIDTH_SPACE}(?=\\\\?[@!#])")
_MARK_BEFORE_WORD = re.compile(r"(?<![\w*_~`])([*_~`])[*_~`]*(?=[^\s*_~`])")


def render(source: str, tables: TableStyle) -> Rendering:
    text, twin = write(layout(source, tables), MRKDWN), inert(source)
    return Rendering(text, html="" if twin == text and MRKDWN.fence not in twin else twin)


def inert(source: str) -> str:
    """The Markdown itself, made harmless, for a stream, which Slack renders: nothing in it notifies anybody."""
    return _LIVE.sub(rf"\1{ZERO_WIDTH_SPACE}", source)


def written(twin: str) -> str:
    """The Markdown as the agent wrote it, recovered from the harmless form; to be rendered, not to be sent."""
    return _STILLED.sub(r"\1", twin)


def plain(source: str) -> Rendering:
    return Rendering(escape(source))


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _literal(line: str) -> str:
    return _MARK_BEFORE_WORD.sub(lambda mark: mark[0] + ZERO_WIDTH_SPACE * (line.count(mark[1]) > 1), line)


def _link(address: str, label: str) -> str:
    address = escape(address.replace("|", "%7C").replace("<", "%3C").replace(">", "%3E"))
    return f"<{address}|{label}>"


MRKDWN = Marks(
    bold="*", italic="_", strike="~", tick="`", fence="```", quote="> ", escape=escape, literal=_literal, link=_link
)
