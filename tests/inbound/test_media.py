"""IN-9: what an agent gets of the files that come with a message."""

from typing import Any

import pytest

from rejoinder.events import Attachment
from rejoinder.inbound.media import MediaLimits, image_type, show_media, worth_fetching

PNG = b"\x89PNG\r\n\x1a\nrest"
SMALL = MediaLimits(images=1, image_bytes=20, text_bytes=10, all_text_bytes=15)


def file(content: bytes | None, mime: str = "application/octet-stream", name: str = "f") -> Attachment:
    return Attachment("1", name, mime, content=content)


@pytest.mark.parametrize(
    ("attachment", "sees", "treatment", "text", "why"),
    [
        (file(PNG, "image/png"), True, "image", None, None),
        (file(PNG, "text/plain"), True, "image", None, None),
        (file(PNG, "image/png"), False, "describe", None, "you cannot see pictures"),
        (file(PNG + bytes(20), "image/png"), True, "note", None, "larger than 20 bytes"),
        (file(b"nothing", "image/png"), True, "describe", None, "you cannot read image/png"),
        (file(b"OggS", "audio/ogg"), True, "describe", None, "you cannot read audio/ogg"),
        (file(None, "image/png"), True, "note", None, "its content was not fetched"),
        (file(None, "image/png"), False, "describe", None, "you cannot see pictures"),
        (file(b"a,b", "text/csv"), True, "text", "a,b", None),
        (file(b"def f(): 1"), False, "text", "def f(): 1", None),
        (file(b""), False, "text", "", None),
        (file(b"\xef\xbb\xbfa"), False, "text", "a", None),
        (file(b"MZ\0\0"), False, "note", None, "it is not text"),
        (file(b"\xff\xfe\xfd", "text/plain"), False, "note", None, "it is not text in UTF-8"),
        (file(b"0123456789abc"), False, "text", "0123456789", "only the first 10 of 13 bytes"),
        (file("012345678é".encode()), False, "text", "012345678", "only the first 10 of 11 bytes"),
    ],
)
def test_the_fate_of_a_file(attachment: Attachment, sees: bool, treatment: str, text: Any, why: Any) -> None:
    """The bytes decide, not what name and type claim; what is missing is said."""
    (shown,) = show_media((attachment,), sees_images=sees, limits=SMALL)
    assert (shown.treatment, shown.text, shown.why) == (treatment, text, why)


@pytest.mark.parametrize(
    ("mime", "size", "sees", "most"),
    [
        ("image/png", 20, True, 20),
        ("image/png", None, True, 20),
        ("image/png", 21, True, 0),
        ("image/png", 1, False, 0),
        ("text/csv", 30, False, 30),
        ("text/csv", 31, False, 0),
        ("", None, True, 30),
        ("audio/ogg", 1, True, 0),
        ("video/mp4", None, True, 0),
    ],
)
def test_what_is_worth_fetching(mime: str, size: int | None, sees: bool, most: int) -> None:
    """What the agent could take if it had it, and not a byte besides."""
    limits = MediaLimits(image_bytes=20, fetched_bytes=30)
    assert worth_fetching(Attachment("1", "f", mime, size), sees_images=sees, limits=limits) == most


def test_what_is_there_is_not_fetched() -> None:
    assert worth_fetching(file(PNG, "image/png"), sees_images=True) == 0


def test_limits_hold_for_the_message() -> None:
    """The first files first."""
    files = (file(PNG), file(PNG), file(b"0123456789"), file(b"0123456789"), file(b"x"))
    shown = show_media(files, sees_images=True, limits=SMALL)
    assert [each.treatment for each in shown] == ["image", "note", "text", "text", "note"]
    assert [each.text for each in shown[2:]] == ["0123456789", "01234", None]
    assert (shown[1].why, shown[4].why) == ("more than 1 pictures", "the files before it used up the limit")


@pytest.mark.parametrize(
    ("begins", "mime"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"<svg>", None),
        (b"", None),
    ],
)
def test_pictures_are_known_by_their_first_bytes(begins: bytes, mime: str | None) -> None:
    assert image_type(begins) == mime
