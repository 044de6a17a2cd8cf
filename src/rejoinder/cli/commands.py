"""All commands by name. Each is a file here that imports what it needs when it runs: `--help` is fast."""

from typing import Annotated

import typer

import rejoinder
from rejoinder.cli.backup import back_up
from rejoinder.cli.bench import bench
from rejoinder.cli.chat import chat
from rejoinder.cli.config import show_config
from rejoinder.cli.cron import cron
from rejoinder.cli.dead import dead_letters
from rejoinder.cli.doctor import examine
from rejoinder.cli.errors import ErrorReportingGroup
from rejoinder.cli.explain import explain_message
from rejoinder.cli.export import export
from rejoinder.cli.init import make_configuration
from rejoinder.cli.mcp import mcp
from rejoinder.cli.message import try_message
from rejoinder.cli.pair import pair
from rejoinder.cli.reply import reply
from rejoinder.cli.run import run_gateway, run_worker
from rejoinder.cli.send import send
from rejoinder.cli.sessions import list_sessions
from rejoinder.cli.store import store

OPERATE = "On a store, whether or not a gateway is running on it"
ALONE = "On a store, only while no gateway is running on it"

app = typer.Typer(
    cls=ErrorReportingGroup,
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
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options before any command."""


app.command("run")(run_gateway)
app.command()(chat)
app.command("init")(make_configuration)
app.command("config")(show_config)
app.command("doctor")(examine)
app.command()(bench)
app.command("message")(try_message)
app.command()(reply)
app.command()(mcp)
app.command("worker")(run_worker)
app.command("explain", rich_help_panel=OPERATE)(explain_message)
app.command("sessions", rich_help_panel=OPERATE)(list_sessions)
app.command("dead", rich_help_panel=OPERATE)(dead_letters)
app.command(rich_help_panel=OPERATE)(send)
app.command(rich_help_panel=OPERATE)(pair)
app.command(rich_help_panel=OPERATE)(cron)
app.command("backup", rich_help_panel=OPERATE)(back_up)
app.command(rich_help_panel=OPERATE)(export)
app.command(rich_help_panel=ALONE)(store)
