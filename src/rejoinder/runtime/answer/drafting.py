"""Makes the calls that show a message while it is being written; `outbound.draft` decides what to show and when.

The sender of the conversation asks for a frame only when its line is free, so frames never delay a message.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from random import uniform
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from rejoinder.channels.base import (
    CanEdit,
    CanPreview,
    CanStream,
    Delivered,
    KnowsBotReaders,
    OpensPlaces,
    Outcome,
    Rejected,
    RetryAfter,
    ShowsOpenDrafts,
    Unknown,
)
from rejoinder.crashpoint import crashpoint
from rejoinder.events import Part, Rendering, ReplyStarted
from rejoinder.outbound import draft as drafts
from rejoinder.outbound import plan
from rejoinder.outbound.draft import (
    AppendToSlot,
    Draft,
    EditSlot,
    Idle,
    OpenSlot,
    Preview,
    SendBlock,
    Step,
    Streaming,
    Wait,
)
from rejoinder.outbound.operations import Open, decode, keyed
from rejoinder.outbound.plan import AnswerWording, PlannedOperation, Slot
from rejoinder.outbound.streaming import DraftAbilities, streaming_for
from rejoinder.rendering import RenderedMessage, RenderOptions
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, Sent
from rejoinder.runtime.outbox.performing import checked
from rejoinder.runtime.outbox.sender import ConversationSender
from rejoinder.runtime.outbox.yielding_calls import CallAbandoned
from rejoinder.store.base import IN_FLIGHT, RunClaim, StoredPart


class Drafting:
    """`wording` is called when a message is opened, so it reflects what the agent has asked for by then."""

    def __init__(
        self,
        sender: ConversationSender,
        streaming: Streaming,
        options: RenderOptions,
        wording: Callable[[], AnswerWording],
        stem: str,
        run: RunClaim | None,
        human_delay: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.draft = Draft(streaming)
        self.blocks: list[asyncio.Future[DeliveryResult]] = []
        self._sender = sender
        self.options = options
        self._wording = wording
        self._stem = stem
        self._run = run
        self._human_delay = human_delay
        self._opening: asyncio.Future[DeliveryResult] | None = None
        self._under_way: asyncio.Event | None = None  # set when the frame that is under way is answered
        self._catching_up: asyncio.Future[None] | None = None  # set while a caller waits until all is shown
        self._said = 0  # messages planned for the blocks so far
        self.seen_at: float | None = None
        """When people saw its first words, by the loop's clock."""
        if streaming.mode != "off":
            sender.writing.join(self)

    @property
    def is_crowded(self) -> bool:
        """Whether somebody else's bot has joined since this was begun: it would take the draft for the answer
        (DE-21)."""
        return self.draft.streaming.mode in ("edits", "preview") and self._sender.messages.facts.other_bot

    @property
    def is_live(self) -> bool:
        return self.draft.streaming.mode == "live"

    def slots(self) -> tuple[Slot, ...]:
        """The messages that are shown, each with whether the platform still waits for its final text."""
        channel, route = self._sender.channel, self._sender.route
        if not self.draft.slots or not can(channel, ShowsOpenDrafts):
            return self.draft.slots
        return tuple(replace(slot, is_open=channel.is_open(route, slot.message)) for slot in self.draft.slots)

    def resume_from(self, parts: Iterable[StoredPart]) -> None:
        """Adopts the messages that a previous run opened and did not finish (DU-2)."""
        for part in parts:
            if part.kind != "open":
                continue
            operation = decode(part.body)
            target = operation.part.reply_to if isinstance(operation, Open) else None
            if part.state == "sent" and part.receipt is not None:
                self._adopt(part.receipt, target)
            elif part.state in IN_FLIGHT:
                self._opening = self._sender.follow(part)
                self._opening.add_done_callback(lambda result, target=target: self._adopted(result, target))

    def _adopt(self, message: str, reply_to: str | None) -> None:
        # Its text is not ours, so the slot counts as empty and the first frame replaces it.
        draft = self.draft
        streaming = draft.streaming
        if streaming.mode == "live":  # it cannot be given the text twice: the message is completed at the end
            streaming = Streaming("off")
        elif streaming.mode == "preview":  # there is a message already
            streaming = replace(streaming, mode="edits")
        self.draft = Draft(streaming, draft.text, (*draft.slots, Slot(message, "", reply_to)), grown_at=draft.grown_at)

    def _adopted(self, result: "asyncio.Future[DeliveryResult]", reply_to: str | None) -> None:
        self._opening = None
        if not result.cancelled() and isinstance(known := result.result(), Sent):
            self._adopt(known.message, reply_to)
            self._sender.wake()

    # --- growing ------------------------------------------------------------------------------------

    def grow(self, text: str) -> None:
        """Adds text that may be shown. No call is made here."""
        now = asyncio.get_running_loop().time()
        self.draft = drafts.grow(self.draft, text, now)
        if self not in self._sender.writing:
            return
        if now < self.draft.not_before and self._catching_up is None:
            self._sender.wake_at(self.draft.not_before)
        else:
            self._sender.wake()

    async def catch_up(self, seconds: float) -> None:
        """Returns when everything that may be shown so far has been shown, as far as possible, or after `seconds`."""
        if self not in self._sender.writing:
            return
        self.draft = drafts.to_keep(self.draft)
        self._catching_up = caught_up = asyncio.get_running_loop().create_future()
        self._sender.wake()
        try:
            await asyncio.wait((caught_up,), timeout=seconds)
        finally:
            self._catching_up = None

    def _has_caught_up(self) -> None:
        if self._catching_up is not None:
            self._catching_up.set_result(None)
            self._catching_up = None

    async def close(self) -> None:
        """Stops the frames; returns when it is known what the platform shows, or that it cannot be known."""
        self._sender.writing.leave(self)
        if self._under_way is not None:
            self._sender.low_priority.hurry()
            await self._under_way.wait()
        self.draft = drafts.close(self.draft)
        if self._opening is not None:
            await asyncio.wait([self._opening])
            await asyncio.sleep(0)  # lets the callbacks of that future run first

    # --- called by the sender -----------------------------------------------------------------------

    async def work(self) -> float | None:
        if self._opening is not None:
            return None
        if self.is_crowded:
            self._has_caught_up()
            return None
        now, text = asyncio.get_running_loop().time(), self.draft.text
        at_once = self._catching_up is not None
        if self.draft.slots and not at_once and (seconds := self._sender.pace.seconds_to_frame()):
            return seconds
        if self.draft.streaming.mode in ("edits", "preview") and (at_once or now >= self.draft.not_before):
            await cut_ahead(text, self.options)
        asked = replace(self.draft, text=text)
        draft, step = drafts.next_step(drafts.at_once(asked) if at_once else asked, now, self._sources)
        self.draft = replace(self.draft, call=draft.call, seen=draft.seen)  # the text may have grown meanwhile
        match step:
            case Idle():
                self._has_caught_up()
                return None
            case Wait(until=until):
                return until - now
            case OpenSlot():
                self._open(step)
            case EditSlot():
                await self._edit(step)
            case AppendToSlot():
                await self._feed(step)
            case Preview():
                await self._preview(step)
            case SendBlock():
                self._send_block(step, now)
        return 0.0

    def _sources(self, text: str) -> list[str]:
        return [message.source for message in plan.cut(text, self.options)]

    def _part(self, source: str, *, first: bool) -> Part:
        """Rendered like the final message, except that a draft notifies no one (DE-21)."""
        found = [] if source == drafts.PLACEHOLDER or self.is_live else plan.cut(source, self.options)
        bare = RenderedMessage(source, Rendering(source), Rendering(source))
        inert = replace(self._wording(), addressed=(), choices=(), is_error=False)
        return plan.part_of(found[0] if found else bare, self._sender.route, inert, first=first)

    def _open(self, step: OpenSlot) -> None:
        number = len(self.draft.slots)
        part = self._part(step.source, first=number == 0)
        key, operation = keyed(Open(part), f"{self._stem}/open{number}")
        (self._opening,) = self._sender.post((PlannedOperation(key, operation),), self._run)
        self._opening.add_done_callback(lambda result: self._opened(result, step, part.reply_to))

    def _opened(self, result: "asyncio.Future[DeliveryResult]", step: OpenSlot, reply_to: str | None) -> None:
        self._opening = None
        if not result.cancelled() and isinstance(known := result.result(), Sent):
            now = asyncio.get_running_loop().time()
            self.draft = drafts.opened(self.draft, step, known.message, reply_to, now)
            if step.source != drafts.PLACEHOLDER:
                self._seen(now)
            self._sender.wake()
        else:
            self._refuse(step, None)

    async def _edit(self, step: EditSlot) -> None:
        channel, slot = self._sender.channel, self.draft.slots[step.slot]
        if not can(channel, CanEdit):
            return self._refuse(step, None)
        part = self._part(step.source, first=step.slot == 0)
        crashpoint("K13")
        self._sender.pace.spend_frame()
        await self._show(step, channel.edit(self._sender.route, slot.message, part))

    async def _preview(self, step: Preview) -> None:
        channel = self._sender.channel
        if not can(channel, CanPreview):
            return self._refuse(step, None)
        self._sender.pace.spend()
        number = crc32(self._stem.encode()) & 0x7FFF_FFFF or 1
        await self._show(step, channel.preview(self._part(step.source, first=True), number))

    async def _show(self, step: EditSlot | Preview, call: Coroutine[Any, Any, Outcome]) -> None:
        self._under_way = answered = asyncio.Event()
        try:
            self._sender.typing_calls.call_back()  # this frame may turn out to be the last
            self._sender.check()
            with self._sender.typing_calls.speaking():
                outcome = checked(await self._sender.low_priority.run(call))
        finally:
            self._under_way = None
            answered.set()
        now = asyncio.get_running_loop().time()
        match outcome:
            case Delivered():
                self.draft = drafts.shown(self.draft, step, now)
                self._seen(now)
            case RetryAfter(limited=True):
                seconds = outcome.seconds or self.draft.streaming.pace
                self._sender.pace.pause(seconds, everywhere=outcome.everywhere)
                self._refuse(step, now + seconds)
            case CallAbandoned():
                self.draft = drafts.abandon_edit(self.draft, step)
                self._refuse(step, now + 2 * self.draft.streaming.pace)
            case RetryAfter() | Unknown():
                self._refuse(step, now + 2 * self.draft.streaming.pace)
            case Rejected():
                self._refuse(step, None)

    def _seen(self, now: float) -> None:
        if self.seen_at is None:
            self.seen_at = now
            self._sender.tell(ReplyStarted(self._sender.route, self._run.turn if self._run is not None else None))

    async def _feed(self, step: AppendToSlot) -> None:
        channel = self._sender.channel
        if can(channel, CanStream):
            self._sender.check()
            await channel.append(self._sender.route, self.draft.slots[-1].message, step.text)
        self.draft = drafts.shown(self.draft, step, asyncio.get_running_loop().time())

    def _send_block(self, step: SendBlock, now: float) -> None:
        said = self.say(step.source)
        self.blocks += self._sender.post(said, self._run)
        self.draft = drafts.sent(self.draft, step, now + uniform(*self._human_delay))

    def say(self, text: str) -> list[PlannedOperation]:
        """Plans the messages of a text, numbered after those of earlier blocks."""
        said = plan.say(text, self._sender.route, self.options, self._wording(), self._stem, first=self._said)
        self._said += len(said)
        return said

    def say_rest(self) -> list[PlannedOperation]:
        """Plans the messages of the text that no block has sent yet, with a human pause before each (DE-22)."""
        said = [planned for block in drafts.last_blocks(self.draft) for planned in self.say(block)]
        if said and self.draft.blocks:
            self._sender.pace.rest(self.draft.not_before - asyncio.get_running_loop().time())
        for planned in said[:-1]:
            self._sender.pauses[planned.key] = uniform(*self._human_delay)
        return said

    def _refuse(self, step: Step, until: float | None) -> None:
        self.draft = drafts.refused(self.draft, step, until)
        self._has_caught_up()


async def cut_ahead(text: str, options: RenderOptions) -> None:
    """Cuts a long text in a thread, off the event loop; the next `plan.cut` finds the result cached."""
    if len(text) > plan.LONG and options.limit is not None:
        await asyncio.to_thread(plan.cut, text, options)


def streaming_at(
    sender: ConversationSender, wanted: Streaming, options: RenderOptions, *, other_bot: bool
) -> Streaming:
    """How this place can show an unfinished answer. `other_bot`: somebody else's bot has spoken.

    It runs for every answer, so it does not check abilities that cannot make a difference.
    """
    channel, route = sender.channel, sender.route
    there = DraftAbilities(
        read_by_bots=other_bot or (can(channel, KnowsBotReaders) and channel.is_read_by_bots(route)),
        opens_place=can(channel, OpensPlaces) and channel.opens_place(route),
        grows=options.limit is None and can(channel, CanStream),
        edits=can(channel, CanEdit),
        previews=wanted.mode == "preview" and can(channel, CanPreview) and channel.previews(route),
        recognises=sender.attempts.recognised_by,
        elsewhere=sender.messages.facts.elsewhere,
    )
    return streaming_for(wanted, there)
