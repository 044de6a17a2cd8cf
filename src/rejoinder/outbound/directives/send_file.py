"""Send a file of the session's outbox folder: `<send-file path="chart.png" />`."""

from rejoinder.outbound.directives.declaration import Argument, Declaration, Tag, boolean, one_of, some_text

DIRECTIVE = Declaration(
    name="send_file",
    help="sends a file from the session's outbox folder",
    tag=Tag(
        name="send-file",
        arguments=(
            Argument("path", some_text, required=True, aliases=("file",)),
            Argument("caption", some_text, aliases=("text",)),
            Argument("kind", one_of("image", "file", "audio")),
            Argument("cleanup", boolean),
            Argument("channel", some_text),
            Argument("chat", some_text),
        ),
    ),
    ability="files",
    granted=True,
)
