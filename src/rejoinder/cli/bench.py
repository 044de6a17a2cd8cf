"""`rejoinder bench`: what the gateway costs on this machine."""

from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.folders import must_be_writable
from rejoinder.cli.options import AsJson, print_json

if TYPE_CHECKING:
    from rejoinder.programs.measuring import Figures


def bench(
    messages: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many messages: first one by one, then all at once.")
    ] = 500,
    sessions: Annotated[int, typer.Option(min=1, metavar="N", help="Conversations at once.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Measure this machine: latency, throughput and memory of the gateway, with a store in this folder.

    The agent and the channel take no time, so this measures what rejoinder adds.
    """
    from pathlib import Path

    from rich.console import Console

    from rejoinder.cli.errors import run
    from rejoinder.programs.measuring import measure

    must_be_writable(Path.cwd(), "go to another folder: the store for the measurement would be in this one")
    with Console(stderr=True).status("Measuring ..."):  # animated on a terminal, otherwise silent
        figures = run(measure(messages, sessions, Path.cwd()))
    if as_json:
        print_json(figures)
    else:
        _tell(figures)


def _tell(figures: "Figures") -> None:
    from rich.text import Text

    from rejoinder.cli.layout import console, print_table

    at_once = f"{figures.sessions} sessions at once"
    rows = [
        ("first message", f"{figures.first_ms:.1f} ms"),
        ("a message, p50", f"{figures.p50_ms:.2f} ms"),
        ("a message, p95", f"{figures.p95_ms:.2f} ms"),
        (f"messages/s, {at_once}", f"{figures.messages_per_second:.0f}"),
        (f"CPU for a message, {at_once}", f"{figures.cpu_ms:.2f} ms"),
        ("memory, at most", f"{figures.memory_mb:.0f} MB"),
    ]
    print_table(console(), ("what the gateway adds", ""), [[Text(what), Text(found, "bold")] for what, found in rows])
