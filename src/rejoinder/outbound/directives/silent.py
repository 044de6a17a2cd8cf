"""`[[silent]]`, `[[silent:true]]`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, HeaderKey, only_true
from rejoinder.outbound.directives.effects import ShapeReply

DIRECTIVE = Declaration(
    name="silent",
    help="sends without a notification",
    key=HeaderKey(
        name="silent",
        argument=Argument("on", only_true),
        shown="`true`, or no value",
        flags={"silent": "true"},
    ),
    ability="silent",
    shapes_reply=True,
    effect=lambda args, _: ShapeReply(silent=args["on"]),
)
