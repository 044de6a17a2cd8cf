"""Messages with buttons that a process has left open."""

import asyncio
from datetime import timedelta

import pytest

from rejoinder.channels.base import Rejected, RetryAfter, Unknown
from rejoinder.events import Choice, Entity, Part, Route
from rejoinder.outbound.operations import Say, decode
from rejoinder.outbound.plan import close_offer
from rejoinder.runtime.outbox.offers import close_left_open
from rejoinder.runtime.outbox.part_keys import OFFERS
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.testing import FakeMessenger
from tests.runtime.places import place

CHOICES = (Choice("Allow once", "/approve q1"), Choice("Deny", "/approve q1 deny"))
ASKED = "May I *delete* it?\n\n/approve q1 allows it once."
OVER = "No longer asked."


async def restarted(here) -> None:
    here.restart()
    await close_left_open(here.store, here.outbox, OVER, {})
    await here.rests()


async def test_what_was_left_open_is_closed_once():
    """TU-34: after a restart nobody waits for an answer; the message says so, and has nothing to press."""
    async with place(FakeMessenger()) as here:
        here.conversation.offer(ASKED, CHOICES, "q1", WriteBatch())
        await here.rests()
        for _ in range(2):
            await restarted(here)
        assert here.seen() == ["May I delete it?\n\nNo longer asked."]
        assert here.channel.calls == ["send", "edit"]
        asked, closed = (decode(row.body).part for row in await here.store.parts_under(OFFERS))
        assert (asked.choices, closed.choices) == (CHOICES, ())
        assert closed.entities == asked.entities


async def test_what_was_answered_stays_as_it_is():
    """TU-34: also where its closing was planned and not sent."""
    async with place(FakeMessenger()) as here:
        close = here.conversation.offer(ASKED, CHOICES, "q1", WriteBatch())
        await here.rests()
        here.channel.fails(RetryAfter(60, "502"))
        close("May I?\n\nAllowed once.", "")
        await asyncio.sleep(0)  # it hears that the question has arrived
        await here.rests()
        here.ahead = timedelta(hours=1)
        await restarted(here)
        here.sender.wake(rows=True)
        await here.rests()
        assert here.seen() == ["May I?\n\nAllowed once."]


@pytest.mark.parametrize(("pressed", "seen"), [(True, "May I?\n\nAllowed once."), (False, "May I delete it?")])
async def test_a_button_that_was_pressed_is_there(pressed, seen):
    """TU-34, DU-3: of a question whose fate is unknown the press tells where it is; without one it cannot be closed."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(Unknown("reset"), accepted=True)
        close = here.conversation.offer(ASKED, CHOICES, "q1", WriteBatch())
        await here.rests()
        (there,) = here.channel.messages
        close("May I?\n\nAllowed once.", there if pressed else "")
        await asyncio.sleep(0)  # it hears what became of the question
        await here.rests()
        assert [text.partition("\n\n/")[0] for text in here.seen()] == [seen]


async def test_one_that_is_still_to_be_sent_is_closed_when_it_is():
    async with place(FakeMessenger()) as here:
        here.channel.fails(RetryAfter(60, "502"))
        here.conversation.offer(ASKED, CHOICES, "q1", WriteBatch())
        await here.rests()
        here.ahead = timedelta(hours=1)
        await restarted(here)
        assert here.seen() == ["May I delete it?\n\nNo longer asked."]


@pytest.mark.parametrize("outcome", [Unknown("reset"), Rejected("kicked", "gone")])
async def test_one_that_nobody_can_find_is_left_alone(outcome):
    """DU-3: held or dead, it has no message to change."""
    async with place(FakeMessenger()) as here:
        here.channel.fails(outcome)
        here.conversation.offer(ASKED, CHOICES, "q1", WriteBatch())
        await here.rests()
        await restarted(here)
        assert here.channel.calls == ["send"]


@pytest.mark.parametrize(
    ("text", "becomes", "entities"),
    [
        ("May I 👍?\n\nIt is all.\n\n/approve q1", "May I 👍?\n\nIt is all.\n\nOver.", 1),
        ("May I 👍?\n\n/approve q1", "May I 👍?\n\nOver.", 1),
        ("/approve q1 allows it.", "Over.", 0),
    ],
)
def test_how_to_answer_gives_way_to_what_became_of_it(text, becomes, entities):
    """What it asked stays as it was rendered; formats of what goes, go."""
    marks = (Entity("bold", 0, 9), Entity("code", 11, 99))
    part = Part(Route("telegram", "1"), text, entities=marks, choices=CHOICES, key="k")
    (planned,) = close_offer(Say(part), "7", "Over.", "offer/1")
    changed = planned.operation.part
    assert (changed.text, changed.entities, changed.choices) == (becomes, marks[:entities], ())
    assert planned.operation.message == "7"
    assert planned.key.startswith("offer/1/instead/")
