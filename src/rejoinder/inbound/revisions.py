"""An edit by a person where it is no new message (CH-8): it changes what waits, or is told, and fires no turn."""

from rejoinder.events import ReviseMessage
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Drop


def revision_of(message: InboundMessage) -> Drop | None:
    """Where the channel declares `edits = "told"`, an edit of somebody who is let in goes no further."""
    if not message.facts.edits_told:
        return None
    return Drop("an edit is not a new message here", effects=(ReviseMessage(message.inbound.message_id, message.text),))
