"""Whatever stands in the pages as a configuration is one."""

import re
from pathlib import Path

import pytest

from rejoinder.config.load import read

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^( *)```toml\n(.*?)^ *```$", re.M | re.S)


def examples() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for indent, text in BLOCK.findall(page.read_text("utf-8")):
            if "entry-points" not in text and "where the package is installed" not in text:  # see test_plug_ins.py
                found.append((page.name, re.sub(f"^{indent}", "", text, flags=re.M)))
    return found


@pytest.mark.parametrize(("page", "text"), examples(), ids=[page for page, _ in examples()])
def test_it_is_read_without_a_complaint(page, text):
    read(text, page, dict.fromkeys(re.findall(r"\$\{(\w+)\}", text), "x" * 16))


def test_there_are_some():
    """A block that is no longer found would be a test that no longer fails."""
    assert len(examples()) >= 10
