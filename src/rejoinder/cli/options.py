"""Options that several commands share."""

from typing import Annotated

import typer

File = Annotated[
    str | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        help="The configuration file; without it, rejoinder.toml in this folder, if there is one.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Limit = Annotated[int, typer.Option("--limit", min=0, metavar="N", help="How many to show; 0 shows all.")]

USUAL_LIMIT = 50
ALL = -1


def configuration(file: str | None) -> str | None:
    """The file that was named, or the one in this folder, if any."""
    import os

    from rejoinder.config.load import FILE

    return file or (FILE if os.path.exists(FILE) else None)


def most(limit: int) -> int:
    """The limit in the form that the store expects."""
    return limit or ALL


def print_json(document: object) -> None:
    """Prints the document for `--json`."""
    import sys

    import msgspec

    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")
    sys.stdout.buffer.flush()
