"""What tests need and nobody here wrote: a browser, programs from npm and PyPI, a program of the system."""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[1]
CLIENTS = ("anthropic", "langchain-openai", "litellm", "llm")
"""Programs that speak the APIs of `/v1`."""
NO_NPM = 69


def missing(peer: str) -> NoReturn:
    """On a developer's machine the test is skipped; where `CI=true`, a promise nobody could test is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{peer} (CI=true: what is missing fails)", pytrace=False)
    pytest.skip(peer)


def python_with(*packages: str) -> Path:
    """The interpreter of an environment of their own: what they need has nothing to do with what we need.

    Made once for all tests of this checkout; only the stamp says that it is whole, and one process installs.
    """
    place = Path(sys.prefix) / "peers" / "-".join(packages)
    place.mkdir(parents=True, exist_ok=True)
    python, stamp = place / "bin" / "python", place / "installed"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            print(f"Installing {', '.join(packages)} for the tests ...", file=sys.stderr)
            install = [python, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check", *packages]
            for command in ([sys.executable, "-m", "venv", place], install):
                result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
                if result.returncode:
                    missing(f"{', '.join(packages)} could not be installed: {result.stderr[-500:]}")
            stamp.touch()
    return python


def program(name: str) -> str:
    """A program of the system, which `scripts/install` installs for the tests."""
    return shutil.which(name) or missing(f"no {name} here (Debian: apt-get install {name})")


def program_from_npm(package: str, pattern: str) -> Path:
    """The program of a package of npm, which is installed when it is not there yet; `pattern`: where it stands there.

    A program is there before its package is installed whole: only the stamp says so, and one process installs.
    """
    place = Path(sys.prefix) / "agents" / package
    place.mkdir(parents=True, exist_ok=True)
    stamp = place / "installed"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            command = [str(ROOT / "scripts" / "agents"), sys.prefix, package]
            result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if result.returncode == NO_NPM:
                missing(result.stderr.strip())
            assert result.returncode == 0, result.stderr
            stamp.touch()
    return next((place / "node_modules").glob(pattern))


if __name__ == "__main__":  # `make test` installs the largest ones before it starts the tests
    with suppress(pytest.skip.Exception, pytest.fail.Exception):
        python_with(*CLIENTS)
