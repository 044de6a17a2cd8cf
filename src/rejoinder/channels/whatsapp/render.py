"""WhatsApp's format: its own few marks, no escapes, and only bare addresses as links."""

from rejoinder.events import Rendering, TableStyle
from rejoinder.rendering.layout import layout
from rejoinder.rendering.marks import Marks, write
from rejoinder.rendering.plain import as_it_is, link_in_words

_MARKS = Marks(
    bold="*",
    italic="_",
    strike="~",
    tick="`",
    fence="```",
    quote="> ",
    escape=as_it_is,
    literal=as_it_is,
    link=link_in_words,
)


def render(source: str, tables: TableStyle) -> Rendering:
    return Rendering(write(layout(source, tables, bullet="- "), _MARKS))
