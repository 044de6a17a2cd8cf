"""Title of the thread that the reply opens: `[[title:Review of the parser]]`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, HeaderKey, some_text
from rejoinder.outbound.directives.effects import ShapeReply

DIRECTIVE = Declaration(
    name="title",
    help="titles the thread that the reply opens",
    key=HeaderKey(name="title", argument=Argument("text", some_text), shown="text"),
    ability="threads",
    shapes_reply=True,
    effect=lambda args, _: ShapeReply(title=args["text"]),
)
