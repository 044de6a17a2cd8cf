"""Chooses how a place shows an unfinished answer: the way that is closest to the configured one (DE-20).

Rule 1: other people's bots would take a draft for the answer, so nothing unfinished is shown where they are (DE-21).
        Our own agents get each other's messages through their channel, which reports only whole ones.
Rule 2: if another owner sends what we plan, there are only whole messages.
Rule 3: it is no error if the platform lacks a way: the next best is used, and the last one is the whole answer at its
        end.
"""

from typing import Final

from msgspec import Struct

from rejoinder.outbound.draft import Streaming
from rejoinder.outbound.verdict import Recognises

OFF: Final = Streaming("off")
LIVE: Final = Streaming("live")


class DraftAbilities(Struct, frozen=True):
    """How a place can show an unfinished answer."""

    read_by_bots: bool = False
    """Other people's bots read what is said there."""
    opens_place: bool = False
    """A message to it opens a new place, such as a post in a forum, so there is no message here to change."""
    grows: bool = False
    """A message can be fed piece by piece, however long it gets."""
    edits: bool = False
    """A message can be changed after it was sent."""
    previews: bool = False
    """Unfinished text can be shown without being a message."""
    recognises: Recognises = "nothing"
    elsewhere: bool = False
    """Its home has another owner, who sends what is planned for it (SC-1)."""


def streaming_for(wanted: Streaming, there: DraftAbilities) -> Streaming:
    """The way to use. Blocks are whole messages, so they only need a place in which they stay."""
    if wanted.mode == "off" or there.read_by_bots or there.opens_place:
        return OFF
    if wanted.mode == "blocks":
        return wanted
    if there.elsewhere:
        return OFF
    if there.grows:
        return LIVE
    if not there.edits:
        return OFF
    mode = "preview" if wanted.mode == "preview" and there.previews else "edits"
    return Streaming(mode, wanted.pace, placeholder=there.recognises in ("openings", "nothing"))
