"""What the console remembers is bounded (DU-5)."""

from types import SimpleNamespace

from rejoinder.events import Chat, Inbound, MessageReceived, Sender
from rejoinder.web import flow
from rejoinder.web.metrics import Metrics


async def test_places_without_a_word_are_forgotten(monkeypatch):
    """In most groups nobody means us: each would be kept for ever."""
    monkeypatch.setattr(flow, "REMEMBERED", 3)
    watched = flow.Flow(SimpleNamespace(), Metrics())
    for number in range(9):
        inbound = Inbound("web", f"{number}", f"{number}", Chat(f"group-{number}"), Sender("anna"), "hi")
        await watched.received(MessageReceived(inbound))
    assert [chat for _, chat, _ in watched._asked] == ["group-6", "group-7", "group-8"]
