"""Where an agent may send on its own (OD-52)."""

import pytest

from rejoinder.events import Route
from rejoinder.inbound.ids import Ids
from rejoinder.inbound.reach import is_listed, refusal
from rejoinder.inbound.rules import AgentProfile, Rules, make_rules
from rejoinder.inbound.settings import ChannelSettings, InboundSettings


def rules(**said: object) -> Rules:
    channels = {"telegram": ChannelSettings(agent="ada", **said), "slack": ChannelSettings(agent="bo")}  # type: ignore[arg-type]
    return make_rules(InboundSettings(channels=channels), (AgentProfile("ada"), AgentProfile("bo")))


def may(
    chat: str,
    here: Rules,
    *,
    channel: str = "telegram",
    known: bool = False,
    direct: bool | None = True,
    paired: bool = False,
) -> bool:
    return refusal(Route(channel, chat), "ada", here, allow=None, paired=paired, known=known, direct=direct) is None


def test_only_where_people_are_let_in() -> None:
    """OD-52: owners, allowed and paired people, listed groups; never an id that is nobody's."""
    here = rules(allow=("11",), allow_groups=("-22",), owners=("33",))
    assert [chat for chat in ("11", "-22", "33", "44", "-55") if may(chat, here)] == ["11", "-22", "33"]
    assert may("44", here, paired=True)
    assert not may("44", here, known=True)


def test_an_open_channel_has_chats_that_are_known() -> None:
    """OD-52: where everybody is let in, only a chat in which somebody has written."""
    here = rules(dm="open")
    assert may("44", here, known=True)
    assert not may("44", here)


def test_a_stranger_who_has_written_is_not_let_in_because_groups_are() -> None:
    """OD-52: each door lets in who comes through it; of a chat whose kind is forgotten, both have to be open."""
    groups, both = rules(groups="open"), rules(dm="open", groups="open")
    assert not may("44", groups, known=True)
    assert may("-55", groups, known=True, direct=False)
    assert not may("-55", rules(dm="open"), known=True, direct=False)
    assert not may("44", groups, known=True, direct=None)
    assert may("44", both, known=True, direct=None)


def test_only_the_channels_it_serves() -> None:
    """OD-52: another agent's channel is not its own, and one that is off lets nobody in."""
    assert not may("C1", rules(), channel="slack", known=True, paired=True)
    assert not may("11", rules(dm="off", allow=("11",)))


def test_only_the_rooms_it_is_in() -> None:
    """OD-52: a person's direct chat with another agent of the same channel is not its own."""
    here, route = rules(dm="open"), Route("telegram", "44")
    told = [
        refusal(route, "ada", here, allow=None, paired=True, known=True, direct=True, members=members)
        for members in (("bo",), ("bo", "ada"), ())
    ]
    assert told == ["ada is not in this chat; add this chat to `directives.send_to` to allow it", None, None]


def test_what_an_owner_took_off_the_list() -> None:
    """OD-52: the list as it is now counts."""
    gone = refusal(Route("telegram", "11"), "ada", rules(allow=("11",)), allow=Ids(), paired=False, known=True)
    assert gone is not None


@pytest.mark.parametrize(("entry", "listed"), [("slack:C1", True), ("C1", True), ("telegram:C1", False), ("C2", False)])
def test_the_operators_list(entry: str, listed: bool) -> None:
    """OD-52: `directives.send_to` names chats, with their channel or without."""
    assert is_listed(Route("slack", "C1"), (entry,)) is listed
