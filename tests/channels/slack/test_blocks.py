"""Tables, long code, buttons and menus as Slack's blocks; the text says the same."""

import re

import pytest

from rejoinder.channels.slack import payloads, render
from rejoinder.channels.slack.blocks import LONG_CODE, MOST_ROWS
from rejoinder.events import Choice, Part, Route
from rejoinder.testing.platform.slack.strict import Refusal, checked_blocks

HERE = Route("slack", "C1")
TABLE = "| name | price |\n| --- | --: |\n| milk | 1 |\n| *oat* milk | |"
CODE = "```python\n" + "print('<!channel>')\n" * 60 + "```"


def payload(source, tables="code", **how):
    """As it is sent; the strict platform takes it."""
    rendering = render.render(source, tables)
    sent = payloads.message(Part(HERE, rendering.text, html=rendering.html, **{"key": "k", **how}), None)
    assert checked_blocks(sent) == sent.get("blocks", [])
    return sent


def kinds(source, **how):
    return [block["type"] for block in payload(source, **how).get("blocks", ())]


def test_a_table_is_a_table():
    """CH-33: with its alignment; an empty cell is a blank, for Slack takes none without a character."""
    sent = payload(f"Here:\n\n{TABLE}\n\nThat is *all*, <@U1>.", addressed=("U1",))
    before, table, after = sent["blocks"]
    assert [[cell["text"] for cell in row] for row in table["rows"]] == [
        ["name", "price"],
        ["milk", "1"],
        ["oat milk", " "],
    ]
    assert [column["align"] for column in table["column_settings"]] == ["left", "right"]
    assert (before["text"]["text"], after["text"]["text"]) == ("Here:", "That is _all_, <@U1>.")
    assert "milk" in sent["text"]


def test_long_code_has_a_block_of_its_own():
    """CH-33, CH-34: nothing in it is taken for a mention; short code stays in the text."""
    sent = payload(f"Look:\n\n{CODE}\n\nDone.")
    assert [block["type"] for block in sent["blocks"]] == ["section", "rich_text", "section"]
    (preformatted,) = sent["blocks"][1]["elements"]
    assert preformatted["language"] == "python"
    assert preformatted["elements"][0]["text"].startswith("print('<!channel>')")
    assert "<!channel>" not in sent["text"]
    assert kinds("```\nshort\n```") == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a plain sentence", []),
        ("a | b, and *more*", []),
        (f"{TABLE}\n\nand\n\n{TABLE}", ["table", "section"]),
        ("| a |\n|---|\n" + "| x |\n" * MOST_ROWS, []),
        ("|" + "a|" * 21 + "\n|" + "---|" * 21 + "\n|" + "x|" * 21, []),
        (f"{'word ' * 700}\n\n{TABLE}", ["section", "section", "table"]),
        (f"> {TABLE.splitlines()[0]}", []),
    ],
    ids=["prose", "no table", "two tables", "too many rows", "too many columns", "long prose", "a quoted line"],
)
def test_what_is_no_table_of_slacks(source, expected):
    """CH-33: a second table and one that is too large are code, as in the text; prose has no blocks."""
    assert kinds(source) == expected


def test_tables_as_bullets_stay_bullets():
    """DE-12: what was configured holds."""
    assert "blocks" not in payload(TABLE, tables="bullets")
    assert "blocks" not in payload(TABLE, tables="off")


def test_a_draft_has_no_blocks():
    """CH-32: a table appears when the message is whole; a draft would jump."""
    assert kinds(TABLE, key="") == []
    assert kinds(TABLE, key="turn/open0/abc") == []


def test_buttons_come_last():
    """CH-33: under the table; up to five, and then a menu."""
    few, many = [tuple(Choice(f"choice {n}", f"/approve {n}") for n in range(count)) for count in (5, 6)]
    assert kinds(TABLE, choices=few) == ["table", "actions"]
    sent = payload("Which one?", choices=many)
    section, actions = sent["blocks"]
    assert section["text"]["text"] == "Which one?"
    assert [element["type"] for element in actions["elements"]] == ["static_select"]


@pytest.mark.parametrize(
    "rows", [[[{"type": "raw_text", "text": ""}]], [[{"type": "raw_text", "text": "x" * 10_001}]], [], [[], []]]
)
def test_the_platform_is_as_strict_as_slack(rows):
    with pytest.raises(Refusal):
        checked_blocks({"blocks": [{"type": "table", "rows": rows}]})


def test_code_is_long_from_here_on():
    assert kinds(f"```\n{'x' * (LONG_CODE - 1)}\n```") == []
    assert kinds(f"```\n{'x' * LONG_CODE}\n```") == ["rich_text"]


@pytest.mark.parametrize(
    "unit", ["&", "<", "[the page](https://example.org/a_page_with_a_name) ", "no-space-", "word ", "line of words\n\n"]
)
@pytest.mark.parametrize("before", range(7))
def test_no_section_tears_anything_apart(unit, before):
    """CH-33, CH-34: what is too long for a section goes on in the next; no link and no escaped character is cut."""
    source = "x" * before + unit * (3900 // max(len(unit), 5))
    sent = payload(source, choices=(Choice("Yes", "yes"),))
    texts = [block["text"]["text"] for block in sent["blocks"][:-1]]
    whole = "".join("".join(texts).split())
    assert whole == "".join(sent["text"].split())
    for text in texts:
        assert not re.search(r"&(?!(?:amp|lt|gt);)", text)
        assert text.count("<") == text.count(">")


def test_choices_that_no_menu_holds_are_typed():
    """CH-33: an empty menu would be refused, and the question with it."""
    many = tuple(Choice(f"Choice {n}", "x" * 80) for n in range(9))
    assert payload("Which?", choices=many).get("blocks", []) == []
    assert (
        payload("Which?", choices=(*many, Choice("Short", "s")))["blocks"][-1]["elements"][0]["options"][0]["value"]
        == "s"
    )


@pytest.mark.parametrize("source", ["<!here>", "&lt;!here>", "&#60;!here>", "[x](!here)", "[x]( <@U1>)", "\\<!here>"])
def test_what_is_inert_is_rendered_as_it_was_written(source):
    """CH-34: a stream takes Markdown; blocks are made of what the agent wrote."""
    still = render.inert(f"a {source} b")
    assert not re.search(r"<[@!#]|\]\(\s*<?[@!#]|&(lt|#60);[@!#]", still)
    assert render.inert(still) == still
    assert render.written(still) == f"a {source} b"
