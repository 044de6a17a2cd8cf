"""docs/python.md tells the truth: its code runs as written, one block after the other."""

import ast
import re
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")


def test_the_page(tmp_path, monkeypatch):
    """A line that is a value, with a comment behind it, has that value."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    compared = 0
    for code in re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S):
        exec(compile(code, "python.md", "exec"), names)
        lines = code.splitlines()
        for node in ast.parse(code).body:
            if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
                shown = lines[node.lineno - 1].partition("  # ")[2]
                assert repr(eval(ast.unparse(node), names)) == shown
                compared += 1
    assert compared >= 8
    assert (tmp_path / "mine.db").exists()
