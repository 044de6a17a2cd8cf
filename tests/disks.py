"""Disks that are soon full."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small(folder: Path, megabytes: int) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(file: Path) -> None:
    """Takes what is left of a disk: a large message may not fit where a small one does."""
    with file.open("wb", buffering=0) as rest, suppress(OSError):
        while True:
            rest.write(bytes(1024))
