"""Speak: `<voice>Good morning.</voice>`."""

from rejoinder.outbound.directives.declaration import Declaration, Tag
from rejoinder.outbound.directives.effects import Speak

DIRECTIVE = Declaration(
    name="voice",
    help="speaks its body as a voice note",
    tag=Tag(name="voice", body="required", body_is_speech=True),
    ability="voice",
    granted=True,
    effect=lambda _, body: Speak(body.strip()),
)
