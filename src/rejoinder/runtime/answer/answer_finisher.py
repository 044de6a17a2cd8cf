"""The end of an answer: what was shown becomes its final messages, or is withdrawn.

Rule 1: the whole answer is planned in one commit; from then on the agent is not asked again (DE-30).
Rule 2: a run waits for its last delivery only for a limited time; the sender continues without it.
"""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from rejoinder.channels.base import CanDelete, CanEdit
from rejoinder.outbound import plan
from rejoinder.outbound.draft import PLACEHOLDER, Streaming
from rejoinder.outbound.plan import AnswerWording, PlannedOperation, Slot
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.directive_runner import DirectiveRunner
from rejoinder.runtime.answer.drafting import Drafting, cut_ahead
from rejoinder.runtime.answer.growing_text import GrowingText
from rejoinder.runtime.answer.options import AnswerOptions
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.delivery_results import HandedOver, Sent, Unsent, hear, message_of
from rejoinder.runtime.write_batch import WriteBatch

PATIENCE = 30.0
"""Seconds a finished run waits for its last delivery; after that it ends, and the sender continues without it."""


class AnswerFinisher:
    def __init__(
        self,
        conversation: Conversation,
        turn: AnswerOptions,
        directive_runner: DirectiveRunner,
        drafting: Drafting,
        text: GrowingText,
        streaming: Streaming,
        stem: str,
    ) -> None:
        self.undelivered: str | None = None
        """Why a part of the answer did not arrive (OD-65)."""
        self.is_kept = False
        """Whether `final_verbs` are certainly stored, because a part planned in the same commit has arrived."""
        self._conversation = conversation
        self._turn = turn
        self._directive_runner = directive_runner
        self._drafting = drafting
        self._text = text
        self._was_live = streaming.mode == "live"
        self._stem = stem
        self._options = drafting.options  # kept even if the configuration changes meanwhile

    async def settle(self, beside: Sequence[PlannedOperation] = (), sentence: str = "", *, whole: bool = False) -> None:
        """Delivers the whole answer: one commit, then one call for each message that does not show its text yet.

        `beside`: what follows the answer; `whole`: the agent has finished, and the other agents in the room are told.
        """
        self._text.pass_on_rest()
        await self._drafting.close()
        draft = self._drafting.draft
        if draft.streaming.mode == "blocks":
            planned = self._drafting.say_rest()
        else:
            if len(draft.text) > plan.LONG:
                await cut_ahead(draft.text, self._options)
            planned = self._settled(draft.text, self._stem)
        if sentence:
            planned += self._own(sentence, is_error=True)
        words = self._text.words
        handed = [
            *self._directive_runner.log.behind,
            *beside,
            *(self._directive_runner.handoffs.plan(words) if whole else ()),
        ]
        if whole:
            self._directive_runner.handoffs.keep_named(words)
        message = await self._post([*planned, *handed])
        if whole and not planned and not handed:
            await self._directive_runner.handoffs.stands(message)
        if whole:
            self._directive_runner.handoffs.was_said(words, message)

    async def settle_as_voice(self, note: Sequence[PlannedOperation]) -> None:
        """Ends an answer that is only a voice note and what follows it: text that was already shown is withdrawn."""
        self._text.pass_on_rest()
        words = self._text.words
        handed = self._directive_runner.handoffs.plan(words)
        self._directive_runner.handoffs.keep_named(words)
        await self.withdraw([*self._directive_runner.log.behind, *note, *handed])
        self._directive_runner.handoffs.was_said(words, "")

    async def say(self, sentence: str) -> None:
        """Says a sentence of the gateway's own instead of an answer, if possible in a message that an earlier run
        left."""
        await self._drafting.close()
        taken_over = self._drafting.draft.slots
        words = self._turn.with_prefix(sentence)
        await self._post(self._settled(words, f"{self._stem}/own") if taken_over else self._own(sentence))

    async def withdraw(self, handed: Sequence[PlannedOperation], beside: Sequence[Slot] = ()) -> None:
        """Removes everything that was shown, if the channel can (OD-41); hand-offs stay."""
        await self._drafting.close()
        slots = self._drafting.draft.slots
        channel = self._conversation.channel
        planned: list[PlannedOperation] = []
        if can(channel, CanDelete) or can(channel, CanEdit):
            planned = plan.withdraw((*beside, *slots), self._stem)
        elif slots:
            planned = self._settled("".join(slot.source for slot in slots), self._stem)
        if planned or handed:
            await self._post([*planned, *handed])

    async def abandon(self) -> None:
        """Leaves what was shown as it is, and removes only messages without any words."""
        await self._drafting.close()
        self._directive_runner.call_off()
        draft = self._drafting.draft
        bare = [slot for slot in draft.slots if slot.source in (PLACEHOLDER, "")]  # "": by an earlier run
        if bare:
            self._conversation.sender.post(plan.withdraw(tuple(bare), f"{self._stem}/abandoned"))
        elif self._was_live and draft.slots:
            shown = "".join(slot.source for slot in draft.slots)
            self._conversation.sender.post(self._settled(shown, f"{self._stem}/abandoned"))

    def _settled(self, text: str, stem: str) -> list[PlannedOperation]:
        channel, route, wording = (
            self._conversation.channel,
            self._conversation.route,
            self._directive_runner.reply.wording(),
        )
        slots = self._drafting.slots()
        if not slots:
            return plan.say(text, route, self._options, wording, stem)
        return plan.settle(
            text,
            slots,
            route,
            self._options,
            wording,
            stem,
            live=self._was_live,
            may_move=can(channel, CanDelete) or can(channel, CanEdit),
            fresh=not self._was_live and (self._drafting.is_crowded or plan.calls_somebody(text, wording.addressed)),
        )

    def _own(self, sentence: str, *, is_error: bool = False) -> list[PlannedOperation]:
        """A sentence of the gateway's own, sent in the agent's name."""
        wording = self._directive_runner.reply.wording()
        target = wording.reply_to if not self._text.has_words else None
        plain = AnswerWording(target, author=wording.author, is_error=is_error, opens=wording.opens)
        plain = replace(plain, reply_context=wording.reply_context)
        words = self._turn.with_prefix(sentence)
        return plan.say(words, self._conversation.route, self._options, plain, f"{self._stem}/own")

    def _kept(self) -> WriteBatch:
        batch = WriteBatch(
            *self._turn.final_verbs(),
            *(self._turn.beat.final_verbs(self._stem) if self._turn.beat is not None else ()),
        )
        if (handed := self._directive_runner.handoffs.kept) is not None:
            batch.include(handed)
        return batch

    async def _post(self, planned: list[PlannedOperation]) -> str:
        """Waits until it is delivered, and returns the id of its first message, if that is known."""
        post = self._conversation.sender.post
        posted = post(planned, self._turn.run, final=True, also=self._kept()) if planned else ()
        self._directive_runner.log.posted(planned, posted)
        if posted and self._directive_runner.handoffs.kept is not None:
            posted[-1].add_done_callback(lambda last: self._directive_runner.handoffs.answered(last, posted[0]))
        await hear(posted, PATIENCE)
        results = posted
        if blocks := self._drafting.blocks:
            if waiting := [result for result in blocks if not result.done()]:
                await asyncio.wait(waiting, timeout=PATIENCE)
            results = (*blocks, *posted)
        for result in results:
            if not result.done() or result.cancelled():
                continue
            if isinstance(known := result.result(), Sent | HandedOver):
                self.is_kept = self.is_kept or result in posted
            elif isinstance(known, Unsent):
                self.undelivered = self.undelivered or known.error
        if slots := self._drafting.draft.slots:
            return slots[0].message
        return message_of(results[0]) if results else ""
