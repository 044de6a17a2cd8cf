"""The reader by tables: input, what people see, what is done. Each row is read every way."""

import pytest

from tests.outbound.every_way import codes, read_every_way, said

REPLY_1 = ("reply_to", {"id": "1"}, None)
SILENT = ("silent", {"on": True}, None)
REACT = ("react", {"emoji": "x"}, None)
X = '<react emoji="x"/>'
BLOCK = f"<actions>{X}</actions>"


def check(text: str, shown: str, *directives: tuple) -> None:
    reading = read_every_way(text)
    assert (reading.text, reading.silent, said(*reading.directives)) == (shown, False, list(directives))


@pytest.mark.parametrize(
    ("text", "shown", "directives"),
    [
        ("\ufeff[[reply_to:1]]\nHi", "Hi", [REPLY_1]),
        ("\u200b\n \u200b [[reply_to:1]]\nHi", "Hi", [REPLY_1]),
        ("   [[reply_to:1]]\nHi", "Hi", [REPLY_1]),
        ("    [[reply_to:1]]\nHi", "    [[reply_to:1]]\nHi", []),
        ("\t[[reply_to:1]]\nHi", "\t[[reply_to:1]]\nHi", []),
        (" \t[[reply_to:1]]\nHi", " \t[[reply_to:1]]\nHi", []),
        ("[[reply_to:1]]\n\n\n[[silent]]\nHi", "Hi", [REPLY_1, SILENT]),
        (f"{BLOCK}\n[[reply_to:1]]\nHi", "Hi", [REACT, REPLY_1]),
        (f"{BLOCK}[[reply_to:1]] Hi", "Hi", [REACT, REPLY_1]),
        (f"[[reply_to:1]]\n{BLOCK}\n[[silent]]\nHi", "Hi", [REPLY_1, REACT, SILENT]),
        (f"{X}\n[[reply_to:1]]\nHi", "Hi", [REACT, REPLY_1]),
        ("<actions>\n[[reply_to:1]]\nHi", "Hi", [REPLY_1]),
        ("[[reply_to:1]]\n    code", "    code", [REPLY_1]),
        ("> [[reply_to:1]]", "> [[reply_to:1]]", []),
        ("\xa0[[reply_to:1]]", "\xa0[[reply_to:1]]", []),
    ],
)
def test_where_a_header_may_stand(text: str, shown: str, directives: list) -> None:
    """OD-10: header lines at the start of a segment, behind blanks, blank lines and action blocks."""
    check(text, shown, *directives)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_of_a_header_never_reach_the_content(newline: str) -> None:
    """OD-11: LF, CRLF and no newline at all; no stray CR or LF is shown."""
    check(f"[[reply_to:1]]{newline}[[silent]]{newline}Hi", "Hi", REPLY_1, SILENT)
    check(f"[[reply_to:1]]{newline}{newline}Hi{newline}there", f"Hi{newline}there", REPLY_1)
    check(f"[[silent]]{newline}[[reply_to:1]]", "", SILENT, REPLY_1)


@pytest.mark.parametrize(
    ("text", "shown", "directives"),
    [
        ("[[reply_to:1]]收到", "收到", [REPLY_1]),
        ("[[reply_to:1]]   \nFirst\nSecond", "First\nSecond", [REPLY_1]),
        ("[[reply_to:456]] see [[this]] ok", "see [[this]] ok", [("reply_to", {"id": "456"}, None)]),
        ("[[reply_to:1]][[silent]]Hi", "Hi", [REPLY_1, SILENT]),
        ("[[reply_to:1]] [[zz:2]] Hi", "[[zz:2]] Hi", [REPLY_1]),
        ("[[reply_to:1]] [[zz:2]]", "[[zz:2]]", [REPLY_1]),
        ("[[reply_to:1]] [[reply-to:2]] Hi", "[[reply-to:2]] Hi", [REPLY_1]),
        ("[[zz:1]] [[reply_to:2]]", "[[zz:1]] [[reply_to:2]]", []),
        ("[[ephemeral]] psst", "psst", [("ephemeral", {"on": True}, None)]),
        ("[[silent:TRUE]]\nHi", "Hi", [SILENT]),
        ("[[suppress_embeds:false]]\nHi", "Hi", [("suppress_embeds", {"on": False}, None)]),
        ("[[title:a: b://c]]\nHi", "Hi", [("title", {"text": "a: b://c"}, None)]),
        ("[[reply_to_current]] Hi", "Hi", [("reply_to", {"id": "current"}, None)]),
        ("[[reply_to:none]]\nHi", "Hi", [("reply_to", {"id": "none"}, None)]),
        ("[[audio_as_voice]]\nHi", "Hi", [("audio_as_voice", {}, None)]),
        ("[[reply_to:1]]]", "]", [REPLY_1]),
    ],
)
def test_known_keys(text: str, shown: str, directives: list) -> None:
    """OD-12, OD-13, OD-18, OD-21: keys, values, flags, several on a line, text behind them."""
    check(text, shown, *directives)


@pytest.mark.parametrize("key", ["zz_future", "Reply_To", "ReplyTo", "reply to", "REPLY-TO", "reply-to", "replyto"])
def test_an_unknown_key_alone_on_its_line_is_stripped(key: str) -> None:
    """OD-14: stripped, not obeyed, named in a debug problem; a near key is suggested."""
    reading = read_every_way(f"[[{key}:1]]\nHi")
    assert (reading.text, reading.directives) == ("Hi", ())
    assert [(problem.code, problem.level) for problem in reading.problems] == [("unknown_key", "debug")]
    assert key == "zz_future" or "did you mean reply_to?" in reading.problems[0].detail


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[zz:1]]", "[[zz:1]]"),
        ("[[zz:1]]\n[[reply-to:2]]\n", "[[zz:1]]\n[[reply-to:2]]"),
        ("[[zz:1]]\n[[reply_to:1]]", ""),
        (f"[[zz:1]]\n{BLOCK}", ""),
        ("[[zz:1]]\nHi", "Hi"),
    ],
)
def test_only_unknown_keys_are_shown(text: str, shown: str) -> None:
    """OD-14, OD-4: a reply of nothing but unknown keys is not delivered empty."""
    assert read_every_way(text).text == shown


@pytest.mark.parametrize(
    "text",
    [
        "[[Summary]]\nbody",
        "[[Note]]\nbody",
        "[[Note: careful]]\nbody",
        "[[File:a.png]]\nbody",
        "[[https://example.org]]",
        "[[https: //example.org]]",
        "[[wiki:Foo]] is a page",
        "[[reply_to:1]\nx",
        "[[reply_to:1",
        "[[reply_to\n:1]]",
        "[reply_to:1]]",
        "[[[reply_to:1]]]",
        "[[]]",
        "[[:1]]",
        "[[foo bar:1]]\nx",
        "[[title]]\nx",
        "[[reply_to]]\nx",
        "[[a]]:[[b]]",
        "Hello\n[[reply_to:1]]",
        "Hello [[reply_to:1]]",
        "```\n[[reply_to:1]]\n```",
        "[[reply_to:" + "1" * 1024 + "]]\nx",
    ],
)
def test_other_brackets_are_content(text: str) -> None:
    """OD-15, OD-18: shown as they stand."""
    check(text, text)


@pytest.mark.parametrize(
    ("text", "shown", "effective"),
    [
        ("[[reply_to:111]]\n[[reply_to:bad value]]\nx", "x", {"id": "111"}),
        ("[[reply_to:111]]\n[[reply_to:222]]\nx", "x", {"id": "222"}),
        (f"[[reply_to:111]]\nx\n{BLOCK[:9]}<reply to='222'/></actions>", "x", {"id": "222"}),
    ],
)
def test_the_last_valid_value_wins(text: str, shown: str, effective: dict) -> None:
    """OD-17: of a repeated key the last valid one counts, header or tag."""
    reading = read_every_way(text)
    assert reading.text == shown
    assert [d.args for d in reading.directives if d.name == "reply_to"] == [effective]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[reply_to:has spaces]]\nHi", "Hi"),
        ("[[reply_to:]] Hi", "Hi"),
        ("[[reply_to:a$b]]\nHi", "Hi"),
        ("[[reply_to:" + "a" * 65 + "]]\nHi", "Hi"),
        ("[[reply_to:ünïcode]]\nHi", "Hi"),
        ("[[silent:maybe]]\nHi", "Hi"),
        ("[[suppress_embeds:]]\nHi", "Hi"),
        ("[[title: ]]\nHi", "Hi"),
        ("[[audio_as_voice:banana]]\nHi", "Hi"),
    ],
)
def test_an_invalid_value_is_dropped(text: str, shown: str) -> None:
    """OD-20: stripped with a problem, the text goes out."""
    reading = read_every_way(text)
    assert (reading.text, reading.directives, codes(reading)) == (shown, (), ["invalid_value"])


@pytest.mark.parametrize("id_", ["m42", "$abc", "1234567890.123456", "550e8400-e29b-41d4-a716-446655440000", "a" * 64])
def test_ids_of_all_platforms(id_: str) -> None:
    """OD-22 and the keys table: handles, snowflakes, Slack's ts, UUIDs, Matrix ids."""
    check(f"[[reply_to:{id_}]]\nHi", "Hi", ("reply_to", {"id": id_}, None))


@pytest.mark.parametrize(
    ("text", "shown", "directives"),
    [
        ("<actions/>Hi", "Hi", []),
        ("<actions >Hi</actions >", "Hi", []),
        (f'<actions version="1">{X}</actions>Hi', "Hi", [REACT]),
        (f"<actions>\n    {X}\n</actions>\nHi", "Hi", [REACT]),
        (f"<actions>\n\t{X}\n</actions>\nHi", "Hi", [REACT]),
        ('<actions><react\n  emoji="x"\n/></actions>Hi', "Hi", [REACT]),
        ('<actions><react emoji="x"></react></actions>Hi', "Hi", [REACT]),
        ('<actions><react emoji="x"><react emoji="x"></actions>Hi', "Hi", [REACT, REACT]),
        ('<actions><react-foo emoji="x"/></actions>Hi', "Hi", []),
        (f"<actions><actions>{X}</actions></actions>Hi", "Hi", [REACT]),
        (f"<actions>{X}</actions>Hi</actions>", "Hi", [REACT]),
        ("</actions>Hi", "</actions>Hi", []),
        (f"{BLOCK}\n{BLOCK}", "", [REACT, REACT]),
        ('<actions><handoff to="b"/></actions>', "", [("handoff", {"to": "b"}, None)]),
        ('<actions><handoff to="b">\n look \n</handoff></actions>', "", [("handoff", {"to": "b"}, "look")]),
        ("<actions><VOICE>Hi</Voice></actions>", "", [("voice", {}, "Hi")]),
        ("<actions><voice>a <b>c</b></voice></actions>", "", [("voice", {}, "a <b>c</b>")]),
        ("<actions\n<react emoji='x'/>\n</actions>\nHi", "Hi", [REACT]),
    ],
)
def test_blocks(text: str, shown: str, directives: list) -> None:
    """OD-30: wrapper and children, their spelling and their ends."""
    check(text, shown, *directives)


@pytest.mark.parametrize(
    ("attributes", "args"),
    [
        ('emoji="x"', {"emoji": "x"}),
        ("emoji='x'", {"emoji": "x"}),
        ('emoji=\\"x\\"', {"emoji": "x"}),
        ("emoji=\\'x\\'", {"emoji": "x"}),
        ("emoji=“x”", {"emoji": "x"}),
        ("emoji=‘x’", {"emoji": "x"}),
        ("emoji=x", {"emoji": "x"}),
        ('emoji = "x"', {"emoji": "x"}),
        ('EMOJI="x"', {"emoji": "x"}),
        ('emoji=" x "', {"emoji": "x"}),
        ('emoji=">"', {"emoji": ">"}),
        ('emoji="/>"', {"emoji": "/>"}),
        ("emoji='\"'", {"emoji": '"'}),
        ('emoji="<actions>"', {"emoji": "<actions>"}),
        ('emoji="&lt;&amp;&gt;&quot;&apos;"', {"emoji": "<&>\"'"}),
        ('emoji="&#128064;&#x1F440;&nbsp;&#0;"', {"emoji": "👀👀&nbsp;&#0;"}),
        ('emoji="a" emoji="b"', {"emoji": "b"}),
        ('emoji="a" foo="b" bar', {"emoji": "a"}),
        ('emoji="a" message="m1" message_id="m2"', {"emoji": "a", "message": "m2"}),
        ('emoji="a" message="m1" message_id="m2" message="m3"', {"emoji": "a", "message": "m3"}),
        ('emoji="a" remove="true"', {"emoji": "a", "remove": True}),
        ('emoji="a" remove="false"', {"emoji": "a", "remove": False}),
        ('emoji="a" remove', {"emoji": "a", "remove": True}),
        ("emoji=it's", {"emoji": "it's"}),
        ("emoji=<3", {"emoji": "<3"}),
    ],
)
def test_attributes(attributes: str, args: dict) -> None:
    """OD-31: every quoting models use; quotes protect `>`; entities; the last one wins; unknown ones are ignored."""
    check(f"<actions><react {attributes} /></actions>ok", "ok", ("react", args, None))
    check(f"<actions><react {attributes}></actions>ok", "ok", ("react", args, None))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('<actions><react emoji="x>\nHi</actions>', "Hi"),
        ('<actions><react emoji="x\nfoo>Hi</actions>', "Hi"),
        ('<react emoji="x />\nHi', "Hi"),
        ('<actions><react emoji="x> there\n<voice>z</voice></actions>', "there"),
    ],
)
def test_a_quote_left_open_breaks_its_tag(text: str, shown: str) -> None:
    """OD-31: a quoted value ends at its line's end; such a tag is dropped up to its first `>`."""
    reading = read_every_way(text)
    assert reading.text == shown
    assert "broken_tag" in codes(reading)
    assert "react" not in [directive.name for directive in reading.directives]


@pytest.mark.parametrize(
    ("text", "shown", "directives"),
    [
        ("<actions>Great idea!</actions>", "Great idea!", []),
        (f"<actions>{X} Great <b>idea</b>", "Great", [REACT]),
        (f"<actions>{X}\nGreat\n\nidea", "Great\n\nidea", [REACT]),
        (f"One <actions>two {X} three</actions> four", "One two three four", [REACT]),
        ("<actions>a < b</actions>", "a < b", []),
    ],
)
def test_text_inside_a_block_is_shown(text: str, shown: str, directives: list) -> None:
    """OD-32: as it comes, with one problem, whether or not the block closes."""
    reading = read_every_way(text)
    assert (reading.text, said(*reading.directives)) == (shown, directives)
    assert codes(reading).count("stray_text") == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Para1\n\n{BLOCK}\n\nPara2", "Para1\n\nPara2"),
        (f"Para1\n\n\n{BLOCK}\n\n\nPara2", "Para1\n\nPara2"),
        (f"Para1\n{BLOCK}\nPara2", "Para1\nPara2"),
        (f"Para1\n\n{BLOCK}\nPara2", "Para1\n\nPara2"),
        (f"Para1\n{BLOCK}\n\n    code", "Para1\n\n    code"),
        (f"Para1  \n{BLOCK}\nPara2", "Para1  \nPara2"),
        (f"A\n<actions>\n\n{X}\n\n</actions>\nB", "A\nB"),
        (f"A {BLOCK} B", "A B"),
        (f"A{BLOCK}B", "AB"),
        (f"A{BLOCK} B", "A B"),
        (f"A  \t{BLOCK}  B", "A B"),
        (f"A {BLOCK} {BLOCK} B", "A B"),
        (f"A {BLOCK}\nB", "A\nB"),
        (f"A {BLOCK}\n\n\nB", "A\n\n\nB"),
        (f"A\n{BLOCK} B", "A\nB"),
        (f"{BLOCK} B", "B"),
        (f"{BLOCK}\n\n  B", "  B"),
        (f"\n\n{BLOCK}\n\nB", "B"),
        (f"A {BLOCK}", "A"),
        (f"A\n\n{BLOCK}\n\n", "A"),
        ("\n\n  A \n\n", "\n\n  A \n\n"),
    ],
)
def test_the_space_around_what_was_removed(text: str, shown: str) -> None:
    """OD-33: lines close again, one blank between words, indentation stays; where nothing was removed, all stays."""
    assert read_every_way(text).text == shown


@pytest.mark.parametrize(
    ("text", "shown", "directives"),
    [
        (f"{X}\nHi", "Hi", [REACT]),
        (f"Hi\n{X}", "Hi", [REACT]),
        (f"{X} {X}\nHi", "Hi", [REACT, REACT]),
        (f"   {X}   \nHi", "Hi", [REACT]),
        ('<react emoji="x"></react>\nHi', "Hi", [REACT]),
        ('<react\n  emoji="x"\n/>\nHi', "Hi", [REACT]),
        ('<reply to="1"/>\nHi', "Hi", [REPLY_1]),
        ('<send-file path="a.png"/>\nHi', "Hi", [("send_file", {"path": "a.png"}, None)]),
        (f"{X} Hi", f"{X} Hi", []),
        (f"Hi {X}", f"Hi {X}", []),
        (f"- {X}", f"- {X}", []),
        (f"{X} <b>\nHi", f"{X} <b>\nHi", []),
        (f"{X} <no-reply/> Hi", f"{X} Hi", []),
        ("<voice>Hi</voice>", "Hi", []),
        ("<react-foo/>\nHi", "<react-foo/>\nHi", []),
        ("<reactor/>\nHi", "<reactor/>\nHi", []),
        (f"{X}<no-reply></no-reply>\nHi", "Hi", [REACT]),
        (f"{X}<no-reply></no-reply> Hi", f"{X} Hi", []),
        (f"{X}</no-reply>", f"{X}</no-reply>", []),
        (f"{X} N", f"{X} N", []),
        (f"{X}N\nHi", f"{X}N\nHi", []),
    ],
)
def test_bare_tags(text: str, shown: str, directives: list) -> None:
    """OD-34: bodiless known tags that fill a line are obeyed, inside a sentence they are content."""
    check(text, shown, *directives)


@pytest.mark.parametrize(
    ("inside", "shown", "code"),
    [
        ("<delete-everything/>", "", "unknown_action"),
        ("<poll>pizza?</poll>", "", "unknown_action"),
        ("<poll>pizza?", "", "unknown_action"),
        ("<react/>", "", "missing_attribute"),
        ('<react emoji=" "/>', "", "missing_attribute"),
        ("<react emoji/>", "", "missing_attribute"),
        ('<react emoji="x" message="no such"/>', "", "invalid_value"),
        ("<reply/>", "", "missing_attribute"),
        ('<reply to="a b"/>', "", "invalid_value"),
        ("<send-file/>", "", "missing_attribute"),
        ("<send-message>x</send-message>", "", "missing_attribute"),
        ('<send-message chat="C"> \n </send-message>', "", "missing_body"),
        ('<send-message chat="C"/>', "", "missing_body"),
        ("<voice/>", "", "missing_body"),
        ("<handoff>x</handoff>", "", "missing_attribute"),
    ],
)
def test_children_that_cannot_be_obeyed(inside: str, shown: str, code: str) -> None:
    """OD-35: an unknown child, one without what it needs: dropped with a problem, the text goes out."""
    reading = read_every_way(f"<actions>{inside}</actions>Hi")
    assert (reading.text, reading.directives, codes(reading)) == (shown + "Hi", (), [code])


def test_an_optional_attribute_may_be_wrong() -> None:
    """OD-35: only what is needed drops the action; the rest is left out and told."""
    reading = read_every_way('<actions><send-file path="a" kind="hologram" cleanup="maybe"/></actions>')
    assert said(*reading.directives) == [("send_file", {"path": "a"}, None)]
    assert codes(reading) == ["invalid_value", "invalid_value"]


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{BLOCK}\n```",
        f"```xml\n{BLOCK}\n<no-reply/>\n```\nok",
        f"~~~\n{BLOCK}\n```\n{X}\n~~~\nok",
        f"````\n```\n{BLOCK}\n```\n````\nok",
        f"```\n{BLOCK}\n  ``` x\n{BLOCK}",
        f"   ```\n{BLOCK}\n   ```",
        f"- ```\n  {X}\n  ```",
        f"1. Do:\n   ```xml\n   {BLOCK}\n   ```\nok",
        f"```<actions>\n{BLOCK}",
        f"`{BLOCK}`",
        f"Write `<no-reply/>` or ``a`{BLOCK}``.",
        f"`a `` {BLOCK} `` b",
        f"    {BLOCK}\nok",
        f"\t{X}\nok",
        f"> {BLOCK}\nok",
        "> so <no-reply/> it is\nok",
        f"   >{X}",
        f"[[Note: x]] `{BLOCK}`",
    ],
)
def test_code_and_quotes_are_never_obeyed(text: str) -> None:
    """OD-36: fences, back-ticks, indented code and quoted lines are shown verbatim."""
    check(text, text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"` {BLOCK} x", "` x"),
        ("`a <no-reply/>\n`b", "`a\n`b"),
        ("``a` <no-reply/> b", "``a` b"),
        (f"```\ncode\n```\n{BLOCK}\nok", "```\ncode\n```\nok"),
        (f"~~\n{BLOCK}\nok", "~~\nok"),
    ],
)
def test_what_only_looks_like_code(text: str, shown: str) -> None:
    """OD-36: an unclosed run of back-ticks is text, and a fence ends."""
    assert read_every_way(text).text == shown


@pytest.mark.parametrize(
    ("text", "shown", "directives"),
    [
        (f"The <actions block is not closed.\n\n{X}", "The <actions block is not closed.", [REACT]),
        ("Use <actions to wrap <react> tags.", "Use <actions to wrap <react> tags.", []),
        (f"Use <no-reply so:\n```\n{X}\n```", f"Use <no-reply so:\n```\n{X}\n```", []),
        (f"<react and\n~~~\n{BLOCK}\n~~~", f"<react and\n~~~\n{BLOCK}\n~~~", []),
        (f"a <actions `{X}` b", f"a <actions `{X}` b", []),
        (f"<actions\n{X}\n</actions>\nHi", "Hi", [REACT]),
    ],
)
def test_prose_that_names_a_tag(text: str, shown: str, directives: list) -> None:
    """OD-4, OD-36: a tag that another one interrupts is text, and code behind it is code; a mere `>` may lack."""
    check(text, shown, *directives)


@pytest.mark.parametrize(
    ("text", "shown", "directives"),
    [
        (
            '<actions><send-message chat="C1"/><send-message chat="C2">x</send-message></actions>',
            "",
            [("send_message", {"chat": "C2"}, "x")],
        ),
        ('<actions><send-message chat="C1">secret</actions>ok', "ok", []),
        ('<actions><send-message chat="C1">secret', "", []),
        ('<actions><handoff to="b">secret</actions>ok', "ok", []),
        ("<actions><voice>Hello</actions> ok", "Hello ok", []),
        ("<actions><voice>Hello", "Hello", []),
        (f"<actions><voice>Hello {X}</actions>ok", "Hello ok", [REACT]),
        ("<actions><poll>pizza", "pizza", []),
    ],
)
def test_bodies(text: str, shown: str, directives: list) -> None:
    """OD-37, OD-38: a body ends at its own tag; left open, speech is shown and a message for elsewhere is not."""
    check(text, shown, *directives)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[[reply_to:1", "[[reply_to:1"),
        ("Hello <acti", "Hello <acti"),
        ("Hello <actions", "Hello <actions"),
        ('<react emoji="x"', '<react emoji="x"'),
        ("Hello <no-reply", "Hello <no-reply"),
        ("Hello <", "Hello <"),
        ("Hello \\", "Hello \\"),
        ("<actions>Hello <rea", "Hello"),
        ('<actions>Hello <react emoji="x"', "Hello"),
    ],
)
def test_what_the_end_cuts_short(text: str, shown: str) -> None:
    """OD-38: content, but inside an open block dropped."""
    reading = read_every_way(text)
    assert (reading.text, reading.directives) == (shown, ())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\\[[reply_to:1]] is the syntax", "[[reply_to:1]] is the syntax"),
        ("\\[[zz:1]]", "[[zz:1]]"),
        ("\\[[silent]]", "[[silent]]"),
        ("\\[[Note: x]]", "\\[[Note: x]]"),
        ("\\[[wiki:Foo]] is a page", "\\[[wiki:Foo]] is a page"),
        ("\\<actions>x</actions>", "<actions>x</actions>"),
        ("a \\<no-reply/> b", "a <no-reply/> b"),
        ("\\<no-reply/>", "<no-reply/>"),
        (f"\\{X}", X),
        (f"\\{X}\nok", f"{X}\nok"),
        (f"\\{X} is how", f"\\{X} is how"),
        ("\\\\<actions>", "\\<actions>"),
        ("<actions>\\<voice>x</actions>", "<voice>x"),
        ("C:\\Work\\nxxx \\< \\[ \\", "C:\\Work\\nxxx \\< \\[ \\"),
        ("\\<b>", "\\<b>"),
        ("`\\<actions>`", "`\\<actions>`"),
        ("` \\<actions>", "` <actions>"),
        (r"<react \<actions>", "<react <actions>"),
        (r"<no-reply \<no-reply/>", "<no-reply <no-reply/>"),
        (rf"{X}\<no-reply/> Hi", f"{X}<no-reply/> Hi"),
        (rf"<actions><react \{X}</actions>", X),
        (rf"<actions>{'<zz/>' * 101}<zz \{X}</actions>", X),
    ],
)
def test_a_backslash_makes_it_content(text: str, shown: str) -> None:
    """OD-8: directly before what would be obeyed or stripped, and only there, it is removed."""
    check(text, shown)


def test_a_background_turn_has_no_current_message() -> None:
    """OD-18: without a trigger `current` and a react without target are dropped, the text goes out plainly."""
    text = f'[[reply_to_current]]\n{X}\n<react emoji="y" message="m2"/>\nHi'
    reading = read_every_way(text, has_trigger=False)
    assert reading.text == "Hi"
    assert said(*reading.directives) == [("react", {"emoji": "y", "message": "m2"}, None)]
    assert codes(reading) == ["no_trigger", "no_trigger"]
