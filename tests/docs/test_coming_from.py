"""The page for people who come from elsewhere: what it says is here is here."""

import re
from pathlib import Path

import pytest

from rejoinder.inbound.commands.registry import commands_by_name

DOCS = Path(__file__).parents[2] / "docs"
ROWS = [
    line
    for line in (DOCS / "coming-from.md").read_text().splitlines()
    if line.startswith("| ") and "there |" not in line
]
OURS = "\n".join(row.split(" | ")[1] for row in ROWS)
PATHS = re.findall(r"`((?:agents|channels|commands|directives|messages|session)\.[a-z_.]+)`", OURS)
KEYS = {path.rpartition(".")[2] for path in PATHS} - {"defaults"}
COMMANDS = {name for name in re.findall(r"`/([a-z]+)", OURS) if name not in ("console", "v")}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_key_that_is_named_exists(key: str) -> None:
    assert re.search(rf"^\| `(?:[\w.]+\.)?{key}`", (DOCS / "configuration.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_command_that_is_named_exists(command: str) -> None:
    assert command in commands_by_name()


def test_the_tables_are_read() -> None:
    """A page laid out again would pass for the want of anything to look at."""
    assert {"reply_to_mode", "status_reactions", "debounce_ms"} <= KEYS
    assert {"stop", "queue", "verbose"} <= COMMANDS
