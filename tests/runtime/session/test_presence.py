"""The typing sign beside what is said: it waits for nobody, and nobody waits for it (TU-24)."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rejoinder.outbound.typing import TypingSettings
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.session.presence import TypingSign
from tests.crash.virtual_time import VirtualTime


class Place:
    """A conversation as far as a typing sign sees it. The platform takes so many seconds for each sign."""

    def __init__(self, takes: float = 0, *, speaking: bool = False, room: bool = True) -> None:
        self.route, self.channel, self.shown = "here", self, 0
        self._takes, self._room = takes, room
        self.sender = SimpleNamespace(is_speaking=speaking, pace=self, check=lambda: None)

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
        async with Runs() as runs:
            settings = TypingSettings(delay_ms=0, period_ms=1000)
            with TypingSign(runs, cast("Conversation", place), "instant", settings):
                await asyncio.sleep(9.5)
            await asyncio.sleep(100)

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())
    assert is_right(place.shown)
