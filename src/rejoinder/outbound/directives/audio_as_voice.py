"""Audio of this reply as a voice note: `[[audio_as_voice]]`."""

from rejoinder.outbound.directives.declaration import Declaration, HeaderKey
from rejoinder.outbound.directives.effects import ShapeReply

DIRECTIVE = Declaration(
    name="audio_as_voice",
    help="speaks this reply, and sends its audio as voice notes",
    key=HeaderKey(name="audio_as_voice", argument=None, shown="no value", flags={"audio_as_voice": ""}),
    ability="voice",
    shapes_reply=True,
    effect=lambda _, __: ShapeReply(as_voice=True),
)
