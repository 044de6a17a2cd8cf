"""Renders text without any format, for platforms that show none: code keeps its ticks, a link its address."""

from rejoinder.events import Rendering, TableStyle
from rejoinder.rendering.layout import layout
from rejoinder.rendering.marks import Marks, write


def render(source: str, tables: TableStyle) -> Rendering:
    return Rendering(write(layout(source, tables, bullet="- "), _NO_MARKS))


def as_it_is(text: str) -> str:
    return text


def link_in_words(address: str, label: str) -> str:
    return f"{label} ({address})"


_NO_MARKS = Marks(
    bold="",
    italic="",
    strike="",
    tick="`",
    fence="",
    quote="> ",
    escape=as_it_is,
    literal=as_it_is,
    link=link_in_words,
)
