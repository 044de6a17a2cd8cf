"""A file of the operator's (TU-26)."""

import os

import pytest

from rejoinder.media.notes import MOST_READ, read_notes


def test_what_stands_in_it(tmp_path):
    """TU-26: its text, without the mark some editors put before it, and not all of a huge one."""
    path = tmp_path / "HEARTBEAT.md"
    path.write_bytes(b"\xef\xbb\xbf# T\xc3\xa4glich\n\xff")
    assert read_notes(str(path)) == "# Täglich\n\ufffd"
    path.write_bytes(b"x" * (MOST_READ + 1))
    assert len(read_notes(str(path)) or "") == MOST_READ


def test_no_file(tmp_path):
    """TU-26: nothing is nothing."""
    assert read_notes(str(tmp_path / "HEARTBEAT.md")) is None


@pytest.mark.skipif(os.name != "posix", reason="folders open differently elsewhere")
def test_what_cannot_be_read(tmp_path, caplog):
    """TU-26: as if it were not there, and the operator is told."""
    assert read_notes(str(tmp_path)) is None
    assert "cannot be read: Is a directory" in caplog.text
