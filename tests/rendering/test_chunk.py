"""Cutting a text into messages (DE-10, DE-11)."""

import re
from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rejoinder.events import LengthUnit
from rejoinder.rendering import atoms
from rejoinder.rendering.chunk import cut, length
from rejoinder.rendering.white_space import is_seen
from tests.rendering.cutting import split

UNITS: tuple[LengthUnit, ...] = get_args(LengthUnit)


@pytest.mark.parametrize(
    ("text", "characters", "utf16", "bytes_"),
    [
        ("", 0, 0, 0),
        ("abc", 3, 3, 3),
        ("é", 1, 1, 2),
        ("収", 1, 1, 3),
        ("👍", 1, 2, 4),
        ("👍🏽", 2, 4, 8),
        ("\ud83d", 1, 1, 3),
    ],
)
def test_a_length_is_counted_as_the_platform_counts(text: str, characters: int, utf16: int, bytes_: int) -> None:
    """DE-10: characters, UTF-16 units or bytes; a lone surrogate is one of them too."""
    assert [length(text, unit) for unit in UNITS] == [characters, utf16, bytes_]


@pytest.mark.parametrize(
    ("text", "limit", "chunks"),
    [
        ("", 10, []),
        (" \n\t ", 10, []),
        ("fits", 4, ["fits"]),
        ("  fits as it is \n", 40, ["  fits as it is \n"]),
        ("no limit " * 9, None, ["no limit " * 9]),
        # where to cut: paragraph, line, sentence, word, anywhere
        ("One two.\n\nThree.\nFour five", 20, ["One two.\n\nThree.", "Four five"]),
        ("aaaa bbb\n\ncc\ndd ee ff", 16, ["aaaa bbb", "cc\ndd ee ff"]),
        ("aaaaa. bb\ncc dd ee", 14, ["aaaaa. bb", "cc dd ee"]),
        ("aaaa bbb. cc dd ee", 14, ["aaaa bbb.", "cc dd ee"]),
        ('He said "no." Then he left', 18, ['He said "no."', "Then he left"]),
        ("これは長い。次の文です。", 8, ["これは長い。", "次の文です。"]),
        ("彼は「はい。」と言った", 8, ["彼は「はい。」", "と言った"]),
        ("version 3.11.7 is out", 12, ["version", "3.11.7 is", "out"]),
        ("aa bb cc dd", 8, ["aa bb cc", "dd"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a bcdefghijkl", 6, ["a bcde", "fghijk", "l"]),  # a word that ends too early leaves half a message empty
        # what goes and what stays
        ("a\n\n\n\n\nb", 3, ["a", "b"]),
        ("aaa   bbb", 4, ["aaa", "bbb"]),
        ("if x:\n    return 1\nelse:\n    return 2", 20, ["if x:\n    return 1", "else:\n    return 2"]),
        ("for x in y:\n    print(x)", 12, ["for x in y:", "    print(x)"]),
        ("    indented\nfirst line", 14, ["    indented", "first line"]),
        ("\n\n  aaa\nb c d e", 8, ["  aaa", "b c d e"]),
        ("       abcdefgh", 10, ["       abc", "defgh"]),  # no message of an indentation alone
        ("a\n" + " " * 20 + "b", 10, ["a", "b"]),  # an indentation that fills a message is none
    ],
)
def test_where_a_text_is_cut(text: str, limit: int | None, chunks: list[str]) -> None:
    """DE-11: paragraph, line, sentence, word, in this order; white space at the cuts goes, indentation stays."""
    assert split(text, limit) == chunks


def test_the_limit_is_in_the_unit() -> None:
    """DE-10: four emoji are four characters, eight UTF-16 units and sixteen bytes."""
    assert split("👍👍👍👍", 4) == ["👍👍👍👍"]
    assert split("👍👍👍👍", 4, "utf16") == ["👍👍", "👍👍"]
    assert split("👍👍👍👍", 7, "utf16") == ["👍👍👍", "👍"]
    assert split("👍👍👍👍", 4, "bytes") == ["👍", "👍", "👍", "👍"]


@pytest.mark.parametrize("limit", [0, 1])
@pytest.mark.parametrize("unit", UNITS)
def test_a_limit_below_one_character_ends_all_the_same(limit: int, unit: LengthUnit) -> None:
    """What fits nowhere is sent alone rather than never."""
    assert split("👍a", limit, unit) == ["👍", "a"]


GRAPHEMES = [
    "a",
    "👍",
    "👍🏽",  # skin tone
    "❤️",  # variation selector
    "👨‍👩‍👧‍👦",  # joined
    "🏳️‍🌈",
    "🧑🏽‍💻",
    "🇩🇪",  # a pair of letters
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿",  # tag letters
    "3️⃣",  # an enclosing mark
    "e\u0301",
    "ก็",
    "कि",
    "क्षि",
    "ന്ന",
    "\u1112\u1161\u11ab",
    "น้ำ",
    "ｶﾞ",
    "\u0628\u200c",
]
LARGEST = max(length(grapheme, "bytes") for grapheme in GRAPHEMES)


@given(st.lists(st.sampled_from(GRAPHEMES), max_size=60), st.integers(LARGEST, 80), st.sampled_from(UNITS))
@example(["🇩🇪"] * 40, 31, "characters")
@example(["👨‍👩‍👧‍👦"] * 9, 37, "utf16")
def test_no_cut_inside_a_grapheme(graphemes: list[str], limit: int, unit: LengthUnit) -> None:
    """DE-11: what people see as one character is never torn apart, where it fits into a message."""
    rest = iter(graphemes)
    for chunk in split("".join(graphemes), limit, unit):
        while chunk:
            grapheme = next(rest)
            assert chunk.startswith(grapheme)
            chunk = chunk[len(grapheme) :]
    assert not list(rest)


PROSE = st.text(st.sampled_from("ab.!?。 \n\t\r\u2028\x00👍\u0301\u200d\ud800"), max_size=300) | st.text(max_size=300)


@given(PROSE, st.integers(4, 60), st.sampled_from(UNITS))
def test_every_chunk_fits_and_nothing_is_lost(text: str, limit: int, unit: LengthUnit) -> None:
    """DE-10, DE-11: within the limit, never empty, and joined again the source but for white space."""
    chunks = cut(text, limit, unit)
    assert all(length(chunk.text, unit) <= limit for chunk in chunks)
    assert all(chunk.source.strip() for chunk in chunks)
    assert "".join("".join(chunk.source for chunk in chunks).split()) == (
        "".join(text.split()) if is_seen(text) else ""
    )


@given(PROSE, st.integers(4, 60))
def test_a_message_is_a_piece_of_the_text(text: str, limit: int) -> None:
    """DE-11: inside a message not one character is changed, and messages keep their order."""
    at = 0
    for chunk in cut(text, limit):
        at = text.index(chunk.source, at) + len(chunk.source)


@pytest.mark.parametrize("text", ["x" * 200_000, "🇩🇪" * 100_000, "a" + "\u0301" * 200_000, "\n " * 100_000 + "x"])
@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_without_a_place_to_cut(text: str, unit: LengthUnit) -> None:
    """Nothing about a text makes cutting it a stall: the run would not end here if it did."""
    chunks = split(text, 2000, unit)
    assert "".join(chunks).split() == text.split()


def test_a_long_line_in_a_fence_that_is_never_closed():
    """DE-11: what closes the fence counts, though the text itself does not close it."""
    text = "aa\n```\ncc. " + "d" * 30 + "aaaa"
    assert all(len(message) <= 40 for message in split(text, 40))


@pytest.mark.parametrize("step", [1, 3, 7, 20])
@pytest.mark.parametrize(
    "atom", ["[a b](http://c.d/e)", "**two words**", "https://a.b/c_d", "&amp;", "~~a b~~", "*a b*"]
)
def test_an_atom_is_found_wherever_a_search_of_the_text_pauses(
    monkeypatch: pytest.MonkeyPatch, step: int, atom: str
) -> None:
    """DE-11: a long text is searched in steps, so that the event loop has its turn in between."""
    monkeypatch.setattr(atoms, "_STEP", step)
    text = " ".join([atom, "x"] * 9)
    assert all(piece.replace(atom, "").strip(" x") == "" for piece in split(text, 24))


def test_no_search_looks_at_a_long_text_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread in which a search runs keeps the event loop from running until the search has ended."""
    looked: list[int] = []

    class Watched:
        def finditer(self, text: str, start: int, end: int) -> Iterator[re.Match[str]]:
            looked.append(end - start)
            return found.finditer(text, start, end)

    found = atoms._ATOM
    monkeypatch.setattr(atoms, "_ATOM", Watched())
    split("Some words. " * 20_000, 4096)
    assert looked
    assert max(looked) <= atoms._STEP + 4096
