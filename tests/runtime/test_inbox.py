"""What came in is taken once (DU-1)."""

import pytest
from msgspec.structs import replace

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime.inbox import Inbox

MESSAGE = Inbound("fake", "e1", "1", Chat("c"), Sender("ann"), "hi")


@pytest.mark.parametrize(
    ("change", "new"),
    [
        ({}, False),
        ({"text": "edited", "message_id": "2"}, False),
        ({"event_id": "e2"}, True),
        ({"account": "other"}, True),
        ({"channel": "web"}, True),
    ],
)
def test_an_event_is_taken_once(change, new):
    """DU-1: deduplicated by channel, account and event id."""
    inbox = Inbox()
    assert inbox.take(MESSAGE)
    assert inbox.take(replace(MESSAGE, **change)) is new


def test_the_inbox_has_a_bounded_memory():
    inbox = Inbox(remembered=2)
    for event in ("e1", "e2", "e3"):
        assert inbox.take(replace(MESSAGE, event_id=event))
    assert not inbox.take(replace(MESSAGE, event_id="e3"))
    assert inbox.take(replace(MESSAGE, event_id="e1"))
