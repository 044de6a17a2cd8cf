"""Errors of the command line: a sentence and a status, never a traceback."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from rejoinder.cli import app
from rejoinder.cli.errors import Door, run
from rejoinder.errors import BadConfiguration, BadUse, RejoinderError
from rejoinder.store.sqlite import open_store
from rejoinder.testing.patience import PATIENCE


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


@pytest.mark.parametrize("command", [("explain",), ("export",), ("send", "--channel", "web", "--chat", "x")])
def test_an_argument_that_is_no_text(tmp_path, command):
    """Bytes of another encoding come as half characters: a sentence, no traceback."""
    program = [sys.executable, "-c", "from rejoinder.cli import main; main()", *command, b"\xff"]
    asyncio.run(_store_in(tmp_path))
    ended = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "Traceback" not in ended.stderr
    assert ended.returncode in (1, 2)
    assert ended.stderr.startswith("rejoinder: ")


async def _store_in(folder):
    await open_store(f"sqlite:{folder}/rejoinder.db").close()


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
