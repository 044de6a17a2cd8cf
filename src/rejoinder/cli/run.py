"""`rejoinder run`: the gateway."""

import logging
import signal
import sys
from typing import Annotated

import typer

from rejoinder.cli.chat import CONFIG, read_settings, say
from rejoinder.cli.errors import INTERRUPTED, TERMINATED, run


def run_gateway(
    file: Annotated[str | None, CONFIG] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port of the page; 0 takes a free one.")
    ] = None,
    new_token: Annotated[bool, typer.Option("--new-token", help="Make a new login token; the old one ends.")] = False,
) -> None:
    """Serve the configured channels; without any, the chat page on http://127.0.0.1:8765."""
    from rejoinder import app, serving

    settings, _, sentence = app.with_agent(read_settings(file), None)
    if sentence:
        say(sentence)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    told = run(serving.serve(serving.with_page(settings, port), say, new_token=new_token))
    if told is not None:
        sys.exit(INTERRUPTED if told is signal.SIGINT else TERMINATED)
