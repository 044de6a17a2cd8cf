"""Turns that nobody asked for: heartbeats and jobs of the clock (TU-28).

They go through the same lane as everybody's, one after the other, and wait for whatever runs. There is no message
they answer: their words go to the place they were given, and where there is none they are kept and logged.
"""

import logging
from collections import deque

from msgspec import Struct

from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome
from rejoinder.events import Chat, Inbound, Part, Route, Sender
from rejoinder.inbound.facts import Facts, Me
from rejoinder.inbound.message import Message

log = logging.getLogger(__name__)

MOST_KEPT = 1000


class Background(Struct, frozen=True, kw_only=True):
    """A turn without a trigger. `session` is whose memory it has, `target` where its words go."""

    id: str
    agent: str
    session: str
    text: str
    target: Route | None = None
    model: str | None = None


def message_of(turn: Background, route: Route) -> Message:
    """The turn as a message that nobody sent."""
    inbound = Inbound(
        route.channel,
        event_id=turn.id,
        message_id="",
        chat=Chat(route.chat),
        sender=Sender(""),
        text=turn.text,
        account=route.account,
        thread=route.thread,
        entry="cron",
    )
    choices = {} if turn.model is None else {"model": turn.model}
    return Message(inbound, Facts(Me(turn.agent, turn.agent)), turn.text, refusal=None, choices=choices)


class Nowhere:
    """The place of words that have no place: never lost in silence."""

    name = "nowhere"
    limits = Limits()

    def __init__(self) -> None:
        self.kept: deque[Part] = deque(maxlen=MOST_KEPT)
        self._count = 0

    def route(self, session: str) -> Route:
        return Route(self.name, session)

    async def listen(self, deliver: Inlet) -> None:
        """Nobody writes here."""

    async def send(self, part: Part) -> Outcome:
        self._count += 1
        self.kept.append(part)
        log.warning("%s: a turn in the background has no target, its words are kept: %s", part.route.chat, part.text)
        return Delivered(f"kept-{self._count}")
