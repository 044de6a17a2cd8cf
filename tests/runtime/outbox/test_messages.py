"""The latest messages of a conversation (OD-22); giving handles is the store's."""

from datetime import UTC, datetime
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from rejoinder.events import Route
from rejoinder.runtime.outbox.messages import MessageIndex
from rejoinder.store.base import IndexedMessage, NoteMessages, Store
from rejoinder.wiring.stores import open_store

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HERE = Route("fake", "room")


def noted(number: int) -> IndexedMessage:
    return IndexedMessage(f"id{number}", "ann", NOW, text=f"text {number}", number=number)


async def test_what_is_no_longer_remembered_is_looked_up():
    """DU-5: memory is bounded, the index is in the store."""
    store = open_store("sqlite::memory:")
    try:
        await store.write(NoteMessages(HERE, tuple(noted(n) for n in (1, 2, 3))))
        messages = MessageIndex(store, HERE, remembered=2)
        await messages.read(NOW)
        assert (messages.find("m1"), messages.find("m3"), messages.handle("id2")) == (None, "id3", "m2")
        assert messages.count == 3
        found = await messages.look_up("m1")
        assert found is not None
        assert found.text == "text 1"
        assert await messages.look_up("m4") is None
    finally:
        await store.close()


@given(st.lists(st.integers(1, 6)))
def test_a_handle_is_remembered_as_long_as_its_message(told: list[int]):
    """DU-5: whatever is told again or looked up, in whatever order."""
    messages = MessageIndex(cast("Store", None), HERE, remembered=3)
    for number in told:
        messages.add(noted(number))
    latest = {f"id{number}" for number in list(dict.fromkeys(reversed(told)))[:3]}
    assert {messages.find(f"m{number}") for number in range(1, 7)} - {None} == latest
    assert {message for message in latest if messages.get(message) is not None} == latest


async def test_what_was_taken_back_cannot_be_pointed_at():
    store = open_store("sqlite::memory:")
    try:
        messages = MessageIndex(store, HERE)
        messages.add(noted(1))
        messages.forget("id1")
        assert messages.find("m1") is messages.find("id1") is None
    finally:
        await store.close()
