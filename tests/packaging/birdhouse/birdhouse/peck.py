"""A directive with an effect that sends: `<actions><peck at="seed">hello</peck></actions>` tells the keeper."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Tag, some_text
from rejoinder.outbound.directives.effects import SendText

DIRECTIVE = Declaration(
    name="peck",
    help="tells the keeper what was pecked at",
    tag=Tag(name="peck", arguments=(Argument("at", some_text, required=True),), body="required"),
    ability="send",
    effect=lambda args, body: SendText(chat="keeper", text=f"A peck at **{args['at']}**: {body}"),
)
