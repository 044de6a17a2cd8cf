"""Finds a part whose delivery is unknown among the messages of the history (CH-35): pure.

Rule 1: a message is recognised by our key in its metadata.
Rule 2: a message with files has no key. It is recognised by the ids that Slack gave the files. A process that did not
        upload them itself recognises it by the names and sizes of the files and by whether it has words, and leaves out
        messages that are known to be others.
Rule 3: a stream carries no key while it grows, and a place has only one stream.
"""

from msgspec import Struct

from rejoinder.channels.slack.payloads import OPENING, key_of
from rejoinder.channels.slack.wire import Message
from rejoinder.events import Part

IN_PROGRESS = "in_progress"


class PartSearch(Struct, frozen=True):
    part: Part
    others: frozenset[str] = frozenset()
    """Ids of messages that are certainly not this part."""
    files: tuple[str, ...] = ()
    """Slack's ids for its files; empty if this process does not know them."""

    def is_it(self, each: Message) -> bool:
        part = self.part
        if part.files:
            return each.ts not in self.others and self._has_its_files(each)
        if OPENING in part.key and each.streaming_state == IN_PROGRESS:
            return True
        return bool(part.key) and key_of(each.metadata) == part.key

    def _has_its_files(self, each: Message) -> bool:
        if self.files:
            return {file.id for file in each.files} == {*self.files}
        if bool(each.text.strip()) != bool(self.part.text.strip()):
            return False
        there = sorted((file.name, file.size or 0) for file in each.files)
        return there == sorted((file.name, file.size or 0) for file in self.part.files)
