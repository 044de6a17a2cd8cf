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


IMPATIENT = """
import os, signal, sys, threading
from rejoinder import cli
from rejoinder.cli import commands, process_end

class Working(threading.Thread):
    def join(self, timeout=None):
        os.kill(os.getpid(), signal.SIGINT)
        super().join(timeout)

def end():
    Working(target=threading.Event().wait, name=process_end.THREADS, daemon=True).start()
    sys.exit(143)

commands.app = end
cli.main()
"""


def test_who_cannot_wait_for_a_thread_at_work_sees_no_traceback() -> None:
    """Ctrl-C once more while the process waits a moment for it: the process ends, with the status it has already."""
    ended = subprocess.run((sys.executable, "-c", IMPATIENT), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (143, "")
