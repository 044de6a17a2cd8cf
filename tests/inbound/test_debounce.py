"""IN-76: messages of one sender that go on together."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.events import Attachment, Chat, Inbound, Mention, Quote, Sender
from rejoinder.inbound.debounce import DebounceRow, flushes, joined, view, waits_for
from rejoinder.inbound.settings import InboundDebounce
from tests.inbound.floor import NOW, house, says, send

WAIT = timedelta(seconds=1)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def rows(*said: tuple[str, float, bool]) -> list[DebounceRow]:
    return [DebounceRow(str(number), key, at(when), flush) for number, (key, when, flush) in enumerate(said, 1)]


def groups(said: list[DebounceRow], now: float) -> list[list[str]]:
    return [[row.id for row in group] for group in view(said, WAIT, at(now)).ready]


def test_each_message_restarts_the_wait() -> None:
    """IN-76: quiet for the whole wait, then all together."""
    said = rows(("a", 0, False), ("a", 0.9, False), ("a", 1.8, False))
    assert groups(said, 2.7) == []
    assert view(said, WAIT, at(2.7)).look_again == at(2.8)
    assert groups(said, 2.8) == [["1", "2", "3"]]


def test_the_wait_is_capped() -> None:
    """IN-76: at five times its length what came goes on, and a new group begins."""
    said = rows(*(("a", n * 0.9, False) for n in range(8)))
    assert groups(said, 5.0) == [["1", "2", "3", "4", "5", "6"]]
    assert groups(said, 99) == [["1", "2", "3", "4", "5", "6"], ["7", "8"]]


def test_media_and_commands_flush_their_key_first() -> None:
    """IN-76: 1 and 2 go before 4, which goes alone; 3 is another's and waits."""
    said = rows(("a", 0, False), ("a", 0.1, False), ("b", 0.2, False), ("a", 0.3, True))
    assert groups(said, 0.3) == [["1", "2"], ["4"]]
    assert groups(said, 9) == [["1", "2"], ["4"], ["3"]]


def test_without_a_wait_everything_goes_at_once() -> None:
    """IN-76: the default."""
    said = rows(("a", 0, False), ("a", 0, False))
    assert [len(group) for group in view(said, timedelta(0), at(0)).ready] == [1, 1]


def test_by_channel() -> None:
    """IN-76: a channel's own wait, else the common one."""
    settings = InboundDebounce(100, {"telegram": 2000, "web": 0})
    assert waits_for(settings, "telegram") == timedelta(seconds=2)
    assert waits_for(settings, "web") == timedelta(0)
    assert waits_for(settings, "discord") == timedelta(milliseconds=100)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", False),
        ("/status", True),
        ("/think high", True),
        ("stop", True),
        ("/new x", True),
        ("a /t low", False),
    ],
)
def test_what_waits_for_nobody(text: str, expected: bool) -> None:
    """IN-70, IN-76: commands, stop words and media."""
    assert flushes(send(says(text), house()).message) is expected
    assert flushes(send(says(text, attachments=(Attachment("a"),)), house()).message)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 2), st.booleans()), max_size=12),
    st.floats(0, 30),
)
def test_nobody_is_lost_twice_or_out_of_order(said: list[tuple[str, float, bool]], now: float) -> None:
    """IN-76: each row in at most one group, one order per key; looking later only adds groups."""
    when, timed = 0.0, []
    for key, gap, flush in said:
        when += gap
        timed.append((key, when, flush))
    inbox = rows(*timed)
    early, late = groups(inbox, when + now), groups(inbox, when + 100)
    everybody = [id for group in late for id in group]
    assert sorted(everybody, key=int) == [row.id for row in inbox]
    for key in "abc":
        mine = [id for id in everybody if inbox[int(id) - 1].key == key]
        assert mine == sorted(mine, key=int)
    assert all(group in late for group in early)


def test_what_goes_on_together_is_one_message() -> None:
    """IN-76: line by line, under the last one's name; who was meant and quoted stays."""
    first = Inbound("c", "e1", "m1", Chat("1"), Sender("2"), "hey @bot", mentions=(Mention("bot"),))
    second = Inbound("c", "e2", "m2", Chat("1"), Sender("2"), "look", reply_to=Quote("m0"), agent_text="(look)")
    third = Inbound("c", "e3", "m3", Chat("1"), Sender("2"), "there")
    one = joined((first, second, third))
    assert (one.event_id, one.message_id, one.text) == ("e3", "m3", "hey @bot\nlook\nthere")
    assert (one.agent_text, one.raw_text) == ("hey @bot\n(look)\nthere", None)
    assert (one.mentions, one.reply_to) == ((Mention("bot"),), Quote("m0"))
    assert joined((first,)) is first
