"""Give the turn to another agent of the room: `<handoff to="reviewer">Please check F1.</handoff>`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Tag, some_text

DIRECTIVE = Declaration(
    name="handoff",
    help="gives the turn to another agent of the room, with its body as the message",
    tag=Tag(name="handoff", arguments=(Argument("to", some_text, required=True),), body="optional"),
    ability="send",
    granted=True,
)
