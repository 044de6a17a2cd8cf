"""Options that several commands share."""

from typing import Annotated

import typer

File = Annotated[
    str | None,
    typer.Option("--config", "-c", metavar="FILE", help="The configuration; without it rejoinder.toml, if any."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Limit = Annotated[int, typer.Option("--limit", min=0, metavar="N", help="At most so many; 0: all of them.")]

USUAL_LIMIT = 50
ALL = -1


def most(limit: int) -> int:
    """The limit as the store takes it."""
    return limit or ALL
