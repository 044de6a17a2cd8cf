"""How the operator's screens are written: ages, durations, harmless text, tables that fit."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from rejoinder.cli.layout import AT_ONCE, abbreviated, ago, print_table, quoted
from rejoinder.unicode_repair import harmless, one_line

NOW = datetime(2030, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(), "just now"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 d ago"),
        (timedelta(days=99), "99 d ago"),
        (timedelta(days=100), "2030-01-21"),
    ],
)
def test_ages(past, said):
    assert ago(NOW - past, NOW) == said


@pytest.mark.parametrize(("number", "said"), [(0, "0"), (999, "999"), (1000, "1k"), (12_345, "12.3k"), (2**21, "2.1M")])
def test_numbers(number, said):
    assert abbreviated(number) == said


@given(st.text(st.characters(categories=("Cc", "Cf", "Ll", "Zl", "Zp")), max_size=30))
def test_nothing_harmful_is_left(text):
    """No escape sequence, no carriage return, no bidirectional override; the ends of lines stay."""
    left = harmless(text)
    assert left.count("\n") == text.count("\n")
    assert all(char == "\n" or char.isprintable() or char not in "\x1b\r\x07\x9b\u202e\u2066" for char in left)
    assert not any(char < " " and char != "\n" for char in left)
    assert "\n" not in one_line(text)


def test_a_quote_has_an_end():
    assert quoted("a " * 1000, 10).plain == "“a a a a a…”"
    assert quoted(" \n").plain == "(no text)"


def table(width: int | None, rows: list[list[Text]]) -> list[str]:
    file = io.StringIO()
    out = Console(file=file, force_terminal=width is not None, width=width or 10_000, color_system=None)
    print_table(out, ["id", "what"], rows, ("id",), indent=2)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_on_a_terminal_no_line_is_too_long(width):
    """What is long is folded, or ends in an ellipsis where it is not to be wrapped."""
    rows = [[Text("1"), Text("word " * 50)], [Text("22"), quoted("日本語 " * 50)], [Text("3"), Text("x" * 300)]]
    lines = table(width, rows)
    assert all(cell_len(line) <= width for line in lines)
    assert any("…" in line for line in lines)
    assert "".join(lines).replace(" ", "").count("x") == 300


def test_in_a_pipe_a_row_is_a_line():
    """For grep: whole, without the blanks that fill a column up."""
    rows = [[Text("1"), Text("why\nwhat")], [Text("22"), Text("word " * 50)]]
    assert table(None, rows) == ["  id  what", "   1  why  what", "  22  " + ("word " * 50).rstrip()]


def test_many_rows_have_one_head():
    rows = [[Text(str(number)), Text("x")] for number in range(2 * AT_ONCE + 1)]
    lines = table(80, rows)
    assert len(lines) == len(rows) + 1
    assert sum("what" in line for line in lines) == 1
