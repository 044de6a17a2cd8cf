"""Reads the text of a part from its body, for readers of the store that know nothing of the layer that wrote it."""

import msgspec
from msgspec import Struct


class _File(Struct):
    name: str = ""


class _Words(Struct):
    text: str
    files: tuple[_File, ...] = ()


class _Body(Struct):
    """The fields of a stored operation that people would read."""

    part: _Words | None = None
    emoji: str | None = None
    message: str | None = None


def text_of(body: bytes) -> str:
    """The text that people would see. A body that is not understood is shown as it was written."""
    try:
        found = msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = _Body()
    match found:
        case _Body(part=_Words(text=text, files=files)):
            return text or ", ".join(file.name for file in files)
        case _Body(emoji=str(emoji), message=str(message)):
            return f"{emoji} to {message}"
        case _Body(message=str(message)):
            return message
        case _:
            return body.decode("utf-8", "replace")
