"""IN-33: turns are counted by group and by person, for one day, across restarts."""

from datetime import UTC, datetime, timedelta

from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.runtime.place.turn_counts import TurnCounts
from rejoinder.store.base import Accept, BeginTurn, Destination, RouteEvent
from rejoinder.wiring.stores import open_store

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
TOMORROW = NOW + timedelta(days=1)


def said(chat: str, sender: str, thread: str | None = None) -> Inbound:
    return Inbound("fake", f"{chat}-{sender}", "1", Chat(chat, "group"), Sender(sender), "x", thread=thread)


async def test_by_group_and_by_person_until_the_day_ends():
    """What the store has counted is counted on."""
    store = open_store("sqlite::memory:")
    try:
        (event,) = await store.write(Accept((said("lab", "bob", "t1"),), NOW))
        begun = BeginTurn("s", Route("fake", "lab", "t1"), (event.id,), NOW)
        await store.write(RouteEvent(event.id, (Destination("s"),)), begun)
        turn_counts = TurnCounts(store)
        ann = said("lab", "ann")
        assert (await turn_counts.of_group(ann, NOW), await turn_counts.of_sender(ann, NOW)) == (1, 0)
        turn_counts.add(ann, NOW)
        assert (await turn_counts.of_group(ann, NOW), await turn_counts.of_sender(ann, NOW)) == (2, 1)
        assert await turn_counts.of_group(ann, TOMORROW) == 0
    finally:
        await store.close()
