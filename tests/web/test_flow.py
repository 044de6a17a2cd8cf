"""What the console is told, and that what it remembers is bounded (DU-5)."""

from datetime import UTC, datetime
from types import SimpleNamespace

import msgspec

from rejoinder.events import Chat, Inbound, MessageReceived, ReplySent, ReplyStarted, Route, Sender, TurnEnded
from rejoinder.store.base import InboxEvent
from rejoinder.web import flow
from rejoinder.web.metrics import Metrics


async def test_places_without_a_word_are_forgotten(monkeypatch):
    """In most groups nobody means us: each would be kept for ever."""
    monkeypatch.setattr(flow, "REMEMBERED", 3)
    watched = flow.Flow(SimpleNamespace(), Metrics())
    for number in range(9):
        inbound = Inbound("web", f"{number}", f"{number}", Chat(f"group-{number}"), Sender("anna"), "hi")
        await watched.received(MessageReceived(inbound))
    assert [chat for _, chat, _ in watched._waiting_since] == ["group-6", "group-7", "group-8"]


async def test_the_first_word_is_the_first_that_people_see():
    """Of an answer that is still being written, not the whole of it; one that comes whole is its own first word."""
    watched, place = flow.Flow(SimpleNamespace(), Metrics()), Route("web", "lobby")
    for number in range(2):
        await watched.received(MessageReceived(said(f"{number}")))
        if number == 0:
            await watched.started(ReplyStarted(place, 1))
            assert len(watched._first_words) == 1
        await watched.sent(ReplySent(place, "w9", "Hello.", 1))
        assert len(watched._first_words) == number + 1


async def test_after_a_restart_a_row_has_its_words_and_its_sender():
    """A turn that is resumed is about a message that came to the process before."""
    event = InboxEvent(1, said("w1"), datetime(2026, 1, 1, tzinfo=UTC))

    async def events_of(message: str) -> tuple[InboxEvent, ...]:
        return (event,) if message == "w1" else ()

    house = SimpleNamespace(store=SimpleNamespace(events_of=events_of), channel=SimpleNamespace(name="web"))
    watched = flow.Flow(house, Metrics())
    for _ in range(2):
        await watched.turn_ended(TurnEnded("s", "ada", Route("web", "lobby"), "w1", "answered", turn=1))
    shown = [msgspec.json.decode(frame) for frame in watched.recent]
    assert [frame["type"] for frame in shown] == ["received", "turn", "turn"]
    assert (shown[0]["sender"], shown[0]["text"]) == ("anna", "hi")


async def test_a_beginning_ends_like_one():
    """Words are not cut off as if the message ended there."""
    watched = flow.Flow(SimpleNamespace(), Metrics())
    for text in ("a" * 200, "a" * 201):
        await watched.sent(ReplySent(Route("web", "lobby"), "w9", text, 1))
    assert [msgspec.json.decode(frame)["text"] for frame in watched.recent] == ["a" * 200, "a" * 199 + "…"]


def said(id: str) -> Inbound:
    return Inbound("web", id, id, Chat("lobby"), Sender("anna"), "hi")
