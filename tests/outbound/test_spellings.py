"""What agents learned elsewhere, and tags outside their place: read, told about, never shown raw."""

import pytest

from rejoinder import Directive, Problem, Text, read_reply
from rejoinder.outbound.directives import default_registry
from tests.outbound.every_way import codes, events_of, read_every_way, said
from tests.outbound.test_reader_streaming import held_after

FILE = ("send_file", {"path": "out/a.png"}, None)
CURRENT = ("reply_to", {"id": "current"}, None)
X = '<react emoji="x"/>'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("MEDIA:out/a.png", ""),
        ("MEDIA: out/a.png", ""),
        ('MEDIA:"out/a.png"', ""),
        ("MEDIA: 'out/a.png'  ", ""),
        ("Here:\nMEDIA: out/a.png", "Here:"),
        ("Here:\r\nMEDIA: out/a.png\r\nthere.", "Here:\r\nthere."),
        ("Here:\n\n   MEDIA:out/a.png\n\nthere.", "Here:\n\nthere."),
        ("[[reply_to:none]]\nMEDIA: out/a.png\nHi", "Hi"),
        ("`a`\nMEDIA: out/a.png", "`a`"),
        ("<actions>\n  MEDIA: out/a.png\n</actions>\nHi", "Hi"),
    ],
)
def test_a_line_of_media(text: str, shown: str) -> None:
    """OD-58: alone on its line it is `<send-file>`, and a problem of level info says so."""
    reading = read_every_way(text)
    assert reading.text == shown
    assert FILE in said(*reading.directives)
    assert [(each.code, each.level) for each in reading.problems] == [("other_spelling", "info")]


@pytest.mark.parametrize("text", ["MEDIA: https://a.example/b?c=d", 'MEDIA:"https://a.example/b?c=d"  '])
def test_an_address_where_links_are_read(text: str) -> None:
    """OD-58: it is `<send-file>` there; a sentence, a path and other kinds of address are what they were."""
    linked = default_registry(links=True)
    reading = read_reply(text, registry=linked)
    assert said(*reading.directives) == [("send_file", {"path": "https://a.example/b?c=d"}, None)]
    assert said(*read_reply("MEDIA: out/a.png", registry=linked).directives) == [FILE]
    for plain in ("MEDIA: http://a.example/b.png", "MEDIA: https://", "MEDIA: https://a.example is down"):
        assert read_reply(plain, registry=linked).text == plain


@pytest.mark.parametrize(
    "text",
    [
        "MEDIA: the press said nothing",
        "MEDIA: everywhere",
        "MEDIA:",
        'MEDIA: "a.png',
        "MEDIA: a.png b.png",
        "MEDIA: https://example.org/a.png",
        "MEDIA: a.",
        "See MEDIA: a.png",
        "media: a.png",
        "```\nMEDIA: a.png\n```",
        "    MEDIA: a.png",
        "> MEDIA: a.png",
        "- MEDIA: a.png",
        "`MEDIA: a.png`",
        "MEDIA: " + "a" * 1024 + ".png",
    ],
)
def test_prose_about_media(text: str) -> None:
    """OD-58, OD-36: prose, an address, code and quotes stay text."""
    reading = read_every_way(text)
    assert (reading.text, reading.directives, reading.problems) == (text, (), ())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Looks good.\n[[reply_to_current]]", "Looks good."),
        ("Looks good.\n\n  [[ reply_to_current ]]  \r\n\n", "Looks good."),
        (f"Looks good.\n[[reply_to_current]]\n<actions>{X}</actions>", "Looks good."),
        (f"Looks good.\n{X}\n[[reply_to_current]]", "Looks good."),
        ("```\na\n```\n[[reply_to_current]]", "```\na\n```"),
    ],
)
def test_a_flag_on_the_last_line(text: str, shown: str) -> None:
    """OD-58, OD-18: alone on the last line it is the header flag."""
    reading = read_every_way(text)
    assert reading.text == shown
    assert CURRENT in said(*reading.directives)
    assert codes(reading) == ["other_spelling"]


@pytest.mark.parametrize(
    "text",
    [
        "Hello\n[[reply_to:1]]",
        "Hello\n[[reply_to_current]]\nmore",
        "Hello [[reply_to_current]]",
        "Hello\n[[reply_to_current]] there",
        "Hello\n[[silent]]",
        "Hello\n    [[reply_to_current]]",
        "Hello\n> [[reply_to_current]]",
        "Hello\n```\n[[reply_to_current]]",
        "Hello\n[[reply_to_current]",
    ],
)
def test_any_other_bracket_behind_text_is_content(text: str) -> None:
    """OD-18: after the first content line it is shown as it stands."""
    reading = read_every_way(text)
    assert (reading.text, reading.directives) == (text, ())


def test_the_last_line_of_each_segment() -> None:
    """OD-6, OD-58: a text is read segment by segment; a turn without a trigger has no current message."""
    reading = read_reply("Let me look.\n[[reply_to_current]]", "Done.")
    assert (reading.text, said(*reading.directives)) == ("Let me look.\nDone.", [CURRENT])
    reading = read_reply("Done.\n[[reply_to_current]]", has_trigger=False)
    assert (reading.text, codes(reading)) == ("Done.", ["other_spelling", "no_trigger"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\\MEDIA: a.png", "MEDIA: a.png"),
        ("\\MEDIA: the press", "\\MEDIA: the press"),
        ("Hi\n\\[[reply_to_current]]", "Hi\n[[reply_to_current]]"),
        ("Hi\n\\[[reply_to_current]]\nyou", "Hi\n\\[[reply_to_current]]\nyou"),
        ("\\<voice>x</voice>", "<voice>x</voice>"),
        ("\\<voice>x</voice> y", "\\<voice>x</voice> y"),
    ],
)
def test_a_backslash_before_another_spelling(text: str, shown: str) -> None:
    """OD-8: content, and the backslash is gone only where it kept something from being obeyed or stripped."""
    reading = read_every_way(text)
    assert (reading.text, reading.directives) == (shown, ())


def test_a_hand_off_in_the_header_takes_the_text() -> None:
    """OD-58, OD-17: `[[handoff:ID]]` is `<handoff to=ID>` with the answer's text as its body; the last one wins."""
    reading = read_every_way(f"[[handoff:al]]\n[[handoff: bo ]] Look at\n{X}\nthis.")
    assert reading.text == "Look at\nthis."
    assert said(*reading.directives) == [("react", {"emoji": "x"}, None), ("handoff", {"to": "bo"}, "Look at\nthis.")]
    assert said(*read_every_way("[[handoff:bo]]").directives) == [("handoff", {"to": "bo"}, None)]
    reading = read_every_way("[[handoff:bo]]\nNO_REPLY")
    assert (reading.silent, said(*reading.directives)) == (True, [("handoff", {"to": "bo"}, None)])
    assert read_every_way("[[handoff:]]\nHi").directives == ()


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("M", "M"),
        ("My", ""),
        ("x\nMED", "\nMED"),
        ("x MED", ""),
        ("MEDIA: a.p", "MEDIA: a.p"),
        ("MEDIA: the p", ""),
        ("x\n[[reply_to_cu", "\n[[reply_to_cu"),
        ("x\n[[reply_to_current]]\n", "\n[[reply_to_current]]\n"),
        ("x\n[[reply_to_curry", ""),
        ("x\n[[reply_to_current]] y", ""),
        ("<voice>Hi", "<voice>Hi"),
        ("x <voice>Hi", ""),
    ],
)
def test_what_is_held_back_for_them(text: str, held: str) -> None:
    """OD-3, OD-58: such a line is held back until it is decided, and no longer."""
    assert held_after(text) == held


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('<handoff to="bo">look</handoff>', ""),
        ('Hi\n<handoff to="bo">look\nhere</handoff>\nthere', "Hi\nthere"),
        ('Hi\n<send-message chat="C1">a secret</send-message>  ', "Hi"),
        ("<voice>Hello</voice>", "Hello"),
        ("<voice/>\nHi", "Hi"),
        ("<VOICE>Hello\nyou</Voice>\nHi", "Hello\nyou\nHi"),
    ],
)
def test_a_tag_that_needs_a_block(text: str, shown: str) -> None:
    """OD-57: outside a block it does nothing and a problem tells the fix; complete and alone it is not shown raw."""
    reading = read_every_way(text)
    assert (reading.text, reading.directives) == (shown, ())
    [problem] = reading.problems
    assert (problem.code, problem.level) == ("outside_actions", "warning")
    assert "<actions>" in problem.detail


@pytest.mark.parametrize(
    "text",
    [
        "<voice> is a tag\nfor speech",
        "<voice>x</voice> is an example",
        '<handoff to="bo">look\n\n```\ncode\n```',
        "Say <voice>x</voice> to speak",
        "`<voice>x</voice>`",
        "    <voice>x</voice>",
        "> <voice>x</voice>",
    ],
)
def test_the_same_in_a_sentence_or_without_an_end(text: str) -> None:
    """OD-57, OD-4: it is text, byte for byte."""
    assert read_every_way(text).text == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Say <voice>x</voice> to speak, or <voice>y</voice>.", ["outside_actions"]),
        ("Ask <handoff to='bo'> or <send-message chat='c'>.", ["outside_actions"] * 2),
        ("Write `<voice>x</voice>` for that.", []),
        ("A ` that never closes: <voice>x</voice>\nopens no code.", ["outside_actions"]),
        ("`<voice>\nopens none either.", ["outside_actions"]),
        ("```\nsay <voice>x</voice>\n```", []),
        (r"Write \<voice>x</voice> for that.", []),
        ("less <b>bold</b> and a < b, <v", []),
    ],
)
def test_in_a_sentence_it_is_told_of(text: str, told: list[str]) -> None:
    """OD-57: shown as it stands, outside code, with a problem that says how to write it, once for each name."""
    reading = read_every_way(text)
    assert (reading.text, [problem.code for problem in reading.problems]) == (text, told)


def test_the_events_of_another_spelling() -> None:
    """OD-1, OD-58: the problem and the directive come where the line stood."""
    events, _ = events_of(["a\nMEDIA: b.c\nd"])
    assert events == [
        Text("a"),
        Problem("other_spelling", "info", "MEDIA: is read as <send-file>"),
        Directive("send_file", {"path": "b.c"}),
        Text("\nd"),
    ]
