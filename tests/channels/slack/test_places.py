"""In which order what came is taken."""

from msgspec.structs import replace

from rejoinder.channels.slack.places import in_order
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
