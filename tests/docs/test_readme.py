"""README.md tells the truth: its Python runs as written, its commands print what stands behind them."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app

PAGE = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
COMMANDS = re.findall(r"^\$ (.*)\n((?:(?!\$ |```).*\n)*)", PAGE, re.M)


def told(code: str) -> list[tuple[str, str]]:
    """Each line that is nothing but a value, and what the comment behind it says the value is."""
    lines = code.splitlines()
    values = (
        node for node in ast.parse(code).body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Attribute)
    )
    return [(ast.unparse(node), lines[node.lineno - 1].partition("  # ")[2]) for node in values]


@pytest.mark.parametrize("code", PYTHON)
def test_the_code_runs_as_written(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert told(code), "an example shows what comes out of it"
    for expression, shown in told(code):
        assert repr(eval(expression, names)) == shown


def test_the_page_has_examples():
    """A block that is no longer found would be a test that no longer fails."""
    assert len(PYTHON) == 1
    assert len(COMMANDS) == 4


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_the_commands_do_what_the_page_says(command, output):
    typed, _, program = command.rpartition(" | ")
    name, *arguments = shlex.split(program)
    assert name == ".venv/bin/rejoinder"
    said = shlex.split(typed)[1].replace("\\n", "\n") if typed else None
    result = CliRunner().invoke(app, arguments, input=said)
    assert result.exit_code == 0
    if output.strip():
        assert result.output.rstrip() == output.rstrip()
