"""Parts as Discord takes them."""

import pytest

from rejoinder.channels.discord import payloads
from rejoinder.channels.discord.payloads import SILENT, SUPPRESS_EMBEDS
from rejoinder.events import Attachment, Choice, Part, Route

HERE = Route("discord", "1")


def test_nobody_is_pinged_but_who_is_addressed():
    """CH-27, DE-34: no reply ping, no role, no everyone; of the addressed only those with an id."""
    allowed = payloads.message(Part(HERE, "hi <@5> <@6>", reply_to="3", addressed=("5", "@bob", "5")))
    assert allowed["allowed_mentions"] == {"parse": [], "users": ["5"], "replied_user": False}


def test_a_reply_is_a_reply_or_refused():
    """CH-21: never an ordinary message instead."""
    sent = payloads.message(Part(HERE, "hi", reply_to="3"))
    assert sent["message_reference"] == {"message_id": "3", "fail_if_not_exists": True}


def test_the_nonce_follows_from_the_key():
    """CH-28: the same for the same part, short enough, and none without a key."""
    one, again, other = (payloads.message(Part(HERE, "hi", key=key)) for key in ("turn:1:0", "turn:1:0", "turn:1:1"))
    assert one["nonce"] == again["nonce"] != other["nonce"]
    assert len(one["nonce"]) <= payloads.LONGEST_NONCE
    assert one["enforce_nonce"] is True
    assert "nonce" not in payloads.message(Part(HERE, "hi"))


@pytest.mark.parametrize(
    ("part", "flags"),
    [
        (Part(HERE, "hi"), SUPPRESS_EMBEDS),
        (Part(HERE, "hi", previews=True), 0),
        (Part(HERE, "hi", silent=True), SUPPRESS_EMBEDS | SILENT),
    ],
)
def test_flags(part, flags):
    """CH-27: links are not shown unless the agent wants it."""
    assert payloads.message(part).get("flags", 0) == flags


def test_a_few_choices_are_buttons_and_many_are_a_menu():
    """CH-26."""
    few = [Choice(f"Option {number}", f"/answer q1 {number}") for number in range(5)]
    (row,) = payloads.components(few)
    assert [button["custom_id"] for button in row["components"]] == [choice.says for choice in few]
    ((menu,),) = (row["components"] for row in payloads.components([*few, Choice("Sixth", "/answer q1 5")]))
    assert (menu["type"], len(menu["options"])) == (payloads.SELECT, 6)


def test_a_choice_that_fits_no_button_gets_none():
    choices = [Choice("A" * 200, "short"), Choice("B", "x" * 101), Choice("C", "short")]
    (row,) = payloads.components(choices)
    assert [(button["label"], button["custom_id"]) for button in row["components"]] == [("C", "short")]


def test_an_edit_takes_the_buttons_away():
    """CH-10: after the answer the buttons go."""
    assert payloads.change(Part(HERE, "hi"))["components"] == []


def test_files_are_named():
    files = (Attachment("1", "a.txt"), Attachment("2"))
    assert payloads.message(Part(HERE, "", files=files))["attachments"] == [
        {"id": "0", "filename": "a.txt"},
        {"id": "1", "filename": "file-1"},
    ]
