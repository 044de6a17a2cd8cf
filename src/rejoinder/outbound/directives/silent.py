"""`[[silent]]`, `[[silent:true]]`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Key, only_true

DIRECTIVE = Declaration(
    name="silent",
    help="sends without a notification",
    key=Key(
        name="silent",
        argument=Argument("on", only_true),
        shown="`true`, or no value",
        flags={"silent": "true"},
    ),
    ability="silent",
    shapes_reply=True,
)
