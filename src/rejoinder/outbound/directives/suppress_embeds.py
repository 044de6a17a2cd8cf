"""Link previews: `[[suppress_embeds:true]]`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, HeaderKey, true_or_false
from rejoinder.outbound.directives.effects import ShapeReply

DIRECTIVE = Declaration(
    name="suppress_embeds",
    help="hides (`true`) or allows (`false`) link previews",
    key=HeaderKey(name="suppress_embeds", argument=Argument("on", true_or_false), shown="`true` or `false`"),
    ability="previews",
    shapes_reply=True,
    effect=lambda args, _: ShapeReply(previews=not args["on"]),
)
