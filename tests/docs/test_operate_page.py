"""docs/operate.md tells the truth: its commands are run one after the other and print what stands there."""

import re
import shlex
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from tests.cli.a_store import make

PAGE = (Path(__file__).parents[2] / "docs" / "operate.md").read_text("utf-8")

EXAMPLE = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
SIZE, MINUTES = re.compile(r"[\d,]+ bytes\b"), re.compile(r"in \d+ min \d+ s")


def examples() -> list[tuple[str, str]]:
    """Each command of the page, and what it prints."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
    return [example for block in blocks for example in EXAMPLE.findall(block)]


def steady(output: str) -> str:
    """Without what differs from day to day."""
    return MINUTES.sub("in a while", SIZE.sub("some bytes", output))


def test_the_examples_print_what_the_page_says(tmp_path, monkeypatch):
    make(tmp_path / "rejoinder.db")
    (tmp_path / "rejoinder.toml").write_text('[channels.telegram]\ntoken = "1:x"\n[agents.helper]\nkind = "tour"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert len(examples()) >= 10
    for command, output in examples():
        program, *arguments = shlex.split(command)
        assert program == "rejoinder"
        result = CliRunner().invoke(app, arguments)
        assert steady(result.output) == steady(output), command


def test_every_command_of_the_page_is_shown():
    """The list is made from the code; each command in it has its example."""
    listed = set(re.findall(r"^\| `rejoinder (\w+)`", PAGE, re.M))
    assert listed == {command.split()[1] for command, _ in examples()}


@pytest.fixture(autouse=True)
def _own_zone():
    yield
    time.tzset()
