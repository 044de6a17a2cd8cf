"""What is written on the page, as the gateway takes it."""

import pytest

from rejoinder.channels.web.inbounds import inbound
from rejoinder.channels.web.nouns import Message, Room
from rejoinder.inbound.rooms import who_wakes

AGENTS = ("ada", "bo", "cy")


@pytest.mark.parametrize("here", [AGENTS, ("ada", "bo")], ids=["all agents", "some agents"])
@pytest.mark.parametrize(("author", "woken"), [("ann", True), ("ada", False)])
def test_all_is_said_by_people_alone(here: tuple[str, ...], author: str, woken: bool) -> None:
    """IN-25: `@all` by a person wakes everybody in the room, whichever agents those are; by an agent nobody."""
    room, said = Room("lab", "group", "Lab", here), Message("w1", "lab", author, 0, 1, "hello @all")
    heard = inbound("web", 1, said, room, author, AGENTS)
    assert who_wakes(heard, here, "lead") == (here if woken else ())
