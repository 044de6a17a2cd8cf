"""Extras, named as in `pyproject.toml`: which packages they install, and how to install them here.

The command names those packages and not `rejoinder[...]`, because a copy from a folder or a wheel is on no package
index.
"""

import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

_REQUIREMENT = re.compile(r"(?P<package>[\w.\-\[\]]+)(?P<version>[^;]*).*\bextra\s*==\s*['\"](?P<extra>[\w\-]+)['\"]")


def packages(extra: str) -> tuple[str, ...]:
    """The packages of this extra; empty if there is no such extra."""
    try:
        found = [_REQUIREMENT.match(each) for each in requires("rejoinder") or ()]
    except PackageNotFoundError:
        return ()
    return tuple(each["package"] + each["version"].strip() for each in found if each and each["extra"] == extra)


def how_to_install(extra: str) -> str:
    """The command that installs it here, however this environment was made: `make run`, pipx, uv or pip."""
    return _command(packages(extra) or (f"rejoinder[{extra}]",), Path(sys.prefix))


def _command(wanted: tuple[str, ...], prefix: Path) -> str:
    what = shlex.join(wanted)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject {shlex.quote(prefix.name)} {what}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv pip install --python {shlex.quote(str(prefix))} {what}"
    return f"{shlex.quote(sys.executable)} -m pip install {what}"
