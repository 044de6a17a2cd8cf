"""Checks an address as soon as a person has typed it: its form, and whether anything answers there."""

import asyncio
import os
from collections.abc import Callable
from socket import gaierror
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

import typer

from rejoinder.cli.errors import run
from rejoinder.cli.yes_or_no import ask_yes_or_no

SECONDS = 5.0
PORTS = {"http": 80, "https": 443}

Found = Literal["answers", "kept", "dropped"]
"""Something answers there; or nothing does, and the person keeps the address anyway, or drops it."""


def ask_address(question: str, default: str | None, misspelled: Callable[[str], str | None]) -> tuple[str, Found]:
    """Asks until the person types an address. Returns it, and what was found there."""

    while True:
        said = str(typer.prompt(question, default=default)).strip()
        if (wrong := misspelled(said)) is not None:
            print(f"  That is not an address: {wrong}")
        elif (nobody := run(_nobody(said))) is None:
            return said, "answers"
        else:
            print(f"  Nothing answers at {said} ({nobody}).")
            return said, "kept" if ask_yes_or_no("  Keep it anyway?", default=False) else "dropped"


async def _nobody(address: str) -> str | None:
    """Why nothing can be reached there; None if something can be, or if only a proxy could tell."""
    parts = urlsplit(address)
    if parts.scheme in getproxies():
        return None
    try:
        port = parts.port or PORTS[parts.scheme]
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except TimeoutError:
        return f"no answer within {SECONDS:.0f} s"
    except gaierror as problem:
        return problem.strerror
    except OSError as problem:
        return os.strerror(problem.errno) if problem.errno else str(problem)
    except ValueError as problem:  # the port is wrong
        return str(problem)
    writer.close()
    return None
