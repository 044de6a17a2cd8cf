"""Audio of this reply as a voice note: `[[audio_as_voice]]`."""

from rejoinder.outbound.directives.declaration import Declaration, Key

DIRECTIVE = Declaration(
    name="audio_as_voice",
    help="sends the audio of this reply as a voice note",
    key=Key(name="audio_as_voice", argument=None, shown="no value", flags={"audio_as_voice": ""}),
    ability="voice",
    shapes_reply=True,
)
