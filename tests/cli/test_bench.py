"""`rejoinder bench`."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from rejoinder.programs.measuring import Figures


@pytest.fixture
def says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, ["bench", *words])
        assert result.exit_code == 0, result.output
        assert not list(tmp_path.iterdir()), "the store it was measured with is gone"
        return result.stdout

    return run


def test_it_measures_this_machine(says):
    """Every message is answered, and each figure is one."""
    document = msgspec.json.decode(says("--json", "--messages", "7", "--sessions", "3"))
    assert tuple(document) == Figures.__struct_fields__
    assert (document["messages"], document["sessions"]) == (6, 3)
    assert all(value > 0 for value in document.values())
    assert document["p50_ms"] <= document["p95_ms"]


def test_it_reads_as_a_table(says):
    told = says("--messages", "1", "--sessions", "2")
    assert "messages/s, 2 sessions at once" in told
    assert "MB" in told


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="no folder here in which not even root may write")
def test_a_folder_that_takes_nothing(monkeypatch):
    """One sentence, before anything is measured."""
    monkeypatch.chdir("/sys")
    result = CliRunner().invoke(app, ["bench"])
    assert result.exit_code == 2
    assert result.output.startswith("rejoinder: nothing can be written in /sys (")
    assert len(result.output.splitlines()) == 1
