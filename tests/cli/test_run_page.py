"""`rejoinder run` as somebody meets it: an address, an agent and why, a clean end (surface.md, Command line)."""

import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from rejoinder.testing.patience import PATIENCE

REJOINDER = str(Path(sys.executable).with_name("rejoinder"))
NO_AGENT = {"PATH": "/nowhere", "HOME": "/nowhere"}


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The program and what it says until it tells its address."""
    command = [REJOINDER, "run", "--port", "0", *arguments]
    pipe = subprocess.PIPE
    # Started by a shell in the background, this process ignores Ctrl-C, and so would the one it starts.
    ctrl_c = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, cwd=folder, env=NO_AGENT, stdout=pipe, stderr=pipe, text=True, preexec_fn=ctrl_c
    ) as program:
        assert program.stdout is not None
        said: list[str] = []
        try:
            for line in program.stdout:
                said.append(line.rstrip("\n"))
                if line.startswith("The chat is at "):
                    break
            yield program, said
        finally:
            program.kill()


def test_without_configuration_there_is_a_page(tmp_path):
    """It says which agent answers and why, and serves at the address it tells, all on standard output."""
    with started(tmp_path) as (_, said):
        assert said[0].startswith("Answering with the built-in tour: no agent and no API key was found.")
        assert "`rejoinder run --demo`" in said[1]
        assert said[2] == "Messages are stored in rejoinder.db (gateway.store)."
        assert (tmp_path / "rejoinder.db").exists()
        address = said[-1].removeprefix("The chat is at ")
        with urllib.request.urlopen(f"{address}/health", timeout=PATIENCE) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 143)])
def test_told_to_end_it_ends_without_a_word(tmp_path, number, status):
    """Clean, also with a browser on the line."""
    with started(tmp_path) as (program, said):
        host, port = said[-1].rpartition("//")[2].split(":")
        with socket.create_connection((host, int(port)), PATIENCE):
            program.send_signal(number)
            assert program.wait(PATIENCE) == status
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.read() == f"The console is at http://{host}:{port}/console\n"
        assert program.stderr.read() == ""


def test_a_taken_port_is_told_with_what_to_do(tmp_path):
    """And nothing else: who does not start answers with no agent and keeps nothing."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [REJOINDER, "run", "--port", str(port)]
        done = subprocess.run(command, cwd=tmp_path, env=NO_AGENT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    [told] = done.stderr.splitlines()
    assert told.startswith(f"rejoinder: port {port} of 127.0.0.1 is taken")
    assert f"`--port {port + 1}`" in told


def test_a_store_that_cannot_be_opened_is_all_that_is_told(tmp_path):
    (tmp_path / "rejoinder.toml").write_text('[gateway]\nstore = "sqlite:nowhere/rejoinder.db"\n')
    command = [REJOINDER, "run", "--port", "0"]
    done = subprocess.run(command, cwd=tmp_path, env=NO_AGENT, capture_output=True, text=True, timeout=PATIENCE)
    [told] = done.stderr.splitlines()
    assert told.startswith("rejoinder: The store nowhere/rejoinder.db is unavailable")
    assert done.returncode == 1


def test_with_configuration_all_agents_are_there(tmp_path):
    (tmp_path / "rejoinder.toml").write_text(
        '[agents.a]\nkind = "tour"\n[agents.b]\nkind = "tour"\n[channels.web]\nagents = ["a", "b"]\n'
    )
    with started(tmp_path) as (_, said):
        with urllib.request.urlopen(
            said[-1].removeprefix("The chat is at ") + "/v1/models", timeout=PATIENCE
        ) as answer:
            body = answer.read()
        assert body.count(b'"object":"model"') == 2


@pytest.mark.parametrize("command", [["--help"], ["config"], ["run", "--help"]])
def test_other_commands_import_no_server(tmp_path, command):
    """A page is paid for by who serves one."""
    program = "import atexit, sys; atexit.register(lambda: print(sorted(sys.modules))); from rejoinder.cli import main"
    arguments = [sys.executable, "-c", f"{program}; main()", *command]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert "'rejoinder.cli'" in done.stdout, done.stderr
    assert not [name for name in ("'starlette'", "'uvicorn'", "'prometheus_client'") if name in done.stdout]


def test_a_changed_file_is_noticed_while_it_runs(tmp_path):
    """surface.md, Configuration: what is wrong is told with its line, what is right holds."""
    file = tmp_path / "rejoinder.toml"
    file.write_text('[agents.guide]\nkind = "tour"\n')
    with started(tmp_path) as (program, _):
        assert program.stderr is not None
        file.write_text('[agents.guide]\nkind = "tour"\nsystem_promt = "Be kind."\n')
        wrong = program.stderr.readline()
        assert "ERROR rejoinder.toml:3: agents.guide.system_promt: " in wrong
        assert wrong.endswith("? The gateway keeps its old settings.\n")
        file.write_text('[agents.guide]\nkind = "tour"\nsystem_prompt = "Be kind."\n')
        right = program.stderr.readline()
        assert (
            "INFO rejoinder.toml was read again: agents.guide.system_prompt applies from the next message on." in right
        )
