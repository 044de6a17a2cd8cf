"""What is installed only on request: the command fits the way rejoinder was installed."""

import sys
from pathlib import Path

import pytest

from rejoinder import extras


def test_an_extra_is_named_by_its_packages():
    """A copy from a folder or a wheel is on no package index, so `pip install rejoinder[acp]` would find another."""
    (package,) = extras.packages("acp")
    assert package.startswith("agent-client-protocol>=")
    assert extras.packages("nothing") == ()


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("pipx_metadata.json", "pipx inject rejoinder 'agent-client-protocol>="),
        ("uv-receipt.toml", "uv pip install --python {prefix} 'agent-client-protocol>="),
        (None, f"{sys.executable} -m pip install 'agent-client-protocol>="),
    ],
)
def test_the_command_fits_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str, command: str):
    prefix = tmp_path / "rejoinder"
    prefix.mkdir()
    if mark:
        (prefix / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    assert extras.how_to_install("acp").startswith(command.format(prefix=prefix))
