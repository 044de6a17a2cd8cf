"""Odd and hostile input: a reading, never an exception, never a stall (OD-5, OD-7)."""

import pytest

from rejoinder import ReplyReader, Text, read_reply
from tests.outbound.every_way import joined

LONGEST = 65_536


def shown(text: str, size: int) -> list:
    reader = ReplyReader()
    events = []
    for at in range(0, len(text), size):
        events += reader.feed(text[at : at + size])
    return joined(events + reader.finish())


@pytest.mark.parametrize(
    ("before", "unit", "behind"),
    [
        ("<actions>", "<react ", ""),
        ("<actions>", '<react emoji="', "a"),
        ("<actions>", "<voice>", "a"),
        ("<actions>", "<a>", "b"),
        ("<actions>", '<send-message chat="x">', "a"),
        ("", "`<no-reply/>", "a"),
        ("", "<no-reply ", "a"),
        ("", "<react ", "a"),
        ("", "[[reply_to:", "1"),
        ("", "<actions>", ""),
        ("", "[[", ""),
        ("", "<", ""),
        ("", "`` ` ", ""),
        ("", "NO_REPLY ", ""),
        ("", "\\<", ""),
        ("", "\n", " "),
        ("", "> <x", ""),
    ],
)
def test_long_and_hostile_is_the_same_in_any_pieces(before: str, unit: str, behind: str) -> None:
    """OD-5, OD-2: the limits count characters, not pieces."""
    for size in (LONGEST - 1, LONGEST, LONGEST + 1, 2 * LONGEST + 5):
        text = before + (unit + behind * size if behind else unit * (size // len(unit) + 1))
        whole = shown(text, len(text))
        assert shown(text, 4096) == whole
        assert shown(text, 9973) == whole


@pytest.mark.parametrize(
    "text",
    [
        "<actions><voice>hi</actions>\n<actions><voice>ok</voice></actions>",
        "[[foo:x]]" + " " * 1016 + "y",
        "x" + " " * 70_000 + "<no-reply/> y",
        "x <actions></actions>" + " " * 70_000 + "\ny",
        "x" + " " * 65_537 + "\nNO_REPLY",
        "\n" * 70_000 + "[[reply_to:1]]\nx",
        "```\n```" + " " * 1100 + "z\nx <no-reply/>",
        "`" * 1100 + "\nx <no-reply/>\n" + "`" * 1100 + "\n<no-reply/>",
        '<react emoji="x"/>' + " " * 70_000 + "\nHi",
        "x\nNO_REPLY" + " " * 200_000 + "y",
        "<actions><voice>" + "a" * 65_530 + "</voi" + "a" * 20,
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_lies_across_a_limit(text: str) -> None:
    """OD-2, OD-5: where a limit falls does not depend on the pieces."""
    whole = shown(text, len(text))
    for size in (7, 1000, 1024, LONGEST):
        assert shown(text, size) == whole


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<actions><voice>", "</voice></actions>"),
        ('<actions><react emoji="', '"/></actions>'),
        ("`<no-reply/>", ""),
    ],
)
def test_a_hold_is_given_up(opening: str, closing: str) -> None:
    """OD-5: what is held for 65 536 characters comes out as text, nothing is lost."""
    body = "a" * (LONGEST + 1)
    reading = read_reply(opening + body + closing + "\nend")
    assert reading.text.count("a") >= LONGEST
    assert reading.text.endswith("end")


def test_just_within_the_limits() -> None:
    """OD-5: a tag and a body of the longest length are still read."""
    tag = '<react emoji="' + "a" * (LONGEST - len('<react emoji=""/>')) + '"/>'
    assert [d.name for d in read_reply(f"<actions>{tag}</actions>").directives] == ["react"]
    assert read_reply(f'<actions>{tag[:-3]}a"/></actions>').directives == ()
    body = "a" * LONGEST
    assert [d.name for d in read_reply(f"<actions><voice>{body}</voice></actions>").directives] == ["voice"]
    assert read_reply(f"<actions><voice>{body}a</voice></actions>").directives == ()
    header = "[[title:" + "a" * (1024 - len("[[title:]]")) + "]]"
    assert [d.name for d in read_reply(header).directives] == ["title"]
    assert read_reply(header.replace("]]", "a]]")).directives == ()


@pytest.mark.parametrize("text", ["\x00", "\ud800 <actions>\udfff</actions>", "a" * 1_000_000, "<actions>" * 10_000])
def test_odd_input_is_read(text: str) -> None:
    """OD-7: NULs, lone surrogates, a megabyte without a newline, ten thousand openers."""
    reading = read_reply(text)
    assert set(reading.text) <= set(text)


def test_problems_are_counted_not_listed_for_ever() -> None:
    """OD-5: memory stays bounded when everything is a mistake."""
    reading = read_reply("<actions>" + "<nonsense/>" * 5000)
    assert len(reading.problems) == 101
    assert reading.problems[-1].code == "more_problems"


def test_white_space_without_end_is_not_collected() -> None:
    """OD-5: what is kept back has a limit."""
    reader = ReplyReader()
    out = [event for _ in range(300) for event in reader.feed(" " * 1000)]
    assert sum(len(event.text) for event in out if isinstance(event, Text)) > 200_000
