"""DE-20, DE-21: the way of showing an unfinished answer that comes nearest to what is wanted."""

from itertools import product
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from rejoinder.outbound.draft import Streaming
from rejoinder.outbound.streaming import DraftAbilities, streaming_for
from rejoinder.outbound.verdict import Recognises

PLACES = {
    "nothing": DraftAbilities(),
    "edits": DraftAbilities(edits=True),
    "edits, previews": DraftAbilities(edits=True, previews=True),
    "previews alone": DraftAbilities(previews=True),
    "grows": DraftAbilities(grows=True),
    "all": DraftAbilities(grows=True, edits=True, previews=True),
}
WANTED = ("live", "edits", "preview", "blocks", "off")
SHOWN = {
    "nothing": ("off", "off", "off", "blocks", "off"),
    "edits": ("edits", "edits", "edits", "blocks", "off"),
    "edits, previews": ("edits", "edits", "preview", "blocks", "off"),
    "previews alone": ("off", "off", "off", "blocks", "off"),
    "grows": ("live", "live", "live", "blocks", "off"),
    "all": ("live", "live", "live", "blocks", "off"),
}
"""What is shown, by what the place can do and by what is wanted."""
CASES = [(place, wanted, shown) for place, row in SHOWN.items() for wanted, shown in zip(WANTED, row, strict=True)]


@pytest.mark.parametrize(("place", "wanted", "shown"), CASES)
def test_the_nearest_way_is_taken(place: str, wanted: Any, shown: str):
    """DE-20."""
    assert streaming_for(Streaming(wanted), PLACES[place]).mode == shown


@pytest.mark.parametrize(("place", "wanted"), list(product(PLACES, WANTED)))
@pytest.mark.parametrize("why", ["read_by_bots", "opens_place"])
def test_nothing_unfinished_is_shown(place: str, wanted: Any, why: str):
    """DE-21: not where other people's bots would take it for the answer, nor where no message stays to be changed."""
    assert streaming_for(Streaming(wanted), replace(PLACES[place], **{why: True})) == Streaming("off")


@pytest.mark.parametrize(("place", "wanted"), list(product(PLACES, WANTED)))
def test_where_somebody_else_sends_there_are_only_whole_messages(place: str, wanted: Any):
    """SC-1."""
    shown = streaming_for(Streaming(wanted), replace(PLACES[place], elsewhere=True)).mode
    assert shown == ("blocks" if wanted == "blocks" else "off")


PLACEHOLDER = {"keys": False, "messages": False, "openings": True, "nothing": True}


@pytest.mark.parametrize("recognises", get_args(Recognises))
@pytest.mark.parametrize("wanted", ["edits", "preview"])
def test_a_placeholder_opens_where_words_could_appear_twice(recognises: Any, wanted: Any):
    """DU-3: unless the platform can tell whether an opening with words has arrived."""
    there = DraftAbilities(edits=True, previews=True, recognises=recognises)
    expected = Streaming(wanted, 2.5, placeholder=PLACEHOLDER[recognises])
    assert streaming_for(Streaming(wanted, 2.5), there) == expected


def test_blocks_keep_their_sizes():
    """DE-22."""
    wanted = Streaming("blocks", least=10, most=20, idle=3.0)
    assert streaming_for(wanted, DraftAbilities()) is wanted
