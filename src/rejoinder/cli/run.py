"""`rejoinder run`: the gateway."""

from typing import Annotated

from rejoinder.cli.chat import CONFIG, chat, say


def run_gateway(file: Annotated[str | None, CONFIG] = None) -> None:
    """Start the gateway: so far the chat in this terminal."""
    say("There is no web page yet: this is the chat in your terminal.")
    chat(None, file)
