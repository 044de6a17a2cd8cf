"""Rows: within the width, with every word, the same when a line is complete as while it grows."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from rejoinder.channels.terminal.layout import BOLD, CODE, FENCE, PLAIN, QUOTE, clusters, lay_out, wrap

LINE = st.text(st.sampled_from(list("ab  日👍\u200d\u0301`*-#>")), max_size=60)


def joined(rows):
    return "".join(text for row in rows for _, text in row)


@given(LINE, st.integers(4, 30))
@example("日" * 20, 5)
def test_no_row_is_wider_than_the_terminal(line, width):
    for row in wrap([(PLAIN, line)], width):
        text = "".join(part for _, part in row)
        assert sum(map(get_cwidth, text)) <= width or len(clusters(text)) == 1


@given(LINE, st.integers(4, 30))
def test_wrapping_loses_nothing_but_blanks(line, width):
    assert joined(wrap([(PLAIN, line)], width)).replace(" ", "") == line.replace(" ", "")


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("one two three", ["one two", "three"]),
        ("one twotwo", ["one", "twotwo"]),
        ("abcdefghijkl", ["abcdefgh", "ijkl"]),
        ("exactly8", ["exactly8"]),
        ("exactly8 more", ["exactly8", "more"]),
        ("日本語日本", ["日本語日", "本"]),
        ("    code", ["    code"]),
        ("", [""]),
    ],
)
def test_lines_break_at_words(line, rows):
    assert [joined([row]) for row in wrap([(PLAIN, line)], 8)] == rows


def test_a_list_item_hangs():
    rows, _ = lay_out("- one two three four", "", 12, growing=False)
    assert [joined([row]) for row in rows] == ["- one two", "  three four"]


@pytest.mark.parametrize(
    ("line", "growing", "row"),
    [
        ("a **b** c", False, [(PLAIN, "a "), (BOLD, "b"), (PLAIN, " c")]),
        ("a `b` c", False, [(PLAIN, "a "), (CODE, "b"), (PLAIN, " c")]),
        ("``a`b``", False, [(CODE, "a`b")]),
        ("`**a**`", False, [(CODE, "**a**")]),
        ("a **b", False, [(PLAIN, "a **b")]),
        ("a **b", True, [(PLAIN, "a "), (BOLD, "b")]),
        ("a `b", True, [(PLAIN, "a "), (CODE, "b")]),
        ("a *", True, [(PLAIN, "a ")]),
        ("2 * 3 * 4", False, [(PLAIN, "2 * 3 * 4")]),
        ("****", False, [(PLAIN, "****")]),
        ("# Title", False, [(BOLD, "# Title")]),
        ("> said", False, [(QUOTE, "> said")]),
    ],
)
def test_marks_become_styles(line, growing, row):
    (laid,), _ = lay_out(line, "", 40, growing=growing)
    assert laid == row


def test_a_fence_keeps_its_lines_as_they_are():
    lines = ["```py", "a **b** `c`", "~~~", "``", "```", "after **b**"]
    fence, styles = "", []
    for line in lines:
        (row,), fence = lay_out(line, fence, 40, growing=False)
        styles.append(row)
    assert styles[:5] == [
        [(FENCE, "```py")],
        [(CODE, "a **b** `c`")],
        [(CODE, "~~~")],
        [(CODE, "``")],
        [(FENCE, "```")],
    ]
    assert fence == ""
    assert (BOLD, "b") in styles[5]
