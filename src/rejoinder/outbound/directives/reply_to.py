"""Reply to a certain message: `[[reply_to:m42]]`, `[[reply_to_current]]`, `<reply to="m42" />`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, HeaderKey, Tag, message_id
from rejoinder.outbound.directives.effects import ReplyTo

DIRECTIVE = Declaration(
    name="reply_to",
    help="sends the answer as a native reply to that message",
    key=HeaderKey(
        name="reply_to",
        argument=Argument("id", message_id),
        shown="a handle `m42`, a platform message id, `current` (the message being answered) or `none`",
        flags={"reply_to_current": "current"},
        trailing=("reply_to_current",),
    ),
    tag=Tag(name="reply", arguments=(Argument("id", message_id, required=True, written="to", vital=True),)),
    ability="reply",
    speaks_of_trigger=lambda args: args["id"] == "current",
    shapes_reply=True,
    effect=lambda args, _: ReplyTo(args["id"]),
)
