"""What is asked of Telegram, as the Bot API takes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.channels.telegram import payloads
from rejoinder.events import Choice, Entity, MenuCommand, Part, Route
from rejoinder.testing.platform.telegram.strict import MOST_ENTITIES, check_entities
from rejoinder.testing.platform.telegram.world import found_entities, units

DIRECT = Route("telegram", "111")
NO_PREVIEW = {"link_preview_options": {"is_disabled": True}}


@pytest.mark.parametrize(
    ("part", "payload"),
    [
        (Part(DIRECT, "hi"), {"chat_id": 111, "text": "hi", **NO_PREVIEW}),
        (
            Part(DIRECT, "hi", reply_to="42", silent=True),
            {
                "chat_id": 111,
                "text": "hi",
                **NO_PREVIEW,
                "disable_notification": True,
                "reply_parameters": {"message_id": 42, "allow_sending_without_reply": False},
            },
        ),
        (
            Part(Route("telegram", "-100", "7"), "hi", previews=True),
            {"chat_id": -100, "message_thread_id": 7, "text": "hi", "link_preview_options": {"is_disabled": False}},
        ),
        (Part(Route("telegram", "-100", "1"), "hi"), {"chat_id": -100, "text": "hi", **NO_PREVIEW}),
        (
            Part(DIRECT, "a b", entities=(Entity("bold", 0, 1), Entity("text_link", 2, 1, url="https://x.org"))),
            {
                "chat_id": 111,
                "text": "a b",
                **NO_PREVIEW,
                "entities": [
                    {"type": "bold", "offset": 0, "length": 1},
                    {"type": "text_link", "offset": 2, "length": 1, "url": "https://x.org"},
                ],
            },
        ),
        (
            Part(DIRECT, "May I?", choices=(Choice("Allow", "/approve q1"), Choice("Long", "x" * 65))),
            {
                "chat_id": 111,
                "text": "May I?",
                **NO_PREVIEW,
                "reply_markup": {"inline_keyboard": [[{"text": "Allow", "callback_data": "/approve q1"}]]},
            },
        ),
    ],
    ids=["plain", "reply silent", "topic with previews", "general topic", "entities", "buttons"],
)
def test_a_message(part, payload):
    """DE-34: entities instead of a parse mode, previews off, a reply to the message that was meant."""
    assert payloads.message(part) == payload


def test_what_is_said_in_an_edit():
    """A reply stays one and a message is announced once: an edit says neither."""
    assert payloads.content(Part(DIRECT, "new", reply_to="1", silent=True)) == {"text": "new", **NO_PREVIEW}


@pytest.mark.parametrize(("chat", "id"), [("-1001", -1001), ("42", 42), ("@newsroom", "@newsroom")])
def test_where(chat, id):
    assert payloads.chat(Route("telegram", chat, "7")) == {"chat_id": id}


@pytest.mark.parametrize(("emoji", "shown"), [("❤️", [{"type": "emoji", "emoji": "❤"}]), (None, [])])
def test_a_reaction(emoji, shown):
    """OD-71: spelled as Telegram spells it; none takes it away."""
    assert payloads.reaction(emoji) == {"reaction": shown}


def test_the_menu_has_what_telegram_takes():
    """IN-60: a name with a dash cannot be in the menu; it would make Telegram refuse all of it."""
    menu = [MenuCommand(*each) for each in (("help", "x" * 300), ("export-session", "y"), ("Big", "z"), ("silent", ""))]
    assert payloads.commands(menu) == [{"command": "help", "description": "x" * 256}]


@pytest.mark.parametrize(
    ("text", "entities", "addressed", "shown"),
    [
        ("ask @bob", (), (), [("code", 4, 4)]),
        ("ask @bob", (), ("@Bob",), []),
        ("😀 @bob!", (), (), [("code", 3, 4)]),
        ("a@bob.org and https://x.org/@bob/1", (), (), []),
        ("x/@bob", (), (), [("code", 2, 4)]),
        ("**@bob**", (), (), [("code", 2, 4)]),
        ("say @bob now", (Entity("bold", 0, 12),), (), [("bold", 0, 4), ("code", 4, 4), ("bold", 8, 4)]),
        ("say @bob now", (Entity("code", 0, 12),), (), [("code", 0, 12)]),
        ("say @bob", (Entity("blockquote", 0, 8),), (), [("blockquote", 0, 8), ("code", 4, 4)]),
    ],
)
def test_a_name_calls_nobody(text, entities, addressed, shown):
    """DE-34: a name the agent wrote is shown and calls nobody but the addressed person."""
    sent = payloads.message(Part(DIRECT, text, entities=entities, addressed=addressed))
    assert sent["text"] == text
    assert [(each["type"], each["offset"], each["length"]) for each in sent.get("entities", [])] == shown


WORDS = st.lists(
    st.sampled_from(["@ann", "@bob", "x", "😀", " ", "\n", "é", "/@ann", "a@b", "https://x.org/@ann"]),
    min_size=1,
    max_size=12,
)


@given(WORDS, st.data())
def test_whatever_is_written_telegram_takes_it_and_nobody_is_called(words, data):
    """DE-34: with any format over any names, the entities are sound and no name is a mention any more."""
    text = "".join(words)
    size = units(text)
    cuts = [0, *(units("".join(words[:index])) for index in range(1, len(words))), size]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(cuts), st.sampled_from(cuts))))
    formats = (Entity(data.draw(st.sampled_from(["bold", "blockquote", "code"])), start, end - start),)
    sent = payloads.message(Part(DIRECT, text, entities=formats if end > start else ()))
    entities = sent.get("entities", [])
    check_entities(text, entities)
    assert not [each for each in found_entities(text, entities) if each["type"] == "mention"]


@pytest.mark.parametrize("around", [None, "bold", "blockquote"])
def test_more_names_than_telegram_has_entities_for(around):
    """DE-34: it looks at a hundred; who is named behind them is not called either."""
    text = " ".join(f"@person{number}" for number in range(150)) + " end"
    formats = () if around is None else (Entity(around, 0, len(text)),)
    entities = payloads.message(Part(DIRECT, text, entities=formats))["entities"]
    check_entities(text, entities)
    assert len(entities) <= MOST_ENTITIES
    assert not [each for each in found_entities(text, entities) if each["type"] == "mention"]
