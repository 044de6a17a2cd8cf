"""`rejoinder run`: the gateway."""

import sys
from typing import Annotated

from rejoinder.cli.chat import CONFIG, chat


def run_gateway(file: Annotated[str | None, CONFIG] = None) -> None:
    """Start the gateway: so far the chat in this terminal."""
    print("There is no web page yet: this is the chat in your terminal.", file=sys.stderr)
    chat(None, file)
