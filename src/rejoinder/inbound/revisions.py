"""Edits by people, on channels where an edit is no new message (CH-8): it changes a waiting message or is told to the
agent, and starts no turn."""

from rejoinder.events import ReviseMessage
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Drop


def revision_of(message: InboundMessage) -> Drop | None:
    """If the channel declares `edits = "told"`, an edit of somebody who is let in goes no further."""
    if not message.facts.edits_told:
        return None
    return Drop("an edit is not a new message here", effects=(ReviseMessage(message.inbound.message_id, message.text),))
