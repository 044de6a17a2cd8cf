"""The places where people and agents talk: one for each chat and thread of each channel."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from datetime import date

from rejoinder.channels.base import CanNote, CanReact, CanStream, Channel, Delivered, Outcome
from rejoinder.events import Choice, Inbound, Part, ReplySent, Route, Said
from rejoinder.inbound.bots import BotTurns, Seen, count_turn
from rejoinder.inbound.facts import Step
from rejoinder.runtime.abilities import can
from rejoinder.runtime.hooks import Tell
from rejoinder.runtime.messages import Messages

log = logging.getLogger(__name__)

TRACES = 1000


def _nobody(_: object) -> None:
    """Nobody wants to know."""


class Conversation:
    """One place of one channel: its messages, and the one line on which things are said there."""

    def __init__(self, channel: Channel, route: Route, tell: Tell = _nobody) -> None:
        self._tell = tell
        self.channel = channel
        self.route = route
        self.messages = Messages()
        self.arrived: deque[Inbound] = deque()  # what has not been decided yet, in the order in which it came
        self.overheard: tuple[Said, ...] = ()  # said since the agent was last asked (IN-32)
        self.other_bot = False
        self.bot_turns = BotTurns()
        self._traces: dict[str, tuple[Step, ...]] = {}
        self._line = asyncio.Lock()

    def heard(self, inbound: Inbound, today: date) -> None:
        """Notes a message of somebody's, whatever becomes of it (OD-52). A native command is no message."""
        sender = inbound.sender
        if inbound.entry != "native" and self.messages.get(inbound.message_id) is None:
            self.messages.add(inbound.message_id, inbound.text, sender.display_name or sender.name)
        if sender.is_self or inbound.entry == "reaction":
            return
        self.other_bot = self.other_bot or sender.is_bot
        self.bot_turns = count_turn(self.bot_turns, Seen("bot" if sender.is_bot else "human", today))

    def spoke(self, today: date) -> None:
        """An agent of ours has had its turn here."""
        self.bot_turns = count_turn(self.bot_turns, Seen("own", today))

    async def send(
        self, text: str, *, reply_to: str | None = None, silent: bool = False, choices: tuple[Choice, ...] = ()
    ) -> str | None:
        """Says one whole message; its platform id, or None when the platform did not take it."""
        part = Part(route=self.route, text=text, reply_to=reply_to, silent=silent, choices=choices)
        async with self._line:
            sent = self._receipt(await self.channel.send(part), text)
        if sent is not None:
            self._tell(ReplySent(self.route, sent, text))
        return sent

    async def begin(self, channel: CanStream, text: str, *, reply_to: str | None, silent: bool) -> str | None:
        part = Part(route=self.route, text=text, reply_to=reply_to, silent=silent)
        async with self._line:
            return self._receipt(await channel.begin(part), text)

    def completed(self, message: str, text: str) -> None:
        """A message that was growing is whole."""
        self.messages.add(message, text, ours=True)
        self._tell(ReplySent(self.route, message, text))

    def _receipt(self, outcome: Outcome, text: str) -> str | None:
        if isinstance(outcome, Delivered):
            self.messages.add(outcome.message, text, ours=True)
            return outcome.message
        log.warning("%s did not take a message: %s", self.channel.name, outcome.reason)
        return None

    async def note(self, text: str) -> None:
        if can(self.channel, CanNote):
            await self.channel.note(self.route, text)

    async def mark(self, message: str, emoji: str) -> bool:
        """A sign of the gateway's own on somebody's message, where the platform shows such signs."""
        if not can(self.channel, CanReact):
            return False
        return isinstance(await self.channel.react(self.route, message, emoji), Delivered)

    # --- what became of each message (IN-64) ------------------------------------------------------

    def trace(self, message: str, steps: Iterable[Step]) -> None:
        """Adds to what is told about a message."""
        self._traces[message] = (*self._traces.get(message, ()), *steps)
        if len(self._traces) > TRACES:
            del self._traces[next(iter(self._traces))]

    def trace_of(self, message: str | None) -> tuple[Step, ...]:
        """What became of this message; without one, of the last."""
        if message is not None and message in self._traces:
            return self._traces[message]
        return next(reversed(self._traces.values()), ())


class Conversations:
    def __init__(self, channels: Iterable[Channel], tell: Tell) -> None:
        self._tell = tell
        self._channels = {channel.name: channel for channel in channels}
        self._places: dict[Route, Conversation] = {}

    def of(self, message: Inbound) -> Conversation:
        route = Route(message.channel, message.chat.id, message.thread, message.account)
        if route not in self._places:
            self._places[route] = Conversation(self._channels[message.channel], route, self._tell)
        return self._places[route]

    def open(self, route: Route) -> Conversation | None:
        """The place to say something unasked; None when there is no such channel."""
        if route not in self._places and route.channel in self._channels:
            self._places[route] = Conversation(self._channels[route.channel], route, self._tell)
        return self._places.get(route)

    def at(self, route: Route) -> Conversation | None:
        return self._places.get(route)
