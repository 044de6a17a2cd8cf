"""Where to look for what was missed."""

from rejoinder.channels.discord.places import Places, Unread
from rejoinder.channels.discord.wire import Channel

TEXT, THREAD, FORUM, DIRECT = 0, 11, 15, 1
SINCE = "5000"
"""The newest message that is stored anywhere."""


def places(*channels: Channel, read: dict[str, str] | None = None) -> Places:
    known = Places()
    for channel in channels:
        known.learn(channel)
    for place, message in (read or {}).items():
        known.note_read(place, message)
    return known


def test_where_something_newer_is_told():
    """CH-20: after what is stored there, or after the newest message of all; a forum itself has no messages."""
    known = places(
        Channel("10", TEXT, last_message_id="6000"),
        Channel("20", TEXT, last_message_id="6000"),
        Channel("30", TEXT, last_message_id="4000"),
        Channel("40", FORUM, last_message_id="6000"),
        read={"10": "5500"},
    )
    found = known.unread(SINCE, 10)
    assert sorted(found, key=lambda each: each.place) == [Unread("10", "5500"), Unread("20", SINCE)]


def test_archived_threads_and_direct_chats_are_asked_the_latest_first():
    """CH-20: nobody tells of them. In a thread of which nothing is stored, only what came since the newest message of
    all is new, not the whole of it."""
    known = places(
        Channel("100", THREAD, parent_id="1"),
        Channel("200", THREAD, parent_id="1"),
        Channel("5200", THREAD, parent_id="1"),
        Channel("300", DIRECT),
        Channel("400", DIRECT),
        read={"200": "4000", "300": "3000"},
    )
    asked = [Unread("5200", "5200"), Unread("200", "4000"), Unread("300", "3000"), Unread("100", SINCE)]
    assert known.unread(SINCE, 10) == asked
    assert known.unread(SINCE, 2) == asked[:2]


def test_a_new_session_tells_it_anew():
    """CH-20: a thread that is not named any more was archived, and may have been written in before."""
    known = places(Channel("100", THREAD, parent_id="1", last_message_id="4000"), read={"100": "4000"})
    assert known.unread(SINCE, 10) == []
    known.begin()
    assert known.unread(SINCE, 10) == [Unread("100", "4000")]
