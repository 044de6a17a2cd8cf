"""`rejoinder chat`: the gateway in the terminal."""

import logging
from typing import Annotated

import typer

from rejoinder.cli.errors import run


def chat(
    agent: Annotated[str, typer.Option("--agent", "-a", help="Who answers.")] = "tour",
) -> None:
    """Talk to an agent in this terminal; in a pipe, one message per line."""
    from rejoinder import app

    # The screen belongs to the chat: what its owner has to know is shown there as a note.
    logging.getLogger("rejoinder").addHandler(logging.NullHandler())
    run(app.chat(agent))
