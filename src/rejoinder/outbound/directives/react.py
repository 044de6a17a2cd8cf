"""React to a message: `<react emoji="eyes" />`."""

from rejoinder.outbound.directives.declaration import (
    Argument,
    Declaration,
    Tag,
    boolean,
    message_id,
    some_text,
)
from rejoinder.outbound.directives.effects import AddReaction

DIRECTIVE = Declaration(
    name="react",
    help="adds a reaction to the message being answered, or to another one; `remove` takes it back",
    tag=Tag(
        name="react",
        arguments=(
            Argument("emoji", some_text, required=True),
            Argument("message", message_id, aliases=("message_id",), vital=True),
            Argument("remove", boolean),
        ),
    ),
    ability="react",
    speaks_of_trigger=lambda args: args.get("message", "current") == "current",
    effect=lambda args, _: AddReaction(**args),
)
