"""The typing sign beside what is said: it waits for nobody, and never follows a message (TU-24)."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rejoinder.events import Part
from rejoinder.outbound.operations import Amend, Open, React, Say
from rejoinder.outbound.plan import PlannedOperation
from rejoinder.outbound.typing import TypingSettings
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.typing_calls import TypingCalls
from rejoinder.runtime.session.presence import JUST_SHOWN, StatusSigns, TypingSign
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing import FakeMessenger
from rejoinder.testing.patience import PATIENCE
from rejoinder.turns.status import State, StatusSettings
from tests.crash.virtual_time import VirtualTime
from tests.runtime.places import place


class Place:
    """A conversation as far as a typing sign sees it. The platform takes so many seconds for each sign."""

    def __init__(self, takes: float = 0, *, speaking: bool = False, room: bool = True) -> None:
        self.route, self.channel, self.shown = "here", self, 0
        self._takes, self._room = takes, room
        self.sender = SimpleNamespace(
            is_speaking=speaking,
            pace=self,
            check=lambda: None,
            typing_calls=TypingCalls(),
        )

    def has_room(self, what: str) -> bool:
        return self._room and what == "typing"

    async def typing(self, route: Any, *, author: str = "") -> None:
        self.shown += 1
        await asyncio.sleep(self._takes)


@pytest.mark.parametrize(
    ("place", "is_right"),
    [
        (Place(), lambda shown: shown > 3),
        (Place(takes=50), lambda shown: shown == 1),
        (Place(speaking=True), lambda shown: shown == 0),
        (Place(room=False), lambda shown: shown == 0),
    ],
    ids=["each period", "a slow platform", "a message is on its way", "the budget is spent"],
)
def test_a_sign_is_dropped_rather_than_queued(place, is_right):
    """TU-24: an own rate budget; what cannot be shown now is not shown later."""

    async def main() -> None:
        async with Tasks() as tasks:
            settings = TypingSettings(delay_ms=0, period_ms=1000)
            with TypingSign(tasks, cast("Conversation", place), "instant", settings):
                await asyncio.sleep(9.5)
            await asyncio.sleep(100)

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())
    assert is_right(place.shown)


def test_no_sign_follows_words_that_were_shown_just_now():
    """TU-24: a frame of a draft may be the last thing that changes; a sign after it would promise more."""
    place = Place()

    async def main() -> None:
        async with Tasks() as tasks:
            settings = TypingSettings(delay_ms=400, period_ms=6000)
            with TypingSign(tasks, cast("Conversation", place), "instant", settings):
                await asyncio.sleep(0.3)
                with place.sender.typing_calls.speaking():
                    await asyncio.sleep(0)
                await asyncio.sleep(5)
                assert place.shown == 0
                await asyncio.sleep(2)
                assert place.shown == 1

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())


class SlowToType(FakeMessenger):
    """Takes a sign only when it is let; notes the order in which it takes things."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[str] = []
        self.asked, self.let = asyncio.Event(), asyncio.Event()

    async def typing(self, route: Any, *, author: str = "") -> None:
        self.asked.set()
        try:
            await self.let.wait()
        except asyncio.CancelledError:
            self.taken.append("called back")
            raise
        self.taken.append("typing")

    async def send(self, part: Any) -> Any:
        self.taken.append(part.text)
        return await super().send(part)


@pytest.mark.parametrize("kind", [Say, Open, Amend])
async def test_words_wait_for_no_sign(kind):
    """TU-24: one that is on its way is called back as soon as there are words, before they are committed; so it leaves
    before them or not at all. The message that opens a draft may show the whole answer already."""
    async with place(SlowToType()) as here:
        with TypingSign(here.tasks, here.conversation, "instant", TypingSettings(delay_ms=0)):
            await here.channel.asked.wait()
            (sent,) = here.conversation.sender.post([PlannedOperation("k", _words(kind, here))])
            await asyncio.sleep(0)  # to be told so
            assert here.channel.taken[:1] == ["called back"]
            await sent
        assert here.channel.taken == ["called back", "Hi."]


async def test_what_others_wrote_waits_for_no_sign_either():
    """TU-24: nor does a message that another process or the console has left in the store."""
    async with place(SlowToType()) as here:
        with TypingSign(here.tasks, here.conversation, "instant", TypingSettings(delay_ms=0)):
            await here.channel.asked.wait()
            here.outbox.wake(here.route)
            await asyncio.sleep(0)
            assert here.channel.taken == ["called back"]


@pytest.mark.parametrize("kind", [Say, Open, Amend, React])
async def test_no_sign_begins_just_after_anything_was_sent(kind):
    """TU-24: the message that opens a draft may show the whole answer already, and a reaction may follow the words; a
    sign after them would promise more."""
    async with place(SlowToType()) as here:
        signs = here.conversation.sender.typing_calls
        assert signs.is_quiet(JUST_SHOWN)
        operation = React("1", "👍") if kind is React else _words(kind, here)
        (sent,) = here.conversation.sender.post([PlannedOperation("k", operation)])
        await sent
        assert not signs.is_quiet(JUST_SHOWN)


def _words(kind: Any, here: Any) -> Any:
    part = Part(here.conversation.route, "Hi.", key="k")
    return Amend("1", part) if kind is Amend else kind(part)


class Clumsy(FakeMessenger):
    """Fails with the first reaction it is given."""

    def __init__(self, problem: type[BaseException]) -> None:
        super().__init__()
        self.problem: type[BaseException] | None = problem

    async def react(self, route: Any, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Any:
        if self.problem is not None:
            problem, self.problem = self.problem, None
            raise problem("by nought")
        return await super().react(route, message, emoji, remove=remove, author=author)


@pytest.mark.parametrize("problem", [ZeroDivisionError, SystemExit, asyncio.CancelledError])
async def test_a_reaction_that_fails_holds_up_none_behind_it(problem):
    """TU-25: a channel may be anybody's code."""
    async with asyncio.timeout(PATIENCE), place(Clumsy(problem)) as here:
        shown = await here.conversation.send("hello")
        signs = StatusSigns(here.tasks, here.conversation, shown, StatusSettings(enabled=True))
        signs.became(State.QUEUED)
        signs.ended(ok=True)
        await here.rests()
        assert here.channel.messages[shown].reactions
