"""Silence: the marker `<no-reply/>` and the tokens, each row read every way."""

import pytest

from rejoinder import read_reply
from tests.outbound.every_way import codes, events_of, read_every_way, said

X = '<react emoji="x"/>'
BLOCK = f"<actions>{X}</actions>"


@pytest.mark.parametrize(
    "text",
    [
        "<no-reply/>",
        "<no-reply />",
        "<no-reply>",
        "<no-reply></no-reply>",
        "<NO-REPLY/>",
        " \n<no-reply/>\n\n",
        "[[reply_to:1]]\n<no-reply/>",
        f"{BLOCK}\n<no-reply/>",
        f"<no-reply/>\n{BLOCK}",
        f"<actions>{X}<no-reply/></actions>",
        "<no-reply/><no-reply/>",
        "[[zz:1]]\n<no-reply/>",
    ],
)
def test_the_marker_as_the_whole_response(text: str) -> None:
    """OD-40: directives and white space aside, nothing is sent; actions of the reply still run."""
    reading = read_every_way(text)
    assert (reading.text, reading.silent) == ("", True)
    assert ("react" in text) == ("react" in [directive.name for directive in reading.directives])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ok <no-reply/>", "ok"),
        ("<no-reply/> ok", "ok"),
        ("ok <no-reply/> then", "ok then"),
        ("ok\n<no-reply/>\nthen", "ok\nthen"),
        ("<actions><no-reply/></actions>Hello", "Hello"),
        ("ok <no-reply></no-reply>, then", "ok , then"),
    ],
)
def test_the_marker_beside_text(text: str, shown: str) -> None:
    """OD-42: stripped wherever it stands, the text is delivered, a problem is noted."""
    reading = read_every_way(text)
    assert (reading.text, reading.silent, codes(reading)) == (shown, False, ["no_reply_with_text"])


@pytest.mark.parametrize("unseen", ["\ufeff", "\u200b", "\u200d\u200c", "\u2060", "\u200f", "\u202b", "\u2068"])
def test_what_has_no_width_is_white_space(unseen: str) -> None:
    """OD-2, OD-10, OD-34, OD-41, OD-45: a token, a header and a tag are where they seem to be; text keeps it."""
    for silent in (
        "{}NO_REPLY{}",
        "Hi!{} NO_REPLY{}",
        "Hi\n{0}{0}{0}{0}NO_REPLY",
        "Hi{}NO_REPLY",
        "{}<no-reply/>{}",
        "NO_REPLY{}x",
    ):
        assert read_every_way(silent.format(unseen, unseen)).silent, silent
    for text in ("NO{}_REPLY", "> x.{} NO_REPLY", "Hi{}", "{}", "</actions>{}x"):
        assert read_every_way(text.format(unseen)).text == text.format(unseen)
    for token in ("HEARTBEAT_OK{}", "Fine{}HEARTBEAT_OK", "Fine{} HEARTBEAT_OK{}", "</actions>{}HEARTBEAT_OK"):
        assert "HEARTBEAT_OK" not in read_every_way(token.format(unseen, unseen)).text
    for directive in ("{}[[zz:1]]{}\nHi", '{}<react emoji="x"/>{}\nHi', "<actions>{}</actions>{}\nHi"):
        assert read_every_way(directive.format(unseen, unseen)).text == "Hi"


@pytest.mark.parametrize(
    "text",
    [
        "NO_REPLY",
        " NO_REPLY\n",
        "NO_REPLY.",
        "NO_REPLY!",
        "NO_REPLY: nothing to add",
        "NO_REPLY, as asked",
        "NO_REPLY because nothing is new",
        "NO_REPLY is the token",
        "NO_REPLY 🤐",
        "NO_REPLY (nothing is new)",
        "<b>NO_REPLY</b> as nothing is new",
        "[NO_REPLY]",
        "*(NO_REPLY)*",
        "_NO_REPLY_",
        "**NO_REPLY",
        "**NO_REPLY because nothing is new**",
        "HEARTBEAT_OK NO_REPLY",
        "NO_REPLY HEARTBEAT_OK",
        "NO_REPLY—",
        "NO_REPLY\nbecause nobody asked",
        "NO_REPLY  \r\nbecause",
        "**NO_REPLY**",
        "__NO_REPLY__",
        '"NO_REPLY"',
        "'NO_REPLY'",
        "“NO_REPLY”",
        '**"NO_REPLY"**',
        "`NO_REPLY`",
        "``NO_REPLY``\n",
        f"{BLOCK}\nNO_REPLY",
        f"NO_REPLY\n{BLOCK}",
        "[[reply_to:1]]\nNO_REPLY",
        "[[reply_to:1]] NO_REPLY",
        f"{X} NO_REPLY",
        f"{X} NO_REPLY because nothing is new",
        f"NO_REPLY{BLOCK}",
        "HEARTBEAT_OK\nNO_REPLY",
        "HEARTBEAT_OK. NO_REPLY",
    ],
)
def test_the_token_first(text: str) -> None:
    """OD-41: the first word, whatever stands behind it: silence, and no text is ever emitted."""
    reading = read_every_way(text)
    assert (reading.text, reading.silent) == ("", True)
    for event in events_of(list(text))[0]:
        assert not hasattr(event, "text")


@pytest.mark.parametrize(
    "text",
    [
        "All is quiet here. NO_REPLY",
        "All is quiet here! NO_REPLY\n",
        "All is quiet here\nNO_REPLY",
        "All is quiet here\n\n**NO_REPLY**",
        'He said "fine." NO_REPLY',
        "Is it? NO_REPLY",
        "没什么。NO_REPLY",
        "All is quiet here NO_REPLY",
        "I have nothing to add: NO_REPLY",
        "All is quiet here. NO_REPLY.",
        "All is quiet here. NO_REPLY !!! \n\n",
        "All is quiet here (NO_REPLY)",
        "**All is quiet here NO_REPLY**",
        "<p>All is quiet here <b>NO_REPLY</b></p>",
        "All is quiet here NO_REPLY 🤐",
        "All is quiet here. NO_REPLY\nHEARTBEAT_OK",
        "All is quiet here. **NO_REPLY** **HEARTBEAT_OK**!",
        "All is quiet here HEARTBEAT_OK NO_REPLY",
        "say NO_REPLY when idle. NO_REPLY",
        f"Done. NO_REPLY\n{BLOCK}",
        f"Done. {BLOCK} NO_REPLY",
    ],
)
def test_the_token_last(text: str) -> None:
    """OD-41: the last word, whatever stands before it: the text before it went out, the token never, silence."""
    reading = read_every_way(text)
    assert (reading.text, reading.silent) == ("", True)
    _, frames = events_of(list(text))
    assert frames[-1]
    assert not any(frame.count("NO_REPLY") > frames[-1].count("NO_REPLY when idle") for frame in frames)
    assert frames[-1] == frames[-1].rstrip()


@pytest.mark.parametrize(
    "text",
    [
        "say NO_REPLY when idle",
        "NO_REPLYING is a word",
        "NO_REPLY_NOW",
        "no_reply",
        "No_Reply.",
        "Fine. NO_REPLY it is",
        "Fine.\nNO_REPLY it is",
        "`NO_REPLY` is the token",
        "Fine. `NO_REPLY`",
        "```\nNO_REPLY\n```",
        "```\nNO_REPLY",
        "Fine:\n    NO_REPLY",
        "    NO_REPLY",
        "> NO_REPLY",
        "> Fine. NO_REPLY",
        "x.NO_REPLY",
        "Fine NO_REPLY then",
        "Fine (NO_REPLY) then",
        "Fine NO_REPLY\nHEARTBEAT_OK then",
        "`echo NO_REPLY`",
        "`NO_REPLY because`",
        "Fine:\n    echo NO_REPLY",
        "> he said NO_REPLY",
        "Fine NO_REPLY\n> NO_REPLY",
        "_NO_REPLY_NOW",
        "NO_REPLY's",
    ],
)
def test_the_token_anywhere_else_is_text(text: str) -> None:
    """OD-41, OD-36: in the middle, inside a word, in code or a quote."""
    reading = read_every_way(text)
    assert (reading.text, reading.silent) == (text, False)


@pytest.mark.parametrize(
    ("segments", "text", "silent"),
    [
        (("NO_REPLY", "more text"), "", True),
        (("", "NO_REPLY"), "", True),
        (("Looking", "NO_REPLY"), "", True),
        (("Looking. NO_REPLY", ""), "", True),
        (("Looking. NO_REPLY", "found it"), "Looking. NO_REPLYfound it", False),
        (("NO_", "REPLY"), "NO_REPLY", False),
        (("[[reply_to:1]]", "NO_REPLY"), "", True),
    ],
)
def test_the_token_over_segments(segments: tuple[str, ...], text: str, silent: bool) -> None:
    """OD-41: over all segments of a turn; the end of a segment ends a line."""
    reading = read_reply(*segments)
    assert (reading.text, reading.silent) == (text, silent)


@pytest.mark.parametrize(
    ("text", "shown", "silent"),
    [
        ("NO_REPLY", "", True),
        (f"{BLOCK}\n**NO_REPLY**\n", "", True),
        ("NO_REPLY\nHello", "Hello", False),
        ("NO_REPLY. Hello", "Hello", False),
        ("NO_REPLY\n**bold**", "**bold**", False),
        ("Hello. NO_REPLY", "Hello.", False),
        ("NO_REPLY Hello", "Hello", False),
        ("Hello NO_REPLY", "Hello", False),
        ("Hello **NO_REPLY**!", "Hello", False),
        ("NO_REPLY.\n", "", True),
        ("`NO_REPLY`", "", True),
        ("NO_REPLY\nHEARTBEAT_OK", "", True),
        ("say NO_REPLY when idle", "say NO_REPLY when idle", False),
    ],
)
def test_silence_alone(text: str, shown: str, silent: bool) -> None:
    """OD-41: `silence = "alone"` strips a token at an edge and delivers the text."""
    reading = read_every_way(text, silence="alone")
    assert (reading.text, reading.silent) == (shown, silent)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("HEARTBEAT_OK", ""),
        ("HEARTBEAT_OK\n \n", ""),
        ("HEARTBEAT_OK all is well", "all is well"),
        ("HEARTBEAT_OK. All is well", "All is well"),
        ("All is well HEARTBEAT_OK", "All is well"),
        ("All is well.\n\n**HEARTBEAT_OK**\n", "All is well."),
        ("All is well. HEARTBEAT_OK.", "All is well."),
        ("say HEARTBEAT_OK when idle", "say HEARTBEAT_OK when idle"),
        ("HEARTBEAT_OKAY", "HEARTBEAT_OKAY"),
        ("<b>HEARTBEAT_OK</b>", ""),
        ("<p><b>HEARTBEAT_OK</b>.</p>", ""),
        ("HEARTBEAT_OK!!!!!", ""),
        ("**HEARTBEAT_OK**!", ""),
        ("(HEARTBEAT_OK)", ""),
        ("`HEARTBEAT_OK`", ""),
        ("**HEARTBEAT_OK", ""),
        ("All is well <b>HEARTBEAT_OK</b>!!!!!", "All is well"),
        ("All is well. (HEARTBEAT_OK)", "All is well."),
        ("<b>HEARTBEAT_OK</b>: all is well", "all is well"),
        ("HEARTBEAT_OK!!!!! All is well", "All is well"),
        ("**HEARTBEAT_OK all is well**", "**all is well**"),
        ("**All is well HEARTBEAT_OK**", "**All is well**"),
        ("HEARTBEAT_OK\n- all\n- is well", "- all\n- is well"),
        ("HEARTBEAT_OK **All** is well", "**All** is well"),
        ("HEARTBEAT_OK<b>All</b> is well", "<b>All</b> is well"),
        ("All is well HEARTBEAT_OK ✅", "All is well ✅"),
        ("HEARTBEAT_OK\nHEARTBEAT_OK", ""),
        ("```\nHEARTBEAT_OK\n```", "```\nHEARTBEAT_OK\n```"),
    ],
)
def test_the_heartbeat_token_in_other_turns(text: str, shown: str) -> None:
    """OD-45: stripped at the start or the end, the rest is delivered."""
    reading = read_every_way(text)
    assert (reading.text, reading.silent) == (shown, False)


@pytest.mark.parametrize(
    ("text", "shown", "silent"),
    [
        ("HEARTBEAT_OK", "", True),
        ("HEARTBEAT_OK short", "", True),
        ("short HEARTBEAT_OK", "", True),
        ("HEARTBEAT_OK longer than ten", "longer than ten", False),
        ("longer than ten HEARTBEAT_OK", "longer than ten", False),
        ("short", "short", False),
        ("longer than ten", "longer than ten", False),
    ],
)
def test_a_heartbeat_turn(text: str, shown: str, silent: bool) -> None:
    """OD-45: what is left beside the token is dropped when it is short, else delivered; nothing streams before."""
    reading = read_every_way(text, heartbeat=True, ack_max_chars=10)
    assert (reading.text, reading.silent) == (shown, silent)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{X} HEARTBEAT_OK", ""),
        (f"{X} HEARTBEAT_OK all is well", "all is well"),
        (f"{X} NO_REPLYING", f"{X} NO_REPLYING"),
        (f"Well.\n{X} NO_REPLY is a token", f"Well.\n{X} NO_REPLY is a token"),
    ],
)
def test_a_token_behind_a_tag(text: str, shown: str) -> None:
    """OD-34, OD-41: a token makes no sentence of the tag before it."""
    reading = read_every_way(text)
    assert (reading.text, reading.silent) == (shown, False)
    assert (X in shown) == (not reading.directives)


def test_actions_only_is_not_silence() -> None:
    """OD-44: no text, no silence: delivery sends no message for it."""
    reading = read_every_way(BLOCK)
    assert (reading.text, reading.silent, said(*reading.directives)) == ("", False, [("react", {"emoji": "x"}, None)])
