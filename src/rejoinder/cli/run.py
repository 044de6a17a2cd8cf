"""`rejoinder run`: the gateway."""

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from rejoinder.cli.chat import folded, settings_to_serve
from rejoinder.cli.errors import INTERRUPTED, TERMINATED, run
from rejoinder.cli.log_lines import log_to_stderr
from rejoinder.cli.options import File, configuration
from rejoinder.errors import RejoinderError

if TYPE_CHECKING:
    from rejoinder.app import Gateway, Restart, RestartCheck
    from rejoinder.channels.web.channel import WebChannel
    from rejoinder.config.schema import Settings
    from rejoinder.programs.signals import EndedBy
    from rejoinder.runtime.cluster_member import ProcessRole

OBEYED = "REJOINDER_OBEYED"
"""The environment variable that hands the commands that caused a restart to the restarted gateway."""
RETURNS = "REJOINDER_RETURNS"
"""The environment variable with the process's previous name, among others on the same store."""


def run_gateway(
    file: File = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port of the page; 0 takes a free one.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Play a room of three agents on the page; nothing is kept.")
    ] = False,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Make a new login token; the old one stops working.")
    ] = False,
    front: Annotated[
        bool,
        typer.Option("--front", help="Listen and serve the pages; other processes on the same store do the answering."),
    ] = False,
) -> None:
    """Serve the configured channels; without any, the chat page on http://127.0.0.1:8765."""
    _run(file, port, demo=demo, new_token=new_token, role="front" if front else "all")


def run_worker(file: File = None) -> None:
    """Share the answering with other gateways on the same store, without listening or serving pages."""
    _run(file, None, demo=False, new_token=False, role="worker")


def _run(file: File, port: int | None, *, demo: bool, new_token: bool, role: "ProcessRole") -> None:
    from rejoinder.programs.interpreter import pause_collection

    pause_collection()
    from rejoinder import app
    from rejoinder.config.kinds import agent_kind
    from rejoinder.config.load import FILE
    from rejoinder.programs import serving
    from rejoinder.programs.agent_choice import absent_programs, with_agent
    from rejoinder.programs.event_loop import fast_loop
    from rejoinder.programs.reloading import SettingsSource, Watch

    watch = Watch(configuration(file) or FILE)  # before it is read, to notice a write meanwhile
    log_to_stderr()

    obeyed, returns = tuple(os.environ.pop(OBEYED, "").split()), os.environ.pop(RETURNS, "")
    restart_check = app.RestartCheck(lambda: settings_to_serve(file), obeyed, returns)
    if demo:
        told = run(_demo(settings_to_serve(file), port, restart_check, new_token=new_token), fast_loop(app.MEMORY))
    else:
        settings, agent, sentence = with_agent(settings_to_serve(file), None)
        beginning = [*([sentence] if sentence else []), *absent_programs(settings)]
        if sentence and agent_kind(settings.agents[agent].kind).last_resort:
            beginning.append("To see three agents in one room, try `rejoinder run --demo` (or `make demo`).")

        overlay: dict[tuple[str, ...], Any] = {}

        def read() -> "Settings":
            return serving.with_page(with_agent(settings_to_serve(watch.path, overlay), None)[0], port)

        made = serving.with_page(settings, port)
        source = SettingsSource(watch, read, overlay, settings_to_serve)
        serve = serving.serve(
            made, say, beginning=beginning, new_token=new_token, source=source, restart_check=restart_check, role=role
        )
        told = run(serve, fast_loop(made.gateway.store))
    if isinstance(told, app.Restart):
        restart_in_place(told)
    if told is not None:
        sys.exit(INTERRUPTED if told is signal.SIGINT else TERMINATED)


def restart_in_place(restart: "Restart") -> NoReturn:
    """Runs the same command line in the same process, so a supervisor does not see it end. Login tokens stay valid."""
    words = [word for word in sys.orig_argv[1:] if word != "--new-token"]
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        added = {OBEYED: " ".join(restart.obeyed), RETURNS: restart.returns}
        os.execve(sys.executable, (sys.executable, *words), {**os.environ, **added})
    except OSError as error:
        raise RejoinderError(f"it has ended and cannot be started again: {error.strerror}") from None


def say(sentence: str) -> None:
    """Prints to standard output for the person who started it; standard error belongs to the log."""
    print(folded(sentence, sys.stdout), flush=True)


async def _demo(settings: "Settings", port: int | None, restart_check: "RestartCheck", *, new_token: bool) -> "EndedBy":
    from rejoinder.programs import serving
    from rejoinder.programs.demo import next_steps, play, staged

    made, agents = staged(settings)

    async def perform(gateway: "Gateway", web: "WebChannel") -> None:
        for line in next_steps(agents):
            say(line)
        await play(gateway, web, tuple(agents))

    page = serving.with_page(made, port)
    return await serving.serve(page, say, new_token=new_token, agents=agents, play=perform, restart_check=restart_check)
