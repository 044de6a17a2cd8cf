"""In which order what came is taken, and how far each place has been read."""

import pytest
from msgspec.structs import replace

from rejoinder.channels.slack.places import ON_ITS_WAY, Places, in_order, place_of
from tests.channels.slack.recorded import heard


def test_what_came_together_is_taken_as_it_was_said():
    """CH-30: Slack promises no order for what it sends again; other chats and commands stay where they were."""
    first, other = heard("edited"), heard("direct_message")
    command = heard("slash_command")
    assert first is not None
    assert other is not None
    assert command is not None
    text = replace(first, entry="text", event_id="text", sent_at=first.sent_at.replace(year=2020))
    later = replace(text, event_id="later", sent_at=first.sent_at.replace(year=2030))
    command = replace(command, chat=text.chat)
    came = [later, other, command, first, text]
    assert in_order(came) == [text, other, command, first, later]
    assert in_order(in_order(came)) == in_order(came)


def test_what_nobody_dated_stays():
    """IN-1: an event without a time is taken where it came."""
    message = heard("direct_message")
    assert message is not None
    undated = replace(message, sent_at=None, event_id="undated")
    assert in_order([undated, message]) == [undated, message]


@pytest.mark.parametrize("why", ["others take a share", "history could not be read"])
def test_an_event_moves_no_place_of_which_something_may_be_missing(why):
    """CH-30: it says nothing of those before it; what is read from history does."""
    message = heard("direct_message")
    assert message is not None
    here, places = place_of(message), Places()
    places.recall({here: "1.000000"}, "1.000000")
    assert places.moved_by([message]) == {here: message.message_id}
    if why == "others take a share":
        places.share(is_shared=True)
    else:
        places.not_read(here)
    assert places.moved_by([message]) == {}
    assert places.moved_by([message], is_history=True) == {here: message.message_id}
    places.share(is_shared=False)
    places.read_again(here)
    assert places.moved_by([message]) == {here: message.message_id}


def test_a_new_place_of_which_something_may_be_missing_is_read_from_now_on():
    """CH-30: a thread, for one, which Slack lists nowhere."""
    message = heard("direct_message")
    assert message is not None
    places = Places()
    places.recall({}, "1.000000")
    places.share(is_shared=True)
    moved = places.moved_by([message])
    assert moved == {place_of(message): "1.000000"}
    places.stored([message], moved)
    assert (place_of(message), "1.000000") in places.latest()


@pytest.mark.parametrize(
    ("stored", "began", "since"),
    [
        ({}, "7.000000", "7.000000"),
        ({"C1": "1000.000000", "C2": "2000.500000"}, "", f"{2000 - ON_ITS_WAY}.000000"),
        ({"C1": "1000.000000"}, "990.000000", "990.000000"),
    ],
    ids=["nobody was heard", "listened to before this was kept", "heard soon after the beginning"],
)
def test_where_a_chat_is_read_from_that_is_new(stored, began, since):
    """CH-30: from a while before the latest message that was stored, and never from before somebody listened."""
    places = Places()
    places.recall(stored, began)
    assert places.heard_until == since
