"""`[[ephemeral]]`, `[[ephemeral:true]]`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Key, only_true

DIRECTIVE = Declaration(
    name="ephemeral",
    help="only the person answered sees it",
    key=Key(
        name="ephemeral",
        argument=Argument("on", only_true),
        shown="`true`, or no value",
        flags={"ephemeral": "true"},
    ),
    ability="ephemeral",
    shapes_reply=True,
)
