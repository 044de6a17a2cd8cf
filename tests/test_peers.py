"""What a test needs and does not find."""

import re
from pathlib import Path

import pytest

from tests.peers import missing


def test_on_a_developers_machine_it_is_skipped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Chromium"):
        missing("no Chromium here")


def test_it_fails_ci(monkeypatch: pytest.MonkeyPatch):
    """A promise that nobody could test is not green."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Chromium"):
        missing("no Chromium here")


def test_nobody_skips_past_it():
    """What cannot be installed at all, the right to mount a disk or to leave the network, is the one exception."""
    own = re.compile(r"pytest\.(skip|importorskip)\(")
    files = Path(__file__).parent.rglob("*.py")
    assert {file.name for file in files if own.search(file.read_text())} == {
        "peers.py",
        "disks.py",
        "test_documents.py",
    }


@pytest.mark.xdist_group("together")
def test_what_shares_something_runs_in_one_process(request: pytest.FixtureRequest) -> None:
    """The installed wheel, the trials of the crash suite: made once, if the groups of pytest-xdist hold."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@together")
