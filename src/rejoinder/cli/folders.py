"""Folders that a command is going to write to."""

from pathlib import Path

from rejoinder.errors import BadUse


def must_be_writable(folder: Path, instead: str) -> None:
    """Raises BadUse, which says what to do instead, before the person or the machine has done any work."""
    from tempfile import TemporaryFile  # imported only when something is written

    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        raise BadUse(f"nothing can be written in {folder} ({problem.strerror}); {instead}") from None
