"""Whoever owns the gateway is told when something was given up, in a direct chat where one is known (DE-32).

Rule 1: a chat is not told about itself: who blocked the bot would not hear it, and a notice that failed would make
        another one.
Rule 2: once an hour for each chat: a person who went away costs one line, not one for each answer.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from rejoinder.events import DeliveryFailed, Route
from rejoinder.runtime.conversations import Conversations
from rejoinder.runtime.recent import Bounded
from rejoinder.runtime.runs import Runs

MOST_CHATS: Final = 1000
AGAIN_AFTER: Final = timedelta(hours=1)
GIVEN_UP: Final = (
    "A message to {channel} {chat} was given up: {why}\n`/resend` there sends it again; `rejoinder dead` lists it."
)


class Owners:
    def __init__(self, conversations: Conversations, runs: Runs, clock: Callable[[], datetime]) -> None:
        self._conversations = conversations
        self._runs = runs
        self._clock = clock
        self._at: dict[str, Route] = {}  # by channel, whoever wrote last behind the others
        self._told: Bounded[Route, datetime] = Bounded(MOST_CHATS)

    def wrote(self, route: Route) -> None:
        """An owner has said something in a direct chat."""
        self._at.pop(route.channel, None)
        self._at[route.channel] = route

    async def hear(self, failed: DeliveryFailed) -> None:
        now, route = self._clock(), self._place_for(failed.route)
        told = self._told.get(failed.route)
        if route is None or (told is not None and now - told < AGAIN_AFTER):
            return
        conversation = self._conversations.at(route)
        if conversation is not None:
            self._told[failed.route] = now
            notice = GIVEN_UP.format(channel=failed.route.channel, chat=failed.route.chat, why=failed.why)
            self._runs.start("notice", conversation.tell(notice))

    def _place_for(self, failed: Route) -> Route | None:
        here = self._at.get(failed.channel)
        others = [route for route in reversed(self._at.values()) if route.channel != failed.channel]
        return next((route for route in (here, *others) if route is not None and route != failed), None)
