"""Give the turn to another agent of the room: `<handoff to="reviewer">Please check F1.</handoff>`.

`[[handoff:reviewer]]` gives it the whole answer.
"""

from rejoinder.outbound.directives.declaration import Argument, Declaration, HeaderKey, Tag, some_text
from rejoinder.outbound.directives.effects import HandOff

DIRECTIVE = Declaration(
    name="handoff",
    help="gives the turn to another agent of the room, with its body as the message",
    key=HeaderKey(
        name="handoff",
        argument=Argument("to", some_text),
        shown="the name of an agent, which gets this answer",
        instead_of_tag=True,
    ),
    tag=Tag(name="handoff", arguments=(Argument("to", some_text, required=True),), body="optional"),
    ability="send",
    granted=True,
    effect=lambda args, body: HandOff(args["to"], body.strip()),
    among_agents=True,
)
