"""Who is who: ids from names."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.channels.web.avatars import OWNER, person_id, person_named
from tests.channels.web.browser import a_channel, browsers

AGENTS = ("helper", "Coder")
ODD = [
    "🎉",
    "!!!",
    "\u200b",
    " ",
    "...",
    "_",
    "-",
    "\ud800",
    "Ann!",
    "ann?",
    "ann_",
    "you",
    "You",
    "YOU",
    "all",
    "coder",
]


@pytest.mark.parametrize("name", ODD)
async def test_no_name_is_the_owners(name):
    """An emoji, a sign, an invisible letter: somebody, and never `you`."""
    channel = await a_channel(agents=AGENTS)
    try:
        async with browsers(channel, name.encode("utf-8", "replace").decode()) as [page]:
            me = page.frames[0]["me"]
            assert me["id"] not in (OWNER, "all", *AGENTS)
            assert me["name"].strip()
            assert page.frames[0]["known_by"] == "name"
    finally:
        await channel.close()


@given(st.text())
def test_an_id_is_never_anybody_elses(name):
    """Nor is one empty, whatever the name holds."""
    id = person_id(name, AGENTS)
    assert id
    assert id.casefold() not in (OWNER, "all", "helper", "coder")
    assert person_id(id, AGENTS) == id, "an id names the same person"


def test_other_names_are_other_people():
    """ "Ann!" is not "ann"; upper and lower case, spaces and dashes make no difference."""
    for one, other in combinations(("ann", "Ann!", "ann?", "🎉", "🎈", "ann b", "ann_b", "!", "?"), 2):
        assert person_id(one, ()) != person_id(other, ()), (one, other)
    assert person_id("Ann  B", ()) == person_id("ann-b", ()) == "ann-b"
    assert person_id("José", ()) == person_id("Jose\u0301", ()) == "josé"


def test_a_name_like_the_owners_or_an_agents_is_shown_as_a_guests():
    assert person_named("You", AGENTS).name == "You (guest)"
    assert person_named("Helper", AGENTS).name == "Helper (guest)"
    assert person_named("Ann\x1b[31m\n", AGENTS).name == "Ann [31m"


async def test_the_owner_is_you_to_nobody_else():
    """On the page of others the owner is the owner, unless they have given a name."""
    channel = await a_channel()
    try:
        async with browsers(channel, "", "ann") as [page, ann]:
            assert page.frames[0]["me"]["name"] == "You"
            assert [each["name"] for each in ann.frames[0]["people"] if each["id"] == OWNER] == ["Owner"]
    finally:
        await channel.close()
