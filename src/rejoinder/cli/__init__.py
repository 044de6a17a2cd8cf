"""The command line. Each command is a file here that imports what it needs when it runs: `--help` is fast."""

from typing import Annotated

import typer

import rejoinder
from rejoinder.cli.chat import chat
from rejoinder.cli.config import show_config
from rejoinder.cli.errors import Door
from rejoinder.cli.message import try_message
from rejoinder.cli.reply import reply
from rejoinder.cli.run import run_gateway

app = typer.Typer(
    cls=Door,
    name="rejoinder",
    help="The gateway between chats and AI agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"rejoinder {rejoinder.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options before any command."""


app.command("message")(try_message)
app.command()(chat)
app.command()(reply)
app.command("run")(run_gateway)
app.command("config")(show_config)


def main() -> None:
    app()
