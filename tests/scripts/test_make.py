"""`make run`: what people type, seen from the shell they type it in."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rejoinder.testing.patience import PATIENCE

HOUSE = Path(__file__).parents[2]
TYPED = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PORT"))}
"""Without what a make tells those it starts: these tests may be run by one, and without a port."""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make here")


@contextmanager
def make_run(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """In a folder of its own, with the environment that is there; it leads a group of processes, as in a terminal."""
    (folder / "scripts").mkdir()
    shutil.copy(HOUSE / "scripts" / "gateway", folder / "scripts")
    venv = Path(sys.prefix)
    command = ["make", "-f", str(HOUSE / "Makefile"), "-o", str(venv / ".run"), f"VENV={venv}", "run", *words]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=folder, env=TYPED, text=True, process_group=0, **both) as program:
        watch = threading.Timer(PATIENCE, _end, (program,))  # who reads what it says waits for it without end
        watch.start()
        try:
            yield program
        finally:
            watch.cancel()
            _end(program)


def _end(program: subprocess.Popen[str]) -> None:
    if program.poll() is None:
        os.killpg(program.pid, signal.SIGKILL)


def test_a_bad_configuration_keeps_its_status(tmp_path):
    """Make itself ends with 2 whatever happens; the status it tells is the gateway's."""
    (tmp_path / "rejoinder.toml").write_text("[gateway\n")
    with make_run(tmp_path) as program:
        said, _ = program.communicate(timeout=PATIENCE)
    assert program.returncode == 2
    sentence, complaint = said.splitlines()
    assert sentence.startswith("rejoinder: rejoinder.toml:1:")
    assert complaint.endswith("Error 2")


def until_it_serves(program: subprocess.Popen[str]) -> None:
    assert program.stdout is not None
    for line in program.stdout:
        if line.startswith("The console is at "):
            return
    pytest.fail("it has ended")


SOMEWHERE = '[agents.tour]\nkind = "tour"\n[channels.web]\nport = 0\n'


def test_who_ends_make_ends_the_gateway(tmp_path):
    """SIGTERM for make alone, as a script or a supervisor sends it: nothing is left that holds the port."""
    (tmp_path / "rejoinder.toml").write_text(SOMEWHERE)
    with make_run(tmp_path) as program:
        until_it_serves(program)
        program.terminate()
        program.communicate(timeout=PATIENCE)  # until nobody holds the other end of what it says


def test_sigterm_is_no_mistake(tmp_path):
    """`docker stop` and supervisors send it to the whole group: it ends, and nobody complains."""
    (tmp_path / "rejoinder.toml").write_text(SOMEWHERE)
    with make_run(tmp_path) as program:
        until_it_serves(program)
        os.killpg(program.pid, signal.SIGTERM)
        said, _ = program.communicate(timeout=PATIENCE)
    assert "Error" not in said


def test_sigterm_for_the_gateway_is_no_mistake(tmp_path):
    """An operator's `kill` of the process that serves: make ends with 0."""
    (tmp_path / "rejoinder.toml").write_text(SOMEWHERE)
    with make_run(tmp_path) as program:
        until_it_serves(program)
        child = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()[0]
        os.kill(int(child), signal.SIGTERM)
        said, _ = program.communicate(timeout=PATIENCE)
    assert (program.returncode, "***" in said) == (0, False)


def test_ctrl_c_is_no_mistake(tmp_path):
    """A terminal sends it to the whole group; nobody complains."""
    (tmp_path / "rejoinder.toml").write_text(SOMEWHERE)
    with make_run(tmp_path) as program:
        until_it_serves(program)
        os.killpg(program.pid, signal.SIGINT)
        said, _ = program.communicate(timeout=PATIENCE)
    assert "***" not in said


def test_a_port_can_be_named(tmp_path):
    """`make run PORT=...`: it goes before the one of the configuration, and who finds it taken is told of `PORT`."""
    (tmp_path / "rejoinder.toml").write_text(SOMEWHERE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with make_run(tmp_path, f"PORT={port}") as program:
            said, _ = program.communicate(timeout=PATIENCE)
    assert f"port {port} of 127.0.0.1 is taken" in said
    assert f"`PORT={port + 1}` to `make run`" in said
