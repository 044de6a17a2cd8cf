"""Send a file of the session's outbox folder: `<send-file path="chart.png" />`, or a line `MEDIA: chart.png`.

If links are read, the path may also be an https address."""

import re

from rejoinder.outbound.directives.declaration import (
    Argument,
    Declaration,
    LineSpelling,
    Tag,
    boolean,
    one_of,
    some_text,
)
from rejoinder.outbound.directives.effects import SendFile

_ADDRESS = re.compile(r"https://[^\s/]+\S*", re.IGNORECASE)
_FILE = re.compile(r"(?!.*://).*[^./\\]\.[A-Za-z0-9]{1,8}")


def file_with_extension(value: str) -> str:
    if not _FILE.fullmatch(value):
        raise ValueError("it is not the path of a file with an extension")
    return value


def file_or_address(value: str) -> str:
    return value if is_address(value) else file_with_extension(value)


def is_address(path: str) -> bool:
    return _ADDRESS.fullmatch(path) is not None


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
    line=LineSpelling(
        name="MEDIA",
        argument=Argument("path", file_with_extension),
        with_links=Argument("path", file_or_address),
    ),
    ability="files",
    granted=True,
    effect=lambda args, _: SendFile(**args),
)
