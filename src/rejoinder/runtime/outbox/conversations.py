"""The conversations of people and agents: one for each chat and thread of each channel."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import filterfalse

from msgspec.structs import replace

from rejoinder.bounded import Bounded
from rejoinder.channels.base import CanDelete, CanEdit, CanNotifyOperator, CanReact
from rejoinder.events import Choice, EarlierMessage, Inbound, NewThread, Quote, ReplyContext, Route, Step
from rejoinder.inbound.bots import BotTurns, CountedMessage, count_turn
from rejoinder.outbound import plan
from rejoinder.outbound.operations import React, keyed
from rejoinder.outbound.plan import AnswerWording, PlannedOperation, Slot
from rejoinder.outbound.redact import redact
from rejoinder.rendering.emoji import project
from rejoinder.runtime.abilities import can
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, message_of
from rejoinder.runtime.outbox.offers import SAYS, Close
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.outbox.overhearing import OverheardMessages, earlier_message
from rejoinder.runtime.outbox.part_keys import offer
from rejoinder.runtime.outbox.performing import intent
from rejoinder.runtime.recent import Recent
from rejoinder.runtime.services import Services
from rejoinder.runtime.serving import serving
from rejoinder.runtime.settings import ChannelFacts
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import IndexedMessage, NoteMessages, PlanParts

log = logging.getLogger(__name__)

TRACES = 50
PATIENCE = 5.0
"""Seconds that the caller of `send` waits for the platform; the message is sent anyway."""
COMMANDING = frozenset({"abort", "inline_directives", "skills", "inline_commands", "commands"})
"""The stages that answer requests to the gateway itself."""
ROOT = "root"
"""An agent's name for the message that its thread hangs under, if the thread has the id of that message."""


class Conversation:
    """One conversation of one channel: its messages, and its one sender."""

    def __init__(self, route: Route, services: Services, outbox: Outbox) -> None:
        self.channel = serving(services.channels, route)
        self.route = route
        self.store = services.store
        self.outbox = outbox
        self.sender = outbox.at(route)
        self.messages = self.sender.messages
        self._settings = services.settings
        self.overheard = OverheardMessages(route, services.store, self.channel, self.messages)
        self.bot_turns = BotTurns()
        self._traces: Bounded[str, tuple[Step, ...]] = Bounded(TRACES)
        self.is_open = False
        """Whether what the store knows of it has been read."""

    def will_open(self, thread: NewThread) -> None:
        """The conversation is a thread that its first words will open (CH-2), unless something has been said in it."""
        self.messages.will_open(thread)

    def set_bot_turns(self, turns: BotTurns) -> None:
        """Sets how many turns of bots have followed each other here."""
        self.bot_turns = turns

    @property
    def opening(self) -> NewThread | None:
        """The thread that the next words will open; None if it exists."""
        return self.messages.opening

    @property
    def is_elsewhere(self) -> bool:
        """Whether its home has another owner, who sends what is said here (SC-1)."""
        return self.messages.facts.elsewhere

    async def open(self, now: datetime) -> None:
        """Reads what the store knows of this conversation: once, or every time if another owner sends here."""
        if self.is_open:
            return
        await self.messages.read(now)
        facts = self.messages.facts
        self.bot_turns = BotTurns(
            facts.bot_turns, facts.bot_turns, facts.bot_turns, facts.bot_turns_today, now.astimezone(UTC).date()
        )
        self.is_open = not facts.elsewhere

    @property
    def settings(self) -> ChannelFacts:
        """What is configured for its channel."""
        return self._settings.now.channel(self.route.channel)

    # --- messages ---------------------------------------------------------------------------------

    async def count_bot_turns(self, inbound: Inbound, now: datetime, *, ours: bool) -> BotTurns:
        """The turns of bots, this message included (IN-23). `ours`: one of our own agents said it.

        The index counts every message once, including our own; a message counted earlier adds nothing here.
        """
        if inbound.sender.is_self or inbound.entry in ("reaction", "delete"):
            return self.bot_turns
        today = now.date()
        if not inbound.sender.is_bot:
            return count_turn(self.bot_turns, CountedMessage("human", today))
        counted = await self.store.place(self.route, now)
        known = ours and (not inbound.message_id or await self.messages.look_up(inbound.message_id) is not None)
        if known:  # its receipt may have been written between the two reads: now it is certainly counted
            counted = await self.store.place(self.route, now)
        turns = replace(self.bot_turns, in_a_row=counted.bot_turns, today=counted.bot_turns_today, day=today)
        return count_turn(turns, CountedMessage("echo" if known else "bot", today))

    async def words_of(self, message: str) -> str | None:
        """The text of a message, as far as the index knows it."""
        known = await self.messages.look_up(message)
        return known.text if known is not None else None

    def messages_to_index(
        self, inbounds: Sequence[Inbound], now: datetime, *, readable: bool, ours: bool
    ) -> NoteMessages:
        """Every message goes into the index, whatever happens to it (OD-52); a stranger's goes in without its text.

        A native command, a reaction and a hand-off between agents are not messages. A quoted message is one, even if
        the channel did not report it when it was written. An edit is the same message with its new text.
        """
        fresh: list[IndexedMessage] = []
        for inbound in inbounds:
            if self._is_news(inbound):
                words = (inbound.text or inbound.besides_text) if readable else ""
                fresh.append(_noted(inbound, now, words, ours=ours))
        starter = inbounds[-1].thread_starter
        if starter is None and len(inbounds) == 1 and inbounds[0].reply_to is None:
            return NoteMessages(self.route, tuple(fresh))
        quoted = {
            quote.message_id: _quoted(quote, now, readable=readable)
            for inbound in inbounds
            if (quote := inbound.reply_to) is not None and (quote.author_id or quote.text) and not quote.elsewhere
        }
        if isinstance(starter, EarlierMessage) and starter.message_id and readable:
            quoted.setdefault(starter.message_id, _met(starter, now))
        known = {message.id for message in fresh}
        unknown = [message for id, message in quoted.items() if id not in known and self.messages.get(id) is None]
        return NoteMessages(self.route, (*fresh, *unknown))

    def _is_news(self, inbound: Inbound) -> bool:
        if inbound.entry in ("native", "reaction", "delete") or not inbound.message_id or inbound.unseen:
            return False
        return inbound.entry == "edit" or self.messages.get(inbound.message_id) is None

    def unknown_messages_to_index(self, told: Iterable[EarlierMessage], now: datetime) -> NoteMessages | None:
        """Notes the messages that the index does not have yet; None if it has them all."""
        unknown = tuple([_met(said, now) for said in told if self.messages.get(said.message_id) is None])
        return NoteMessages(self.route, unknown) if unknown else None

    def add_to_index(self, messages: Iterable[IndexedMessage]) -> None:
        """Adds messages that are now in the index."""
        for message in messages:
            self.messages.note(message)

    def reword(self, message: str, text: str | None) -> None:
        """A message was edited, or deleted (CH-8)."""
        self.overheard.reword(message, text)
        if text is None:
            self.messages.forget(message)

    async def find(self, reference: str) -> str | None:
        """The platform id behind a handle or an id, if it is a message of this conversation (OD-52)."""
        if reference == ROOT and self.route.thread is not None:
            reference = self.route.thread
        known = await self.look_up(reference)
        return None if known is None else known.id

    async def look_up(self, reference: str) -> IndexedMessage | None:
        """The message behind a handle or an id. In a thread this also finds the message of the chat that the thread
        hangs under."""
        known = await self.messages.look_up(reference)
        if known is not None or self.route.thread is None:
            return known
        return await self.store.message(replace(self.route, thread=None), reference)

    async def root(self) -> EarlierMessage | None:
        """The message this thread hangs under, if the thread has the id of that message and the index has it."""
        known = await self.look_up(self.route.thread) if self.route.thread is not None else None
        return None if known is None or known.id != self.route.thread else earlier_message(known)

    # --- words of the gateway's own ----------------------------------------------------------------

    async def send(self, text: str, *, reply_to: str | None = None) -> str | None:
        """Says something of the gateway's own; returns the platform id, or None if it was not accepted (yet)."""
        wording = AnswerWording(reply_to=self._target(reply_to), opens=self.opening)
        planned = plan.say(redact(text), self.route, self.settings.delivery.options, wording, self.outbox.new_stem())
        results = self.sender.post(planned)
        if results:
            await asyncio.wait(results, timeout=PATIENCE)
        return message_of(results[0]) or None if results else None

    def offer(self, text: str, choices: tuple[Choice, ...], name: str, also: WriteBatch) -> Close:
        """Says something with buttons; the last paragraph of the text tells how to answer without them.

        `name`: identifies the offer, to find it again. `also` is written with it. Returns a function that closes the
        offer.
        """
        options, stem = self.settings.delivery.options, offer(name).stem
        wording = AnswerWording(choices=choices, opens=self.opening)
        return self._closing(
            self.sender.post(plan.say(redact(text), self.route, options, wording, stem), also=also), stem
        )

    async def offered_before(self, name: str) -> Close:
        """A function that closes an offer that an earlier process has made here."""
        rows = [row for row in await self.store.parts_under(offer(name).stem) if row.kind == SAYS]
        return self._closing(tuple(map(self.sender.follow, rows)), offer(name).stem)

    def _closing(self, posted: "Sequence[asyncio.Future[DeliveryResult]]", stem: str) -> Close:
        def close(words: str, pressed: str) -> None:
            if posted and can(self.channel, CanEdit):
                posted[-1].add_done_callback(lambda _: self._put_instead(words, pressed, posted, stem))

        return close

    def _put_instead(
        self, words: str, pressed: str, posted: "Sequence[asyncio.Future[DeliveryResult]]", stem: str
    ) -> None:
        *before, with_buttons = map(message_of, posted)
        shown = [message for message in (*before, with_buttons or pressed) if message]
        self.sender.post(plan.replace_text(redact(words), shown, self.route, self.settings.delivery.options, stem))

    def parts_to_say(
        self,
        texts: Iterable[str],
        now: datetime,
        *,
        reply_to: str | None = None,
        stem: str = "",
        context: ReplyContext | None = None,
        only_for: str | None = None,
    ) -> PlanParts:
        """Like `send`, but the caller commits the parts with the decision they belong to, and then wakes the sender.

        `stem`: texts with the same stem are said only once. `context`: the platform's own way to answer (CH-3).
        """
        options = self.settings.delivery.options
        wording = AnswerWording(
            reply_to=self._target(reply_to), opens=self.opening, reply_context=context, only_for=only_for
        )
        said = (
            plan.say(redact(text), self.route, options, wording, f"{stem}/{at}" if stem else self.outbox.new_stem())
            for at, text in enumerate(texts)
        )
        return PlanParts(tuple(intent(each, self.route) for planned in said for each in planned), now)

    def _target(self, reply_to: str | None) -> str | None:
        """None for a thread that is about to be opened: it hangs under that message anyway."""
        return None if self.opening is not None else reply_to or None

    def parts_to_replace(self, slots: tuple[Slot, ...], text: str, now: datetime, *, reply_to: str | None) -> PlanParts:
        """Like `parts_to_say`, but replaces messages that were left unfinished; without a text they are removed.

        If the platform can edit, the text goes into the first of them, whichever message that replies to: an edit can
        be repeated until it has arrived, so the unfinished words do not stay.
        """
        channel, stem = self.channel, self.outbox.new_stem()
        if text:
            edits = can(channel, CanEdit)
            options, wording = (
                self.settings.delivery.options,
                AnswerWording(reply_to=slots[0].reply_to if edits else reply_to or None),
            )
            may_move = can(channel, CanDelete) or can(channel, CanEdit)
            planned = plan.settle(redact(text), slots, self.route, options, wording, stem, may_move=may_move)
        else:
            planned = plan.withdraw(slots, stem)
        return PlanParts(tuple(intent(each, self.route) for each in planned), now)

    def parts_to_react(self, message: str, emoji: str, now: datetime) -> PlanParts | None:
        """A reaction of the gateway's own to a message; None if the platform cannot show it."""
        sign = project(emoji, self.settings.delivery.reactions).value
        if not can(self.channel, CanReact) or sign is None:
            return None
        planned = PlannedOperation(*keyed(React(message, sign), self.outbox.new_stem()))
        return PlanParts((intent(planned, self.route),), now)

    async def notify_operator(self, text: str) -> None:
        if can(self.channel, CanNotifyOperator):
            self.sender.check()
            try:
                await guarded(self.channel.notify_operator(self.route, text))
            except Exception:  # a channel may be third-party code; the answer does not depend on it
                log.exception("%s failed to tell the operator something", self.route.channel)

    # --- traces of messages (IN-64) ---------------------------------------------------------------

    def trace(self, message: str, steps: Iterable[Step]) -> None:
        """Adds steps to what is known about a message."""
        self._traces[message] = (*self._traces.get(message, ()), *steps)

    def has_trace(self, message: str) -> bool:
        return message in self._traces

    @property
    def has_traces(self) -> bool:
        return bool(self._traces)

    def trace_of(self, message: str | None) -> tuple[Step, ...]:
        """What happened to this message. Without one: to the last message that was neither ours nor a command, because
        people have already seen the outcome of a command."""
        if message is not None and message in self._traces:
            return self._traces[message]
        candidates = (steps for id, steps in reversed(self._traces.items()) if not self._is_ours(id))
        latest = next(candidates, ())
        return latest if not was_command(latest) else next(filterfalse(was_command, candidates), latest)

    def _is_ours(self, message: str) -> bool:
        """Whether one of our agents said it and the channel reported it."""
        known = self.messages.get(message)
        return known is not None and known.kind == "own"


def author_of_ours(message: IndexedMessage | None) -> str:
    """The agent of ours that wrote the message, if one did."""
    return message.author if message is not None and message.kind == "own" else ""


def was_command(steps: tuple[Step, ...]) -> bool:
    return any(step.decision == "answer" and step.stage in COMMANDING for step in steps)


class Conversations:
    def __init__(self, services: Services, outbox: Outbox) -> None:
        self._channels = services.channels
        self._places: Recent[Route, Conversation] = Recent(
            lambda route: Conversation(route, services, outbox), services.memory.recently_used
        )
        self.forget = self._places.forget

    def of(self, message: Inbound) -> Conversation:
        return self._places.get(message.route)

    def has(self, channel: str) -> bool:
        """Whether the channel is still configured."""
        return channel in self._channels

    def at(self, route: Route) -> Conversation | None:
        """None if the channel is no longer configured."""
        return self._places.get(route) if route.channel in self._channels else None


def _noted(inbound: Inbound, now: datetime, text: str, *, ours: bool) -> IndexedMessage:
    sender = inbound.sender
    kind = "own" if sender.is_self or ours else "bot" if sender.is_bot else "human"
    return IndexedMessage(inbound.message_id, sender.id, now, kind, sender.shown_name, text)


def _quoted(quote: Quote, now: datetime, *, readable: bool) -> IndexedMessage:
    """A quoted message. It may be old, so it is indexed as a `system` message, which neither ends a row of bot turns
    nor adds to it."""
    return IndexedMessage(
        quote.message_id, quote.author_id or "", now, "system", quote.author_name, quote.text if readable else ""
    )


def _met(said: EarlierMessage, now: datetime) -> IndexedMessage:
    """An earlier message, indexed like a quoted one."""
    return IndexedMessage(said.message_id, said.author_id, now, "system", said.author_name, said.text)
