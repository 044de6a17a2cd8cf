"""Send text to another chat: `<send-message chat="C1">...</send-message>`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Tag, some_text
from rejoinder.outbound.directives.effects import SendText

DIRECTIVE = Declaration(
    name="send_message",
    help="sends its body to another chat, of this channel or of the one named",
    tag=Tag(
        name="send-message",
        arguments=(
            Argument("chat", some_text, required=True),
            Argument("channel", some_text),
            Argument("thread", some_text),
        ),
        body="required",
    ),
    ability="send",
    granted=True,
    effect=lambda args, body: SendText(text=body, **args),
)
