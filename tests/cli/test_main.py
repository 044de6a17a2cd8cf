"""The command line without its script: where only the interpreter is on the PATH."""

import subprocess
import sys

import rejoinder


def test_python_m_rejoinder_is_the_command_line() -> None:
    program = (sys.executable, "-m", "rejoinder", "--version")
    said = subprocess.run(program, capture_output=True, text=True, check=True)
    assert said.stdout == f"rejoinder {rejoinder.__version__}\n"


INTERRUPTED = """
import sys

class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "rejoinder.cli.pair":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
from rejoinder.cli import main
main()
"""


def test_who_calls_it_off_while_it_is_being_loaded_sees_no_traceback() -> None:
    """The shell's own number, and nothing is printed: as at any other time."""
    ended = subprocess.run((sys.executable, "-c", INTERRUPTED, "run"), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, "")
