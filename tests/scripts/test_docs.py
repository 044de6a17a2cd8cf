"""Lists in the docs come from the code, and a stale one is noticed."""

from pathlib import Path

import pytest

from scripts import docs

BLOCKS = {"fruits": lambda: "- apple\n- pear", "numbers": lambda: "1, 2, 3"}
STALE = "# Page\n<!-- generated: fruits -->\n- plum\n<!-- end -->\ntext\n"
FRESH = "# Page\n<!-- generated: fruits -->\n- apple\n- pear\n<!-- end -->\ntext\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Nothing generated here\n", "utf-8")
    return tmp_path


def test_a_block_is_filled_and_the_rest_stays() -> None:
    """Only what stands between the marks changes."""
    assert docs.fill(STALE, "page.md", BLOCKS) == (FRESH, ["fruits"])


def test_filling_twice_changes_nothing() -> None:
    """A fresh page is not stale."""
    assert docs.fill(FRESH, "page.md", BLOCKS) == (FRESH, [])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "<!-- generated: nuts -->\n<!-- end -->",
            "p.md:1: no generated block is called 'nuts'; there are: fruits, numbers",
        ),
        (
            "\n<!-- generated: fruits -->\n",
            "p.md:2: block 'fruits' has no <!-- end -->; add it after the block",
        ),
        ("<!-- end -->", "p.md:1: <!-- end --> ends no block; remove it"),
        (
            "<!-- generated: fruits -->\n<!-- generated: numbers -->\n<!-- end -->",
            "p.md:2: block 'fruits' of line 1 needs its <!-- end --> before this line",
        ),
    ],
)
def test_broken_marks_are_named(text: str, complaint: str) -> None:
    """The error says where and what to do."""
    with pytest.raises(docs.BrokenPage) as raised:
        docs.fill(text, "p.md", BLOCKS)
    assert str(raised.value) == complaint


def test_check_names_the_stale_and_the_cure(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` fails, writes nothing, and says which blocks and which command."""
    (root / "docs" / "a.md").write_text(STALE, "utf-8")
    assert docs.main(["--check"], root, BLOCKS) == 1
    assert capsys.readouterr().err == (
        "Generated blocks are stale: fruits in docs/a.md. `make docs` writes them again.\n"
    )
    assert (root / "docs" / "a.md").read_text("utf-8") == STALE


def test_writing_mends_it(root: Path) -> None:
    """After writing, the check passes."""
    (root / "docs" / "a.md").write_text(STALE, "utf-8")
    assert docs.main([], root, BLOCKS) == 0
    assert (root / "docs" / "a.md").read_text("utf-8") == FRESH
    assert docs.main(["--check"], root, BLOCKS) == 0


def test_wrong_use(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 2 and the usage."""
    assert docs.main(["--chekc"], root, BLOCKS) == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize("name", docs.BLOCKS)
def test_every_block_has_content_and_no_marks(name: str) -> None:
    """A generated block cannot break the page it stands in."""
    block = docs.BLOCKS[name]()
    assert block.strip()
    assert "<!--" not in block


def test_telegram_and_slack_differ_in_the_matrix() -> None:
    """OD-56: the matrix shows what each platform is sent."""
    rows = docs.reactions().splitlines()
    assert "| `white_check_mark` | ✅ | `white_check_mark` | 👍 (nearest) |" in rows
    assert "| `warning` | ⚠️ | `warning` | not sent |" in rows
