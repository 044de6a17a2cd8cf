"""The command line without its script: where only the interpreter is on the PATH."""

import subprocess
import sys

import rejoinder


def test_python_m_rejoinder_is_the_command_line() -> None:
    program = (sys.executable, "-m", "rejoinder", "--version")
    said = subprocess.run(program, capture_output=True, text=True, check=True)
    assert said.stdout == f"rejoinder {rejoinder.__version__}\n"
