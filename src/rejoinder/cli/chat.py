"""`rejoinder chat`: the gateway in the terminal."""

import logging
import sys
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from rejoinder.cli.errors import run
from rejoinder.cli.options import File, configuration

if TYPE_CHECKING:
    from rejoinder.config.overlay import Overlay
    from rejoinder.config.schema import Settings


def chat(
    agent: Annotated[
        str | None,
        typer.Option("--agent", "-a", help="Who answers: an agent of the configuration, or a kind such as tour."),
    ] = None,
    file: File = None,
) -> None:
    """Talk to an agent in this terminal; in a pipe, one message per line."""
    from rejoinder.config.load import FILE
    from rejoinder.programs import one_conversation
    from rejoinder.programs.agent_choice import with_agent
    from rejoinder.programs.interpreter import tune_to_serve
    from rejoinder.programs.reloading import SettingsSource, Watch

    watch = Watch(configuration(file) or FILE)
    settings, name, sentence = with_agent(read_settings(file), agent)
    if sentence:
        print(folded(sentence, sys.stderr), file=sys.stderr)  # beside the chat
    # The screen belongs to the chat: messages for its owner are shown there as notes.
    logging.getLogger("rejoinder").addHandler(logging.NullHandler())
    tune_to_serve()
    overlay: dict[tuple[str, ...], Any] = {}
    source = SettingsSource(
        watch, lambda: with_agent(read_settings(watch.path, overlay), agent)[0], overlay, read_settings
    )
    run(one_conversation.chat(settings, name, source))


def folded(sentence: str, stream: TextIO) -> str:
    """Wraps between words on a terminal; otherwise everything is one line."""
    if not stream.isatty():
        return sentence
    import shutil
    import textwrap

    return textwrap.fill(sentence, shutil.get_terminal_size().columns)


def read_settings(file: str | None, overlay: "Overlay | None" = None) -> "Settings":
    """The settings of the named file, or of the one in this folder, or the defaults; with the overlay."""
    import os

    from rejoinder.config.load import load
    from rejoinder.config.schema import Settings

    found = configuration(file)
    return load(found, os.environ, overlay=overlay or {}) if found else Settings()


def settings_to_serve(file: str | None, overlay: "Overlay | None" = None) -> "Settings":
    """Like `read_settings`, but refuses settings that do not work yet."""
    from rejoinder.config.kinds import unsupported_keys
    from rejoinder.config.load import FILE, mistakes
    from rejoinder.errors import BadConfiguration

    settings = read_settings(file, overlay)
    if complaints := tuple(unsupported_keys(settings)):
        raise BadConfiguration(*mistakes(file or FILE, complaints))
    return settings
