"""What people see while it streams: the ways other systems fail, and what may be held back."""

import pytest

from rejoinder import Directive, Reading, ReplyReader, Text
from tests.outbound.every_way import cuts, events_of, read_every_way

X = '<react emoji="x"/>'


def held_after(text: str, **options: object) -> str:
    """What is held back when exactly this much has come."""
    reader = ReplyReader(**options)  # type: ignore[arg-type]
    shown = "".join(event.text for event in reader.feed(text) if isinstance(event, Text))
    assert text.startswith(shown) or not shown
    return text[len(shown) :]


@pytest.mark.parametrize(
    "text",
    ["NO_REPLY", "Fine. NO_REPLY", "<no-reply/>", "ok <no-reply/>", "[[reply_to:1]]\nHi", f"<actions>{X}</actions>", X],
)
def test_no_prefix_of_a_marker_is_shown(text: str) -> None:
    """OD-3, OD-43: not `N`, not `NO`, not `<no-r`, not `[[re`: not in one frame, however it is cut."""
    for pieces in cuts(text):
        for frame in events_of(pieces)[1]:
            for mark in ("N", "<", "[", "_", "&"):
                assert mark not in frame


def test_an_unclosed_block_neither_swallows_nor_leaks() -> None:
    """OD-32, OD-4: the text behind it streams on, the tags are gone."""
    reading = read_every_way(f"<actions>{X}\nGreat idea! Let us go on.\n\nAnd so on.")
    assert reading.text == "Great idea! Let us go on.\n\nAnd so on."
    reader = ReplyReader()
    reader.feed(f"<actions>{X}\nGreat ide")
    assert reader.feed("a") == [Text("a")]


def test_a_block_in_code_or_a_quote_is_not_obeyed() -> None:
    """OD-36: shown as it stands, in every frame."""
    for text in (f"```\n{X}\n```", f"`{X}`", f"    {X}", f"> {X}"):
        reading = read_every_way(text)
        assert (reading.text, reading.directives) == (text, ())


def test_a_header_after_a_tool_call_is_not_shown() -> None:
    """OD-6: a header at the start of any segment counts and is stripped."""
    reader = ReplyReader()
    events = reader.feed("Let me look.") + reader.next_segment()
    events += reader.feed("[[reply_to:7]]\nFound") + reader.feed(" it.") + reader.finish()
    assert events == [Text("Let me look."), Directive("reply_to", {"id": "7"}), Text("Found"), Text(" it.")]


def test_what_a_segment_leaves_open_ends_with_it() -> None:
    """OD-6, OD-36: a fence, a block or a tag of one segment does not reach into the next."""
    for left_open in ("```\ncode", f"<actions>{X}", "<actions", "`a <", "[[reply_to:1"):
        reader = ReplyReader()
        events = reader.feed(left_open) + reader.next_segment()
        events += reader.feed("[[silent]]\nok <no-reply/>") + reader.finish()
        assert Directive("silent", {"on": True}) in events
        assert Reading.of(events).text.endswith("ok")


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Hello", ""),
        ("Hello ", " "),
        ("No", ""),
        ("N", "N"),
        ("NO", "NO"),
        ("NO,", ""),
        ("Yes. N", " N"),
        ("Yes, N", " N"),
        ("Yes,N", ""),
        ("Yes. No", ""),
        ("a < b", ""),
        ("a <", " <"),
        ("a <c", ""),
        ("a <a", " <a"),
        ("a <ac", " <ac"),
        ("a <b>c", ""),
        ("x </a", ""),
        ("<re", "<re"),
        ("x <re", ""),
        ("x\n<re", "\n<re"),
        ("[", "["),
        ("[[", "[["),
        ("[[S", "[[S"),
        ("[[Su", "[[Su"),
        ("[[Sum", ""),
        ("[[Note", ""),
        ("[[note", "[[note"),
        ("[[note th", ""),
        ("[[https:/", "[[https:/"),
        ("[[https://", ""),
        ("[[zz:1]]", "[[zz:1]]"),
        ("[[zz:1]] t", ""),
        ("x [[re", ""),
        ("`a", ""),
        ("`a <c", ""),
        ("a <b", " <b"),
        ("a <bi", ""),
        ("`a <no-reply/> b", " <no-reply/> b"),
        ("`a <no-reply/> b`", " <no-reply/> b`"),
        ("`a <no-reply/> b`.", ""),
        ("a\\", "\\"),
        ("a\\n", ""),
        ('say "', ' "'),
        ('Fine. "', ' "'),
        ("N ", " "),
        ("Fine. * ", " "),
        ('say "h', ""),
        ("**", "**"),
        ("**b", ""),
        ("    <re", ""),
        ("> <re", ""),
        ("```\n<re", ""),
    ],
)
def test_only_what_may_become_something_is_held(text: str, held: str) -> None:
    """OD-3, OD-43: a plain character is passed on at once; held is what may still be a directive or a token."""
    assert held_after(text) == held


def test_a_directive_acts_when_it_closes() -> None:
    """OD-50 stands on this: the event comes with the tag's last character."""
    reader = ReplyReader()
    assert reader.feed('<actions><react emoji="x"/') == []
    assert reader.feed(">") == [Directive("react", {"emoji": "x"})]


def test_the_target_is_known_before_the_text() -> None:
    """OD-61 stands on this."""
    reader = ReplyReader()
    assert reader.feed("[[reply_to:m4]]\nDo") == [Directive("reply_to", {"id": "m4"}), Text("Do")]


def test_after_the_end_there_is_nothing() -> None:
    """OD-1: one reader serves one turn."""
    reader = ReplyReader()
    reader.feed("Hi")
    reader.finish()
    assert reader.finish() == []
