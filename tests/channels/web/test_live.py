"""What browsers on other processes are told of the moment (SC-14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.channels.base import MOST_LIVE_BYTES, SharesLiveUpdates
from rejoinder.channels.web.live import (
    MOST_AHEAD,
    MOST_SIGNS,
    MOST_WORDS,
    LiveFrame,
    LiveInlet,
    LiveOutlet,
    TextGrew,
    utf16,
)
from rejoinder.channels.web.protocol import Delta, TypingNow
from tests.channels.web.browser import a_channel


def heard(*said: str, told_to: int = 100) -> list[TextGrew | LiveFrame]:
    shown: list[TextGrew | LiveFrame] = []
    inlet = LiveInlet(shown.append)
    for each in said:
        inlet.hear(each, told_to)
    return shown


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=3000), max_size=12))
async def test_words_arrive_where_they_belong(pieces: list[str]) -> None:
    """Merged, in pieces that fit into a notification, each at the length before it; nothing is lost below the limit."""
    outlet, at = LiveOutlet(), 5
    for piece in pieces:
        outlet.show(Delta("room", "w1", at, piece), None, None)
        at += utf16(piece)
    outlet.logged(7)
    said = await outlet.take()
    assert all(len(each.encode()) <= MOST_LIVE_BYTES for each in said)
    at, text = 5, ""
    for grew in heard(*said):
        assert isinstance(grew, TextGrew)
        assert grew.at == at
        at, text = at + utf16(grew.text), text + grew.text
    assert text == "".join(pieces)


@pytest.mark.parametrize("letter", ["a", "\0", "🎈", '"'])
async def test_too_much_is_left_out(letter: str) -> None:
    """Of a message that grows too fast nothing is told any more until it is complete; others are not held up."""
    outlet = LiveOutlet()
    outlet.show(Delta("room", "w1", 0, letter * MOST_WORDS), None, None)
    outlet.show(Delta("room", "w1", 0, letter), None, None)
    outlet.show(Delta("room", "w2", 0, "hello"), None, None)
    outlet.show(Delta("room", "w1", 0, letter), None, None)
    assert heard(*await outlet.take()) == [TextGrew("w2", 0, "hello")]
    outlet.ended("w1")
    outlet.show(Delta("room", "w1", 9, "again"), None, None)
    assert heard(*await outlet.take()) == [TextGrew("w1", 9, "again")]


async def test_what_is_complete_is_not_told_in_pieces() -> None:
    outlet = LiveOutlet()
    outlet.show(Delta("room", "w1", 0, "hello"), None, None)
    outlet.ended("w1")
    assert heard(*await outlet.take()) == []


async def test_a_sign_is_told_once() -> None:
    """And there is a limit to them; one that is too long for a notification is left out."""
    outlet = LiveOutlet()
    outlet.show(TypingNow("x" * MOST_LIVE_BYTES, "ann"), None, None)
    for number in range(2 * MOST_SIGNS):
        for _ in range(2):
            outlet.show(TypingNow("room", f"ann{number}"), "bob", "eve")
    said = await outlet.take()
    assert all(len(each.encode()) <= MOST_LIVE_BYTES for each in said)
    shown = heard(*said)
    assert len(shown) == len(set(shown)) == MOST_SIGNS - 1
    assert shown[0] == LiveFrame('{"type":"typing","room":"room","who":"ann0"}', "bob", "eve")


async def test_news_wait_for_the_log() -> None:
    """What was logged before them is told before them, and only so many wait."""
    outlet, shown = LiveOutlet(), list[TextGrew | LiveFrame]()
    inlet = LiveInlet(shown.append)
    for seq in range(1, MOST_AHEAD + 3):
        outlet.logged(seq)
        outlet.show(Delta("room", f"w{seq}", 0, "hello"), None, None)
        (said,) = await outlet.take()
        assert inlet.hear(said, told_to=0)
    inlet.told(5)
    assert shown == [TextGrew(f"w{seq}", 0, "hello") for seq in (3, 4, 5)]
    assert not inlet.hear("nothing that we know", 5)


async def test_the_page_shares_nothing_where_it_is_alone() -> None:
    """On a store of one process nothing is made for others."""
    channel = await a_channel()
    assert isinstance(channel, SharesLiveUpdates)
    assert channel.hub.elsewhere is None
    await channel.close()
