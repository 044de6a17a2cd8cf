"""What holds for all tests."""

import os

import pytest
from hypothesis import settings

from tests.postgres import end_the_run, name_the_run
from tests.postgres import postgres as postgres

# How long an example takes is the machine's business; benchmarks measure time, tests do not.
settings.register_profile("rejoinder", deadline=None)
settings.load_profile("rejoinder")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes are no part of a test's name: a file made while tests are collected may hold the time, and then each
    process would know the test by another name."""
    return "bytes" if isinstance(val, bytes) else None


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more process than cores: many tests wait for a gateway to start, a browser to draw, a lease to end."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1  # macOS has none
    return cores + 1


def pytest_configure(config: pytest.Config) -> None:
    """The order of the tests is shuffled; `random` is not seeded, for several processes would then draw the same."""
    if hasattr(config.option, "randomly_reset_seed"):
        config.option.randomly_reset_seed = False
    name_the_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    end_the_run()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    seed = getattr(config.option, "randomly_seed", None)
    if seed is not None and exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        terminalreporter.write_line(f"The same order again: --randomly-seed={seed}")
