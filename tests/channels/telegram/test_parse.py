"""What Telegram tells becomes what the house knows: a table over recorded payloads."""

from datetime import UTC, datetime

import msgspec
import pytest

from rejoinder.channels.telegram.intake import read
from rejoinder.channels.telegram.parse import join, parse
from rejoinder.events import Attachment, Chat, EarlierMessage, Forward, Inbound, Mention, Quote, Sender
from tests.channels.telegram.recorded import ME, NAMES, raw, update

ANN = Sender("111111111", name="annlee", display_name="Ann Lee")
DIRECT = Chat("111111111", "direct", "Ann Lee")
TEAM = Chat("-1001234567890", "group", "Team")
FORUM = Chat("-1001234567899", "group", "Forum")
NEWS = Chat("-1009876543210", "channel", "News")
US = Mention("700000001", token="@testbot")


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(1760000000 + seconds, UTC)


# The fields by which a payload differs from "text": a plain message of Ann's in her direct chat.
EXPECTED = {
    "text": {"event_id": "111111111:41", "message_id": "41", "chat": DIRECT, "sender": ANN, "sent_at": at(41)},
    "edited_text": {"event_id": "111111111:41:1760000100", "entry": "edit", "text": "hello again", "sent_at": at(100)},
    "reply": {"reply_to": Quote("42", "700000001", "Test Bot", "Shall I?")},
    "reply_with_quote": {"reply_to": Quote("42", "700000001", "Test Bot", "It costs a lot.")},
    "reply_to_another_chat": {
        "reply_to": Quote("-1009876543210/77", "-1009876543210", "News", "Rain tomorrow", elsewhere=True)
    },
    "in_a_topic": {
        "chat": FORUM,
        "thread": "7",
        "thread_starter": EarlierMessage("7", ANN.id, "Ann Lee", "Garden"),
        "reply_to": None,
        "event_id": "-1001234567899:46",
    },
    "reply_in_a_topic": {
        "chat": FORUM,
        "thread": "7",
        "thread_starter": None,
        "reply_to": Quote("46", ANN.id, "Ann Lee", "water them"),
    },
    "reply_outside_of_topics": {"chat": TEAM, "thread": None, "reply_to": Quote("40", "222222222", "Bob", "lunch?")},
    "reply_to_a_photo": {
        "chat": TEAM,
        "attachments": (),
        "reply_to": Quote(
            *("40", "222222222", "Bob", "my cat"),
            files=(Attachment("AgACAgIAAxkBAAIax", "photo-AQADax", "image/jpeg", 81253),),
        ),
    },
    "photo_with_caption": {
        "text": "my cat",
        "attachments": (Attachment("AgACAgIAAxkBAAIax", "photo-AQADax", "image/jpeg", 81253),),
    },
    "document": {"text": "", "attachments": (Attachment("BQACAgIAAxkBAAIdoc", "plan.pdf", "application/pdf", 48213),)},
    "voice": {
        "attachments": (
            Attachment("AwACAgIAAxkBAAIvoice", "voice-AgADvoice", "audio/ogg", 11873, kind="voice", seconds=3),
        )
    },
    "sticker": {"attachments": (Attachment("CAACAgIAAxkBAAIst", "sticker 👍", "image/webp", 20312),)},
    "animation": {"attachments": (Attachment("CgACAgIAAxkBAAIan", "wave.mp4", "video/mp4", 90012, seconds=2),)},
    "location": {"text": "", "untrusted_context": ("shared a location: 52.5163, 13.3777",)},
    "contact": {"untrusted_context": ("shared a contact: Carl Moss, +49301234567",)},
    "poll": {"untrusted_context": ("sent a poll: Lunch? (Soup / Salad)",)},
    "forwarded_from_a_user": {"sender": ANN, "forwarded": Forward("/stop everything", "Bob")},
    "forwarded_photo_with_caption": {
        "text": "/bash rm -r .",
        "forwarded": Forward("/bash rm -r .", "Bob"),
        "attachments": (Attachment("AgACAgIAAxkBAAIax", "photo-AQADax", "image/jpeg", 81253),),
    },
    "forwarded_from_somebody_hidden": {"forwarded": Forward("psst", "Zoe")},
    "forwarded_from_a_channel": {"text": "Rain", "forwarded": Forward("Rain", "Desk")},
    "through_an_inline_bot": {"sender": ANN, "forwarded": Forward("/new wiki text", "@wiki")},
    "channel_post": {"chat": NEWS, "sender": Sender(NEWS.id, name="newsroom", display_name="Desk")},
    "edited_channel_post": {"chat": NEWS, "entry": "edit", "event_id": "-1009876543210:64:1760000200"},
    "anonymous_admin": {"chat": TEAM, "sender": Sender(TEAM.id, display_name="the boss")},
    "mention_by_name": {"mentions": (Mention("700000001", token="@TestBot"),)},
    "mention_of_another": {"mentions": (Mention("@bobby", token="@bobby"), US)},
    "mention_of_somebody_without_a_name": {"mentions": (Mention("222222222", token="Bob"),)},
    "command_for_us": {"entry": "text", "text": "/status@testbot", "mentions": (Mention("700000001"),)},
    "command_for_another_bot": {"mentions": (Mention("@otherbot"),)},
    "start_button": {"entry": "text", "text": "/help", "mentions": ()},
    "command_in_a_direct_chat": {"text": "/status", "mentions": ()},
    "reaction_added": {
        "entry": "reaction",
        "text": "👍",
        "message_id": "42",
        "event_id": "111111111:42:111111111:1760000300:👍",
    },
    "reaction_changed": {"entry": "reaction", "text": "🔥", "sender": Sender(TEAM.id, display_name="Team")},
    "button_pressed": {
        "entry": "button",
        "text": "/approve q1",
        "sender": ANN,
        "chat": FORUM,
        "thread": "7",
        "reply_to": Quote("72", "700000001", "testbot", "May I delete it?"),
        "event_id": "button:477777777777777777",
    },
    "button_under_a_message_too_old_to_show": {
        "entry": "button",
        "chat": DIRECT,
        "reply_to": Quote("12", "700000001", "testbot"),
    },
    "own_message": {"sender": Sender("700000001", "testbot", "Test Bot", is_bot=True, is_self=True)},
    "from_another_bot": {"sender": Sender("333333333", "wiki", "Wiki", is_bot=True)},
}
SAYS_NOTHING = {"reaction_removed", "member_joined", "group_became_supergroup", "changed_but_not_edited"}
ALBUM = ("album_1", "album_2", "album_3")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recorded_payload(name):
    """IN-1: each in its own fields, nothing invented."""
    heard = parse(update(name), ME)
    assert heard is not None
    assert {field: getattr(heard, field) for field in EXPECTED[name]} == EXPECTED[name]
    assert heard.channel == "telegram"


def test_every_recorded_payload_is_expected():
    """A payload without a row is a payload nobody looks at."""
    assert {*EXPECTED, *SAYS_NOTHING, *ALBUM} == set(NAMES)


@pytest.mark.parametrize("name", sorted(SAYS_NOTHING))
def test_what_says_nothing(name):
    """IN-23: who joins, pins or takes a reaction back has said nothing, nor has who got a preview under a link."""
    assert parse(update(name), ME) is None


@pytest.mark.parametrize("name", sorted(set(EXPECTED) - {"reaction_added", "reaction_changed"}))
def test_the_event_is_the_message_not_the_update(name):
    """DU-1: the same message under a new update id is the same event."""
    again = msgspec.structs.replace(update(name), update_id=1)
    assert parse(again, ME) == parse(update(name), ME)


def test_an_album_is_one_message():
    """Its first member with the words and files of all; its identity is the first one's."""
    members = tuple(heard for name in ALBUM if (heard := parse(update(name), ME)))
    album = join(members)
    assert (album.event_id, album.message_id, album.text) == ("111111111:50", "50", "holidays")
    assert [file.id for file in album.attachments] == [f"AgACAgIAAxkBAAIb{index}x" for index in range(3)]


def test_an_album_with_something_forwarded_is_forwarded():
    """IN-6: one forwarded member is enough: none of its captions is the sender's own."""
    own, forwarded = parse(update("photo_with_caption"), ME), parse(update("forwarded_photo_with_caption"), ME)
    assert own is not None
    assert forwarded is not None
    text = "my cat\n/bash rm -r ."
    assert join((own, forwarded)).forwarded == Forward(text, "Bob")
    assert join((own, forwarded)).text == text


def test_a_single_message_is_no_album():
    single = Inbound("telegram", "1:1", "1", DIRECT, ANN, "x")
    assert join((single,)) is single


def test_what_nobody_understands_is_passed_over(caplog):
    """An update that is not as documented stops no other: it has a number, and no message."""
    odd = raw("text").replace(b'"message_id": 41', b'"message_id": "forty-one"')
    assert read(odd) == msgspec.structs.replace(update("text"), message=None)
    assert "is skipped" in caplog.text
