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
CLIENTS = ("anthropic", "langchain-openai", "llm")
"""Programs that speak the APIs of `/v1`; litellm does too, but needs an environment of its own beside langchain."""
NO_NPM = 69


def missing(peer: str) -> NoReturn:
    """On a developer's machine the test is skipped; where `CI=true`, a promise nobody could test is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{peer} (CI=true: what is missing fails)", pytrace=False)
    pytest.skip(peer)


def interpreter(version: str) -> str:
    """The Python of this version, on the path or among those of pyenv."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    for found in (*sorted(map(str, root.glob(f"versions/{version}.*/bin/python"))), f"python{version}"):
        with suppress(OSError):
            if subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
                return found
    missing(f"no Python {version} here")


def python_with(*packages: str, python: str = "") -> Path:
    """The interpreter of an environment of their own: what they need has nothing to do with what we need.

    `python`: the version of Python they ask for, if ours will not do.

    Made once for all tests of this checkout; only the stamp says that it is whole, and one process installs.
    """
    place = Path(sys.prefix) / "peers" / "-".join(packages)
    place.mkdir(parents=True, exist_ok=True)
    made, stamp = place / "bin" / "python", place / "installed"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            print(f"Installing {', '.join(packages)} for the tests ...", file=sys.stderr)
            install = [made, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check", *packages]
            for command in ([interpreter(python) if python else sys.executable, "-m", "venv", place], install):
                result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
                if result.returncode:
                    missing(f"{', '.join(packages)} could not be installed: {result.stderr[-500:]}")
            stamp.touch()
    return made


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
