"""What is left of the programs of agents."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rejoinder.agents.process import MARK, kill_orphans

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who carries which mark")


@contextmanager
def sleeping(mark: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"], env={MARK: mark, "PATH": os.environ["PATH"]}) as process:
        try:
            yield process
        finally:
            process.kill()


def a_pid_of_nobody() -> int:
    gone = subprocess.Popen(["true"])
    gone.wait()
    return gone.pid


def test_what_a_killed_gateway_left_behind_is_killed():
    """TU-33: a gateway that died by kill -9 ends nothing itself; the next one does, and touches nobody else's."""
    here = os.readlink("/proc/self/ns/pid")
    marks = (f"{here}/{os.getpid()}/a", f"pid:[1]/{a_pid_of_nobody()}/b", "a mark of another kind")
    with sleeping(marks[0]) as ours, sleeping(marks[1]) as of_a_container, sleeping(marks[2]) as unknown:
        with sleeping(f"{here}/{a_pid_of_nobody()}/c") as orphan:
            kill_orphans()
            assert orphan.wait(30) == -signal.SIGKILL
        assert [each.poll() for each in (ours, of_a_container, unknown)] == [None, None, None]
