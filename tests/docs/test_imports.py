"""Python in the docs names what exists: an example can be copied."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"^( *)```python\n(.*?)^\1```", re.M | re.S)
NAMED = [
    (page.name, node.module, name.name)
    for page in PAGES
    for block in BLOCK.finditer(page.read_text("utf-8"))
    for node in ast.walk(ast.parse(block[2]))
    if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "rejoinder"
    for name in node.names
]


def test_there_are_examples():
    assert len(NAMED) > 30


@pytest.mark.parametrize(("page", "module", "name"), sorted(set(NAMED)))
def test_what_an_example_imports_exists(page, module, name):
    assert hasattr(import_module(module), name), f"{page} imports {name} from {module}, which has no such name"
