"""Errors of the command line: a sentence and a status, never a traceback."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from rejoinder.cli.errors import ErrorReportingGroup, run
from rejoinder.errors import BadConfiguration, BadUse, RejoinderError
from rejoinder.store.sqlite.store import open_store
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
    door = typer.Typer(cls=ErrorReportingGroup)

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


@pytest.mark.parametrize("is_used", [False, True])
@pytest.mark.parametrize("command", [("worker",), ("run", "--front")])
def test_a_file_serves_one_process(tmp_path, command, is_used):
    """SC-24: who shares its store with others needs a store that can be shared, and is told so, and not to stop the
    gateway that has the file."""
    (tmp_path / "rejoinder.toml").write_text('[agents.guide]\nkind = "tour"\n')
    program = [sys.executable, "-c", "from rejoinder.cli import main; main()", *command]
    store = open_store(f"sqlite:{tmp_path}/rejoinder.db") if is_used else None
    ended = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if store is not None:
        asyncio.run(store.close())
    assert ended.returncode == 2
    assert "shares its store with others" in ended.stderr
    assert "gateway.store" in ended.stderr


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sesions", "there is no command 'sesions'; did you mean \"sessions\"?"),
        ("fly", "there is no command 'fly'; there are: run, chat, "),
        ("--nonsense", "no such option: --nonsense; see `rejoinder --help`"),
        ("chat --nonsense", "no such option: --nonsense; see `rejoinder chat --help`"),
        ("run --port many", "invalid value for '--port': 'many' is not a whole number; see `rejoinder run --help`"),
        ("dead --drop x", "invalid value for '--drop': 'x' is not a whole number; see `rejoinder dead --help`"),
        ("run --port", "option '--port' requires an argument; see `rejoinder --help`"),
        ("backup", "missing argument 'FILE'; see `rejoinder backup --help`"),
    ],
)
def test_wrong_use(words, said):
    """One line that says where to look, on a terminal and in a pipe."""
    result = CliRunner().invoke(app, words.split(), prog_name="rejoinder")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"rejoinder: {said}")
    assert result.stderr.count("\n") == 1


def test_no_words_at_all():
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 2
    assert "Usage:" in result.output


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
