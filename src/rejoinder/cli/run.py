"""`rejoinder run`: the gateway."""

import sys

from rejoinder.cli.chat import chat


def run_gateway() -> None:
    """Start the gateway: so far the chat in this terminal with the built-in guide."""
    print(
        "There is no web page yet: this is the chat in your terminal.",
        file=sys.stderr,
    )
    chat("tour")
