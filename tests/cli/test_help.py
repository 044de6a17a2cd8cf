"""`--help`: every word of it is shown, and `/help` in a chat fits on a phone."""

import inspect

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda each: each.name or each.callback.__name__)
def test_no_word_of_help_is_lost(command):
    """Square brackets are markup to the printer: a word in them would vanish."""
    name = command.name or command.callback.__name__
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    said = inspect.getdoc(command.callback).split("\n\n")[0]
    assert " ".join(said.split()) in " ".join(shown.split())
