"""Cutting a text that has code, tables, addresses and escapes in it (DE-11)."""

import re
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.events import LengthUnit
from rejoinder.rendering.chunk import cut, length
from rejoinder.rendering.markdown import parse
from tests.rendering.cutting import split

UNITS: tuple[LengthUnit, ...] = get_args(LengthUnit)


def lines(first: int, last: int) -> str:
    return "".join(f"line {number}\n" for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("text", "limit", "chunks"),
    [
        pytest.param(
            f"```py\n{lines(1, 9)}```",
            50,
            [f"```py\n{lines(1, 5)}```", f"```py\n{lines(6, 9)}```"],
            id="closed, and opened again with its info string",
        ),
        pytest.param(
            f"Look:\n\n~~~~ sh title=x\n{lines(1, 6)}~~~~\nDone.",
            60,
            [f"Look:\n\n~~~~ sh title=x\n{lines(1, 4)}~~~~", f"~~~~ sh title=x\n{lines(5, 6)}~~~~\nDone."],
            id="tildes, a longer run, a longer info string",
        ),
        pytest.param(
            f"- item\n\n  ```py\n  a\n  {'b' * 20}\n  ```",
            36,
            ["- item\n\n  ```py\n  a\n  ```", f"  ```py\n  {'b' * 20}\n  ```"],
            id="in a list",
        ),
        pytest.param(
            f"1. - x\n\n     ```py\n     a\n     {'b' * 20}\n     ```\n     y",
            52,
            ["1. - x\n\n     ```py\n     a\n     ```", f"-    ```py\n     {'b' * 20}\n     ```\n     y"],
            id="so deep in a list that it needs one again: without, it would be indented code",
        ),
        pytest.param(
            "> ```\n> aaaa\n> bbbb\n> cccc\n> dddd\n> ```",
            28,
            ["> ```\n> aaaa\n> bbbb\n> ```", "> ```\n> cccc\n> dddd\n> ```"],
            id="in a quotation",
        ),
        pytest.param(
            "Some words come first here.\n```\nx\ny\nz\n```",
            40,
            ["Some words come first here.", "```\nx\ny\nz\n```"],
            id="a fence that fits into a message of its own is not cut",
        ),
        pytest.param(
            "```\n" + "x" * 30 + "\n```",
            20,
            [f"```\n{'x' * n}\n```" for n in (12, 12, 6)],
            id="a line that fits nowhere",
        ),
        pytest.param(
            "> ```js\n> 0123456789abcdef\n> ```",
            30,
            ["> ```js\n> 0123456789abcd\n> ```", "> ```js\n> ef\n> ```"],
            id="a line that fits nowhere in a quotation",
        ),
        pytest.param(
            "- a\n  - b\n\n    ```\n    012345678901234567890123456789\n    ```",
            36,
            ["- a\n  - b", "   ```\n   0123456789012345\n   ```", "-   ```\n    67890123456789\n    ```"],
            id="a line that fits nowhere in a list",
        ),
        pytest.param(
            "```\nabcdefgh\n```\nend", 16, ["```\nabcdefgh\n```", "end"], id="the closing fence ends a message"
        ),
        pytest.param(
            "| n | word |\n|---|---|\n| 1 | one |\n| 2 | two |\n| 3 | three |\n| 4 | four |\n",
            54,
            [
                "| n | word |\n|---|---|\n| 1 | one |\n| 2 | two |",
                "| n | word |\n|---|---|\n| 3 | three |\n| 4 | four |",
            ],
            id="a table has its head in every message",
        ),
        pytest.param(
            "```" + "i" * 40 + "\nabc\n```", 30, ["```" + "i" * 27, "i" * 13 + "\nabc\n```"], id="a long info"
        ),
    ],
)
def test_code_and_tables_are_closed_and_opened_again(text: str, limit: int, chunks: list[str]) -> None:
    """DE-11: in a fence only at line ends; every message within the limit, with what was added."""
    assert split(text, limit) == chunks
    assert all(len(chunk) <= limit for chunk in chunks)


@pytest.mark.parametrize(
    ("text", "limit", "chunks"),
    [
        ("- a\n  - b\n    - c c c\n    - d d d\n- e", 20, ["- a\n  - b\n    - c c", "c\n   - d d d\n- e"]),
        ("- a\n  - b\n    - ccc\n    - ddd\n- eeee", 20, ["- a\n  - b\n    - ccc", "   - ddd\n- eeee"]),
        ("1. aaaaaaa\n\n    bbbb\n\n    cccc", 20, ["1. aaaaaaa", "   bbbb\n\n   cccc"]),
        ("- a\n\n      code\n      more", 16, ["- a\n\n      code", "      more"]),
        ("a:\n\n    code\n    more", 14, ["a:\n\n    code", "    more"]),
        ("1. aaaaaaa\n\n\tbbbb bbb c\n\tdd", 12, ["1. aaaaaaa", "   bbbb bbb", "c\n   dd"]),
    ],
)
def test_what_goes_on_in_a_list_is_no_code(text: str, limit: int, chunks: list[str]) -> None:
    """DE-11, DE-12: a line that is deep in a list begins a message as what it was; code stays as it is."""
    assert split(text, limit) == chunks
    assert all(len(chunk) <= limit for chunk in chunks)


@pytest.mark.parametrize(
    ("text", "limit", "chunks"),
    [
        ("see https://example.org/a/b?c=d", 28, ["see", "https://example.org/a/b?c=d"]),
        ("一二三四五https://example.org/ab", 22, ["一二三四五", "https://example.org/ab"]),
        ("https://example.org/" + "a" * 20, 30, ["https://example.org/" + "a" * 10, "a" * 10]),  # it fits nowhere
        ("abcdefgh\\*ij", 9, ["abcdefgh", "\\*ij"]),
        ("abcdefgh&amp;ij", 10, ["abcdefgh", "&amp;ij"]),
        ("abcdefgh<@U123>ij", 12, ["abcdefgh", "<@U123>ij"]),
        ("go to `a b c` or not to", 12, ["go to", "`a b c` or", "not to"]),
        ("all of [the docs](https://e.org/a) now", 30, ["all of", "[the docs](https://e.org/a)", "now"]),
        ("here is **a bold** word", 16, ["here is", "**a bold** word"]),
        ("here is *so so* and _it is_ and ~~it was~~", 18, ["here is *so so*", "and _it is_ and", "~~it was~~"]),
        ("2 * 3 and 4 * 5 is", 12, ["2 * 3 and 4", "* 5 is"]),
        ("an open ` tick, and words", 12, ["an open `", "tick, and", "words"]),
    ],
)
def test_no_cut_inside_an_atom(text: str, limit: int, chunks: list[str]) -> None:
    """DE-11: never inside an escape or an address; nor a link, a code span or words in bold that fit elsewhere."""
    assert split(text, limit) == chunks


@pytest.mark.parametrize("marks", [("**", "**"), ("*", "*"), ("~~", "~~"), ("_", "_"), ("[", "](https://e.org)")])
@pytest.mark.parametrize("words", [10, 60, 390])
def test_marked_words_stay_together_as_long_as_they_fit(marks: tuple[str, str], words: int) -> None:
    """DE-11: however long; what fits into no message is cut behind a word."""
    marked = marks[0] + " ".join(["bold"] * words) + marks[1]
    chunks = split(f"{'word ' * 390}{marked} and {'more ' * 100}", 2000)
    assert any(marked in chunk for chunk in chunks)
    long = f"**{'longer ' * 400}ends**"
    assert "longer" in {chunk.split()[-1] for chunk in split(long, 2000)[:-1]}


@pytest.mark.parametrize(
    ("text", "limit", "lines_of_last"),
    [
        (lines(1, 30), 28 * 8, 3),  # 29 and 30 alone would be a runt
        (lines(1, 60), 2000, 60),
        (f"{'x' * 90}\n\n{'y' * 30}", 100, 1),  # nothing to spare
        (f"{'x' * 30}\n{'y' * 60}\n{'z' * 20}", 100, 1),  # three lines would not fit
        (f"a\nb\nc\n\n{'x' * 30}\n\nlast", 42, 3),
        (f"```\n{lines(1, 30)}```", 29 * 8, 3),
    ],
)
def test_the_last_message_is_no_runt(text: str, limit: int, lines_of_last: int) -> None:
    """DE-11: under 3 lines only when balancing would break the limit."""
    assert cut(text, limit)[-1].source.rstrip().count("\n") + 1 == lines_of_last


WORDS = st.lists(st.sampled_from(["word", "日本語", "👍🏽", "`code span`", "https://e.org/x", "**b**", "a_b", "&amp;"]))
PARAGRAPHS = WORDS.map(" ".join)
CODE = st.builds(
    lambda run, info, body: f"{run}{info}\n{body}\n{run}",
    st.sampled_from(["```", "~~~", "`````"]),
    st.sampled_from(["", "py", " sh"]),
    st.lists(st.sampled_from(["x = 1", "", "    return 👍", "| a | b |", "- no list", "``"]), min_size=1).map(
        "\n".join
    ),
)
TABLES = st.integers(0, 12).map(lambda rows: "| a | b |\n|---|:-:|\n" + "| 1 | `x` |\n" * rows)
LISTS = st.lists(st.sampled_from(["- one", "- two\n  - three", "1. four"])).map("\n".join)
HEADINGS = st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=60).map(
    lambda words: "## " + " ".join(words)
)
DOCUMENTS = st.lists(PARAGRAPHS | HEADINGS | CODE | TABLES | LISTS, max_size=8).map("\n\n".join)


def bare(text: str) -> str:
    return "".join(text.split())


@given(
    DOCUMENTS | st.text(st.sampled_from("`~| \n-ab>*1.\\&;<#"), max_size=200),
    st.integers(40, 200),
    st.sampled_from(UNITS),
)
def test_every_chunk_fits_and_the_sources_join(text: str, limit: int, unit: LengthUnit) -> None:
    """DE-11: within the limit with what was added; without it and the white space at the cuts, the source."""
    chunks = cut(text, limit, unit)
    assert all(length(chunk.text, unit) <= limit for chunk in chunks)
    assert all(chunk.source.strip() for chunk in chunks)
    assert bare("".join(chunk.source for chunk in chunks)) == bare(text)
    at = 0
    for chunk in chunks:
        between = text.index(chunk.source, at)
        assert not text[at:between].strip()
        at = between + len(chunk.source)


@pytest.mark.parametrize(
    ("text", "limit", "chunks"),
    [
        ("# one two three four\n\nfive", 14, ["# one two", "# three four", "five"]),
        ("so\n### one two three\nmore", 14, ["so\n### one two", "### three\nmore"]),
        (" ## one two three", 12, [" ## one two", " ## three"]),
        ("#one two three", 10, ["#one two", "three"]),
        ("    # one two three", 14, ["    # one two", "three"]),
        ("```\n# one two three\n```", 18, ["```\n# one two\n```", "```\nthree\n```"]),
        ("###### one two", 12, ["###### one", "two"]),
    ],
)
def test_what_is_left_of_a_heading_is_one(text: str, limit: int, chunks: list[str]) -> None:
    """DE-11, DE-12: it is as bold as its beginning, where its mark leaves room for words."""
    assert split(text, limit) == chunks


@given(DOCUMENTS, st.integers(60, 200), st.sampled_from(UNITS))
def test_headings_stay_headings_and_the_rest_does_not_become_one(text: str, limit: int, unit: LengthUnit) -> None:
    """DE-11: in whatever message their words are."""
    assert bare(headings_in(text)) == bare("".join(map(headings_in, split(text, limit, unit))))


def headings_in(text: str) -> str:
    tokens = parse(text)
    return "\n".join(words.content for head, words in pairwise(tokens) if head.type == "heading_open")


@given(DOCUMENTS, st.integers(60, 200), st.sampled_from(UNITS))
def test_code_stays_code_and_the_rest_does_not_become_it(text: str, limit: int, unit: LengthUnit) -> None:
    """DE-11: a fence that is closed and opened again holds the same code, and nothing else."""
    chunks = split(text, limit, unit)
    assert bare(code_in(text)) == bare("".join(map(code_in, chunks)))


def code_in(text: str) -> str:
    return "\n".join(token.content for token in parse(text) if token.type == "fence")


def info_in(text: str) -> frozenset[str]:
    return frozenset(token.info.strip() for token in parse(text) if token.type == "fence")


@given(DOCUMENTS, st.integers(60, 200))
def test_a_message_brings_no_new_info_string(text: str, limit: int) -> None:
    """DE-11: opened again with the fence's own info string."""
    assert all(info_in(chunk) <= info_in(text) for chunk in split(text, limit))


@given(st.lists(CODE, min_size=1, max_size=3).map("\n\n".join), st.integers(60, 120))
def test_in_code_only_line_ends(text: str, limit: int) -> None:
    """DE-11: no line of code that fits is cut."""
    whole = {line for line in re.split("\n", text) if line.strip()}
    for chunk in cut(text, limit):
        assert {line for line in chunk.source.split("\n") if line.strip()} <= whole


@pytest.mark.parametrize(
    "text",
    [
        "```\nx\n```\n" * 9_000,
        "`" * 60_000,
        "`a``b" * 20_000,
        "| a | b |\n|-|-|\n" + "| 1 | 2 |\n" * 9_000,
        "[a](b" * 20_000,
    ],
)
def test_a_long_text_of_marks_ends(text: str) -> None:
    """Nothing about a text makes cutting it a stall: the run would not end here if it did."""
    assert bare("".join(chunk.source for chunk in cut(text, 2000))) == bare(text)
