"""`[[ephemeral]]`, `[[ephemeral:true]]`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, HeaderKey, only_true
from rejoinder.outbound.directives.effects import ShapeReply

DIRECTIVE = Declaration(
    name="ephemeral",
    help="only the person answered sees it",
    key=HeaderKey(
        name="ephemeral",
        argument=Argument("on", only_true),
        shown="`true`, or no value",
        flags={"ephemeral": "true"},
    ),
    ability="ephemeral",
    shapes_reply=True,
    effect=lambda args, _: ShapeReply(only_for_asker=args["on"]),
)
