"""Finds a part whose delivery is unknown among the messages of the history (CH-35): pure.

Rule 1: a message is known by our key in its metadata.
Rule 2: one with files has no key. It is known by the ids that Slack gave the files; a process that did not bring them
        itself knows it by their names and sizes and whether there are words with them, and takes none that is known to
        be another message.
Rule 3: a stream carries no key while it grows, and one place has one.
"""

from msgspec import Struct

from rejoinder.channels.slack.payloads import OPENING, key_of
from rejoinder.channels.slack.wire import Message
from rejoinder.events import Part

IN_PROGRESS = "in_progress"


class PartSearch(Struct, frozen=True):
    part: Part
    others: frozenset[str] = frozenset()
    """Messages that are certainly others."""
    files: tuple[str, ...] = ()
    """The ids of its files; none: they are not known here."""

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
