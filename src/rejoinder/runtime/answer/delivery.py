"""One agent's answer on its way to one conversation.

Rule 1: the reader decides what is text and what is a directive; nothing here looks into agent text.
Rule 2: what people see only grows, and every frame is a prefix of the final text (DE-1).
Rule 3: the whole answer is planned in one commit; from then on the agent is not asked again (DE-30).
Rule 4: every answer ends in something: a message, an action, a stated silence, or one sentence of failure.
Rule 5: an answer that may no longer speak says nothing, even if it is still fed text (TU-20).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents.base import MAX_ANSWER_CHARS
from rejoinder.channels.base import CanDelete, CanEdit
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import NotUnderstood
from rejoinder.events import Directive, Problem, ReplyEvent, Silent, Step, Text
from rejoinder.outbound import plan
from rejoinder.outbound.directives.effects import SendFile
from rejoinder.outbound.draft import PLACEHOLDER
from rejoinder.outbound.plan import AnswerWording, PlannedOperation, Slot
from rejoinder.outbound.prefix import Speaker, prefixed
from rejoinder.outbound.reader import ReplyReader
from rejoinder.outbound.reveal import Reveal
from rejoinder.outbound.speech import LONGEST_READ
from rejoinder.rendering.enclosures import closing_of
from rejoinder.rendering.white_space import is_seen
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.acting import Acting
from rejoinder.runtime.answer.drafting import Drafting, foresee, streaming_for
from rejoinder.runtime.answer.handoffs import HandOver
from rejoinder.runtime.answer.heartbeats import Beat
from rejoinder.runtime.answer.length import Length
from rejoinder.runtime.answer.occasion import Occasion
from rejoinder.runtime.answer.outcomes import Outcomes
from rejoinder.runtime.answer.speaking import Speech, voice_note
from rejoinder.runtime.answer.unposted import Start
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.delivery_results import Sent, Unsent, hear, message_of
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import RunClaim, StoredPart, Verb

log = logging.getLogger(__name__)

NO_RESPONSE = "_(no response)_"
VOICE = "voice"
PATIENCE = 30.0
"""Seconds a finished run waits for its last delivery; after that it ends, and the sender goes on without it."""
CATCHING_UP = 3.0
"""Seconds for which another message waits for the draft to catch up."""
ENOUGH_TO_REVEAL = 4096
"""Characters of an answer that is not shown as it grows are searched for secrets when there are so many."""
ENOUGH_TO_PREFIX = 24
"""Characters needed to know whether an answer begins with its prefix, a list or a fence (DE-5)."""


class AnswerOptions(Struct, frozen=True, kw_only=True):
    """What its turn says about an answer."""

    run: RunClaim | None = None
    """The claim on the turn."""
    earlier: Sequence[StoredPart] = ()
    """What a previous run of the turn has planned."""
    may_speak: Callable[[], bool] = lambda: True
    says_when_empty: bool = True
    silence: Literal["edges", "alone"] = "edges"
    prefix: str = ""
    speaker: Callable[[], Speaker] = Speaker
    hand_over: HandOver | None = None
    start: Start | None = None
    """Starts a sub-agent."""
    kept_with_it: Callable[[], tuple[Verb[object], ...]] = lambda: ()
    """What to store about the turn in the commit that plans the answer."""
    beat: Beat | None = None
    """Set in a heartbeat only (OD-45)."""
    most: int = MAX_ANSWER_CHARS
    """Characters after which the answer is cut."""


class StreamedAnswer:
    """Takes the agent's raw text piece by piece and makes the conversation show it."""

    def __init__(self, conversation: Conversation, occasion: Occasion, turn: AnswerOptions) -> None:
        run, beat = turn.run, turn.beat
        self.undelivered: str | None = None
        """Why a part of the answer did not arrive (OD-65)."""
        self.is_kept = False
        """Whether `kept_with_it` is certainly stored: a part planned in the same commit has arrived."""
        self._conversation = conversation
        self._occasion = occasion
        self._turn = turn
        self._may_speak = turn.may_speak
        self._reader = ReplyReader(
            registry=occasion.directives,
            silence=turn.silence,
            has_trigger=bool(occasion.trigger),
            heartbeat=beat is not None,
            ack_max_chars=beat.ack_max_chars if beat is not None else 0,
        )
        self._reveal = Reveal()
        self._unprefixed: str | None = "" if turn.prefix else None
        self._worn = ""  # the prefix as it is shown, which is not part of the agent's words
        self._beside: list[Slot] = []  # messages that are withdrawn too if the answer is silence
        self._end = ""  # the last two characters of the text, to count the newlines it ends in
        self._has_words = False
        self._to_speak: list[str] = []
        self._spoken_size = 0
        self._between_segments = False
        delivery, sender = conversation.how.delivery, conversation.sender
        self._options = delivery.options  # fixed for the whole answer, even if the configuration changes meanwhile
        self._stem = stem_of(run, occasion.trigger) or conversation.outbox.new_stem()
        self._acting = Acting(conversation, occasion, self._stem, run, turn.hand_over, turn.start)
        self._length = Length(turn.most, occasion.folder, self._stem)
        streaming = streaming_for(delivery.streaming, sender, delivery.options, other_bot=occasion.other_bot)
        if beat is not None or _is_heard_alone(occasion.speech):
            streaming = replace(streaming, mode="off")
        self._was_live = streaming.mode == "live"
        self._is_hidden = streaming.mode == "off"  # nothing is shown until it is whole
        self._unseen: list[str] = []  # hidden text whose secrets have not been taken out yet
        self._unseen_size = 0
        self._drafting = Drafting(
            sender, streaming, delivery.options, self._acting.shape.wording, self._stem, run, delivery.human_delay
        )
        self._drafting.take_over(turn.earlier)

    @property
    def outcomes(self) -> Outcomes:
        return self._acting.log.outcomes

    async def use(self, directive: Directive) -> Step:
        return await self._acting.use(directive)

    @property
    def seen_at(self) -> float | None:
        """When people saw its first words while it was being written, by the loop's clock."""
        return self._drafting.seen_at

    @property
    def begun(self) -> bool:
        """Some of it has been shown or done already: starting over would repeat that."""
        return self._has_words or self._acting.asked

    async def feed(self, piece: str) -> None:
        crashpoint("K10")
        if self._may_speak():
            await self._obey(self._reader.feed(piece))
            if self._length.is_full:
                await self._length.write(self._words)

    async def next_segment(self) -> None:
        if self._may_speak():
            await self._obey(self._reader.next_segment())
            await self._acting.files.flush()
            if not self._is_hidden:
                self._pass_on(self._reveal.end_word())
            self._between_segments = True
            self._note_spoken("\n\n")

    async def catch_up(self) -> None:
        """Waits until what was written so far is shown, where drafts are shown, so that the message about to be sent
        appears below it (TU-34)."""
        if self._may_speak():
            await self._drafting.catch_up(CATCHING_UP)

    async def add_line(self, line: str) -> None:
        """Adds a line of the gateway's own as a paragraph by itself; it is not searched for directives."""
        await self.next_segment()
        if self._may_speak():
            self._show(line)
            self._between_segments = True

    def add_to_line(self, more: str) -> None:
        """Appends a few characters to the line that was added last."""
        if self._may_speak() and self._between_segments:
            self._grow(more)

    async def send_file(self, request: SendFile, content: bytes | None) -> None:
        if self._may_speak():
            await self._acting.take_file(request, content)

    def goes_with(self, messages: Iterable[str]) -> None:
        """Adds messages sent for this answer: if it turns out to be silence they are withdrawn too (OD-41)."""
        self._beside += [Slot(message, "") for message in messages]

    async def finish(self, footer: str = "") -> None:
        """The agent is done: sends what is left; an answer without any content says that it has none (OD-44)."""
        if not self._may_speak():
            return await self.abandon()
        await self._obey(self._reader.finish())
        await self._acting.files.flush()
        whole_file = await self._end_cut()
        if self._reader.silent:
            await self._withdraw(self._acting.handoffs.plan(), self._beside)
            if self._turn.beat is None and (self._turn.says_when_empty or not self._occasion.peers):
                # Among agents and in a heartbeat silence is normal and not worth a note.
                await self._conversation.note(f"{self._occasion.agent} chose to stay silent")
        elif self._has_words and await self._is_old_news():
            await self._withdraw(self._acting.handoffs.plan())
            log.info("%s has said the same within a day", self._occasion.agent)
        elif self._has_words:
            if footer:
                self._between_segments = True
                self._show(footer)
            await self._settle_spoken(whole_file)
        elif not self._acting.asked and self._turn.says_when_empty:
            await self._drafting.close()
            taken_over = self._drafting.draft.slots
            words = prefixed(NO_RESPONSE, self._turn.prefix, self._turn.speaker())
            own = self._settled(words, f"{self._stem}/own") if taken_over else self._say(NO_RESPONSE)
            await self._post(own, final=True)
        else:
            await self._withdraw(self._acting.handoffs.plan(), () if self._acting.asked else self._beside)
        await self._acting.finish(PATIENCE)

    async def fail(self, sentence: str, detail: str) -> None:
        """What was shown stays; the person gets the sentence as a message of its own, the operator gets the detail.

        A failed heartbeat is only logged: no person is waiting for it, and it is tried again soon.
        """
        if self._turn.beat is not None:
            log.warning("a heartbeat of %s has failed: %s %s", self._occasion.agent, sentence, detail)
        if self._turn.beat is not None or not self._may_speak():
            return await self.abandon()
        await self._acting.files.flush()
        await self._settle(await self._end_cut(), sentence)
        await self._acting.finish(PATIENCE)
        if detail:
            await self._conversation.note(detail)

    async def abandon(self) -> None:
        """Ends the answer here: what was shown stays as it is, what was held back is never sent."""
        self._conversation.sender.hurry()
        await self._drafting.close()
        self._acting.call_off()
        draft = self._drafting.draft
        bare = [slot for slot in draft.slots if slot.source in (PLACEHOLDER, "")]  # "": of an earlier run
        if bare:
            self._conversation.sender.post(plan.withdraw(tuple(bare), f"{self._stem}/abandoned"))
        elif self._was_live and draft.slots:
            shown = "".join(slot.source for slot in draft.slots)
            self._conversation.sender.post(self._settled(shown, f"{self._stem}/abandoned"))

    async def _obey(self, events: list[ReplyEvent]) -> None:
        for event in events:
            match event:
                case Text(text=text):
                    if is_seen(text):
                        await self._acting.files.flush()
                    self._note_spoken(text)
                    self._show(text)
                case Directive():
                    if event.name == VOICE and self._has_words:  # it takes its place behind them (ME-3)
                        await self.catch_up()
                    words_wait = self._is_hidden and self._has_words
                    if instead := await self._acting.obey(event, words_wait=words_wait):
                        self._between_segments = True
                        self._note_spoken(f"\n\n{instead}\n\n")
                        self._show(instead)
                        self._between_segments = True
                case Problem(code=code, level="debug", detail=detail):
                    log.debug("%s %s: %s: %s", self._conversation.channel.name, self._occasion.trigger, code, detail)
                case Problem(code=code, level="info", detail=detail):
                    log.info("%s %s: %s: %s", self._conversation.channel.name, self._occasion.trigger, code, detail)
                case Problem(detail=detail):
                    await self._acting.log.warn(detail)
                case Silent():
                    pass  # the last event: `finish` withdraws the answer

    # --- the text -----------------------------------------------------------------------------------

    def _show(self, text: str) -> None:
        if self._between_segments and self._has_words:
            text = text.lstrip("\n")
            if not text:
                return
            text = "\n" * (2 - _trailing_newlines(self._end)) + text  # segments are paragraphs
        self._between_segments = False
        self._has_words = self._has_words or is_seen(text)
        self._grow(text)

    def _grow(self, text: str) -> None:
        self._end = (self._end + text)[-2:]
        if self._is_hidden:
            self._unseen.append(text)
            self._unseen_size += len(text)
            if self._unseen_size < ENOUGH_TO_REVEAL:
                return
            text = self._take_unseen()
        if seen := self._reveal.feed(text):
            self._pass_on(seen)

    def _take_unseen(self) -> str:
        text = "".join(self._unseen)
        self._unseen.clear()
        self._unseen_size = 0
        return text

    @property
    def _words(self) -> str:
        """What has been passed on of the agent's words."""
        return self._drafting.draft.text.removeprefix(self._worn) if self._unprefixed is None else self._unprefixed

    def _pass_on_rest(self) -> None:
        self._pass_on(self._reveal.finish(self._take_unseen()), whole=True)

    async def _end_cut(self) -> Sequence[PlannedOperation]:
        """If the answer was cut, says so, and returns the message with the file that has all of it."""
        if self._reader.silent or not self._has_words:
            return ()
        self._pass_on_rest()
        if not self._length.is_over:
            return ()
        await self._length.write(self._words)
        cut, self._length = self._length, Length(MAX_ANSWER_CHARS, None, "")  # what the gateway itself adds has room
        closing = await asyncio.to_thread(closing_of, self._words)
        self._drafting.grow(f"{closing}\n\n{cut.sentence}")
        self._between_segments = True
        return () if cut.file is None else await self._acting.files.show_whole(cut.file)

    def _pass_on(self, seen: str, *, whole: bool = False) -> None:
        seen = self._length.take(seen)
        if self._unprefixed is not None:
            self._unprefixed += seen
            if len(self._unprefixed.lstrip()) < ENOUGH_TO_PREFIX and not whole:
                return
            words, self._unprefixed = self._unprefixed, None
            seen = prefixed(words, self._turn.prefix, self._turn.speaker())
            self._worn = seen.removesuffix(words.lstrip())
        if seen:
            self._drafting.grow(seen)

    async def _settle(
        self, beside: Sequence[PlannedOperation] = (), sentence: str = "", *, whole: bool = False
    ) -> None:
        """Delivers the whole answer: one commit, then one call for each message that does not show its text yet.

        `beside`: what follows it; `whole`: the agent has finished, and the other agents in the room are told.
        """
        self._pass_on_rest()
        await self._drafting.close()
        draft = self._drafting.draft
        if draft.streaming.mode == "blocks":
            planned = self._drafting.say_rest()
        else:
            await foresee(draft.text, self._options)
            planned = self._settled(draft.text, self._stem)
        if sentence:
            planned += self._say(sentence, is_error=True)
        words = self._words
        handed = [*self._acting.log.behind, *beside, *(self._acting.handoffs.plan(words) if whole else ())]
        if whole:
            self._acting.handoffs.keep_named(words)
        message = await self._post([*planned, *handed], final=True)
        if whole and not planned and not handed:
            await self._acting.handoffs.stands(message)
        if whole:
            self._acting.handoffs.was_said(words, message)

    async def _settle_spoken(self, beside: Sequence[PlannedOperation]) -> None:
        """Delivers the whole answer, with a voice note after its last message where it is to be spoken (ME-3)."""
        speech = self._occasion.speech
        if speech is None or self._turn.beat is not None or not speech.speaks_whole(marked=self._acting.shape.as_voice):
            return await self._settle(beside, whole=True)
        wording = replace(self._acting.shape.wording(), reply_to=None)
        note: list[PlannedOperation] = []
        try:
            note = await voice_note("".join(self._to_speak), speech, self._conversation, wording, self._stem)
        except NotUnderstood as why:
            log.warning("%s: an answer was not spoken: %s", self._conversation.channel.name, why.detail or why)
            self.outcomes.note("voice", "failed", str(why))
        if note and not speech.options.keeps_text and self._drafting.draft.streaming.mode != "blocks":
            self._pass_on_rest()
            words = self._words
            handed = self._acting.handoffs.plan(words)
            self._acting.handoffs.keep_named(words)
            await self._withdraw([*self._acting.log.behind, *note, *beside, *handed])
            return self._acting.handoffs.was_said(words, "")
        await self._settle([*note, *beside], whole=True)

    def _note_spoken(self, text: str) -> None:
        """Keeps what may have to be spoken: the agent's own words, and nothing that the gateway adds."""
        if self._occasion.speech is not None and self._spoken_size < LONGEST_READ:
            self._to_speak.append(text)
            self._spoken_size += len(text)

    def _settled(self, text: str, stem: str) -> list[PlannedOperation]:
        channel, wording = self._conversation.channel, self._acting.shape.wording()
        return plan.settle(
            text,
            self._drafting.slots(),
            self._conversation.route,
            self._options,
            wording,
            stem,
            live=self._was_live,
            may_move=can(channel, CanDelete) or can(channel, CanEdit),
            fresh=not self._was_live and (self._drafting.is_crowded or plan.calls_somebody(text, wording.addressed)),
        )

    def _say(self, sentence: str, *, is_error: bool = False) -> list[PlannedOperation]:
        """A sentence of the gateway's own, sent in the agent's name."""
        wording = self._acting.shape.wording()
        target = wording.reply_to if not self._has_words else None
        plain = AnswerWording(target, author=wording.author, is_error=is_error, opens=wording.opens)
        plain = replace(plain, reply_context=wording.reply_context)
        words = prefixed(sentence, self._turn.prefix, self._turn.speaker())
        return plan.say(words, self._conversation.route, self._options, plain, f"{self._stem}/own")

    async def _withdraw(self, handed: Sequence[PlannedOperation], beside: Sequence[Slot] = ()) -> None:
        """Removes all that was shown, where the channel can (OD-41); what was handed over stays."""
        await self._drafting.close()
        slots = self._drafting.draft.slots
        channel = self._conversation.channel
        planned: list[PlannedOperation] = []
        if can(channel, CanDelete) or can(channel, CanEdit):
            planned = plan.withdraw((*beside, *slots), self._stem)
        elif slots:
            planned = self._settled("".join(slot.source for slot in slots), self._stem)
        if planned or handed:
            await self._post([*planned, *handed], final=True)

    async def _is_old_news(self) -> bool:
        return self._turn.beat is not None and not await self._turn.beat.is_news(self._words)

    def _kept(self) -> WriteBatch:
        unit = WriteBatch(
            *self._turn.kept_with_it(),
            *(self._turn.beat.kept_with_it(self._stem) if self._turn.beat is not None else ()),
        )
        unit.include(self._acting.handoffs.kept)
        return unit

    async def _post(self, planned: list[PlannedOperation], *, final: bool = False) -> str:
        """Waits until it is delivered, and returns the id of its first message, if that is known."""
        also = self._kept() if final else None
        posted = self._conversation.sender.post(planned, self._turn.run, final=final, also=also) if planned else ()
        self._acting.log.posted(planned, posted)
        if final and posted:
            posted[-1].add_done_callback(lambda last: self._acting.handoffs.answered(last, posted[0]))
        await hear(posted, PATIENCE)
        if waiting := [result for result in self._drafting.blocks if not result.done()]:
            await asyncio.wait(waiting, timeout=PATIENCE)
        for result in (*self._drafting.blocks, *posted):
            if not result.done() or result.cancelled():
                continue
            if isinstance(known := result.result(), Unsent):
                self.undelivered = self.undelivered or known.error
            elif final and isinstance(known, Sent) and result in posted:
                self.is_kept = True
        if slots := self._drafting.draft.slots:
            return slots[0].message
        return next(map(message_of, (*self._drafting.blocks, *posted)), "")


def _is_heard_alone(speech: Speech | None) -> bool:
    """Whether people are to hear it and not to read it: then no draft is shown."""
    return speech is not None and not speech.options.keeps_text and speech.speaks_whole(marked=False)


def stem_of(run: RunClaim | None, trigger: str) -> str:
    """The prefix of the keys of a turn's parts: the same in every attempt at the turn, and unique across stores."""
    if run is None:
        return ""
    return f"t{run.turn}-{blake2b(trigger.encode(), digest_size=4).hexdigest()}"


def _trailing_newlines(end: str) -> int:
    return 2 if end == "\n\n" else 1 if end.endswith("\n") else 0
