"""The places where people and agents talk: one for each chat and thread of each channel."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import date

from rejoinder.channels.base import CanNote, CanReact, Channel, Delivered
from rejoinder.events import Inbound, Part, Route, Said
from rejoinder.inbound.bots import BotTurns, Seen, count_turn
from rejoinder.inbound.facts import Step
from rejoinder.outbound import plan
from rejoinder.outbound.deeds import Open, keyed
from rejoinder.outbound.plan import Planned, Wording
from rejoinder.outbound.redact import redact
from rejoinder.runtime.abilities import can
from rejoinder.runtime.messages import Messages
from rejoinder.runtime.outbox import Outbox
from rejoinder.runtime.sender import Fate, Sent
from rejoinder.runtime.settings import ChannelFacts
from rejoinder.store.base import Message

TRACES = 1000
PATIENCE = 5.0
"""Seconds for which who says something waits for the platform; it is said all the same."""


class Conversation:
    """One place of one channel: its messages, and the one line on which things are said there."""

    def __init__(self, channel: Channel, route: Route, outbox: Outbox, how: ChannelFacts) -> None:
        self.channel = channel
        self.route = route
        self.how = how
        self.outbox = outbox
        self.sender = outbox.at(route)
        self.sender.noted = self._noted
        self.messages = Messages()
        self.arrived: deque[Inbound] = deque()  # what has not been decided yet, in the order in which it came
        self.overheard: tuple[Said, ...] = ()  # said since the agent was last asked (IN-32)
        self.other_bot = False
        self.bot_turns = BotTurns()
        self._traces: dict[str, tuple[Step, ...]] = {}

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

    async def find(self, reference: str) -> str | None:
        """The platform id behind a handle or an id, if it is a message of this conversation (OD-52)."""
        return self.messages.find(reference)

    # --- what the gateway says itself --------------------------------------------------------------

    async def send(self, text: str, *, reply_to: str | None = None, silent: bool = False) -> str | None:
        """Says something of the gateway's own; the platform id, or None when it was not taken, or not yet."""
        wording = Wording(reply_to=reply_to, silent=silent)
        return await self._post(
            plan.say(redact(text), self.route, self.how.speech.manner, wording, self.outbox.new_stem())
        )

    async def begin(self, text: str, *, silent: bool) -> str | None:
        """Opens a message that grows, on a channel that can show one."""
        part = Part(route=self.route, text=text, silent=silent)
        return await self._post([Planned(*keyed(Open(part), self.outbox.new_stem()))])

    async def _post(self, planned: list[Planned]) -> str | None:
        fates = self.sender.post(planned)
        if fates:
            await asyncio.wait(fates, timeout=PATIENCE)
        return _message_of(fates[0]) if fates else None

    def _noted(self, message: Message) -> None:
        self.messages.add(message.id, message.text, ours=True)

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


def _message_of(fate: "asyncio.Future[Fate]") -> str | None:
    known = fate.result() if fate.done() and not fate.cancelled() else None
    return known.message if isinstance(known, Sent) else None


class Conversations:
    def __init__(self, channels: Mapping[str, Channel], outbox: Outbox, how: Callable[[str], ChannelFacts]) -> None:
        self._channels = channels
        self._outbox = outbox
        self._how = how
        self._places: dict[Route, Conversation] = {}

    def of(self, message: Inbound) -> Conversation:
        route = Route(message.channel, message.chat.id, message.thread, message.account)
        if route not in self._places:
            channel = self._channels[message.channel]
            self._places[route] = Conversation(channel, route, self._outbox, self._how(message.channel))
        return self._places[route]

    def at(self, route: Route) -> Conversation | None:
        return self._places.get(route)
