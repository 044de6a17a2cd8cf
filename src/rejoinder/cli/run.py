"""`rejoinder run`: the gateway."""

import logging
import sys
from typing import Annotated

from rejoinder.cli.chat import CONFIG, chat, read_settings, say
from rejoinder.cli.errors import run


def run_gateway(file: Annotated[str | None, CONFIG] = None) -> None:
    """Serve the configured channels; without any, the chat in this terminal."""
    from rejoinder import app

    settings, _, sentence = app.with_agent(read_settings(file), None)
    channels = app.open_channels(settings)
    if not channels:
        say("There is no web page yet: this is the chat in your terminal.")
        chat(None, file)
        return
    if sentence:
        say(sentence)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    run(app.run(settings, channels))
