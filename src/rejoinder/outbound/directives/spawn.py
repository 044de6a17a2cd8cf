"""Start a run beside the conversation: `<spawn agent="helper" name="reader">Read the log.</spawn>` (TU-36)."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Tag, some_text
from rejoinder.outbound.directives.effects import Spawn

DIRECTIVE = Declaration(
    name="spawn",
    help="starts a sub-agent with its body as the task; its result comes back to you in a later turn",
    tag=Tag(
        name="spawn",
        arguments=(Argument("agent", some_text, required=True), Argument("name", some_text)),
        body="required",
    ),
    granted=True,
    effect=lambda args, body: Spawn(args["agent"], body.strip(), args.get("name", "")),
)
