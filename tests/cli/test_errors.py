"""Errors of the command line: a sentence and a status, never a traceback."""

import asyncio
import os
import signal

import pytest
import typer
from typer.testing import CliRunner

from rejoinder.cli import app
from rejoinder.cli.errors import Door, run
from rejoinder.errors import BadConfiguration, BadUse, RejoinderError


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (BadUse("no such thing"), 2, "rejoinder: no such thing\n"),
        (BadConfiguration("no agent called 'x'"), 2, "rejoinder: no agent called 'x'\n"),
        (RejoinderError("the store is full"), 1, "rejoinder: the store is full\n"),
        (KeyboardInterrupt(), 130, ""),
        (asyncio.CancelledError(), 143, ""),
    ],
)
def test_an_error_becomes_a_sentence_and_a_status(error, status, said):
    door = typer.Typer(cls=Door)

    @door.command()
    def fail() -> None:
        raise error

    @door.command()
    def other() -> None:
        pass

    result = CliRunner().invoke(door, ["fail"])
    assert (result.exit_code, result.stderr, result.stdout) == (status, said, "")


def test_an_unknown_agent():
    result = CliRunner().invoke(app, ["chat", "--agent", "tuor"])
    assert result.exit_code == 2
    assert "no agent called 'tuor'; did you mean tour? there are:" in result.stderr


def test_wrong_use():
    assert CliRunner().invoke(app, ["chat", "--nonsense"]).exit_code == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_ends_in_good_order(number):
    tidied = []

    async def work():
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            tidied.append(True)

    with pytest.raises(asyncio.CancelledError):
        run(work())
    assert tidied
