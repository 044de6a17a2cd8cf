"""Delivers one agent's answer to one conversation: what the agent writes becomes text, actions, or silence.

Rule 1: the reader decides what is text and what is a directive; nothing here looks into agent text.
Rule 2: every answer has a result: a message, an action, a deliberate silence, or one sentence about a failure.
Rule 3: an answer that may no longer speak says nothing, even if it still receives text (TU-20).
"""

import logging
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from rejoinder.channels.base import NamesAgents
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import NotUnderstood
from rejoinder.events import Directive, Problem, ReplyEvent, Silent, Step, Text
from rejoinder.outbound.directives.effects import SendFile
from rejoinder.outbound.ending import ending_of, silence_is_noted
from rejoinder.outbound.plan import PlannedOperation, Slot
from rejoinder.outbound.reader import ReplyReader
from rejoinder.rendering.white_space import is_seen
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.answer_finisher import PATIENCE, AnswerFinisher
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.directive_runner import DirectiveRunner
from rejoinder.runtime.answer.drafting import Drafting, streaming_at
from rejoinder.runtime.answer.growing_text import GrowingText
from rejoinder.runtime.answer.length import AnswerLength
from rejoinder.runtime.answer.options import AnswerOptions, stem_of
from rejoinder.runtime.answer.speaking import Speech, SpokenWords, voice_note
from rejoinder.runtime.outbox.conversations import Conversation

log = logging.getLogger(__name__)

NO_RESPONSE = "_(no response)_"
CATCHING_UP = 3.0
"""Seconds for which another message waits for the draft to catch up."""


class StreamedAnswer:
    """Takes the agent's raw text piece by piece and makes the conversation show it."""

    def __init__(self, conversation: Conversation, context: AnswerContext, turn: AnswerOptions) -> None:
        run, beat = turn.run, turn.beat
        self._conversation = conversation
        self._context = context
        self._turn = turn
        self._may_speak = turn.may_speak
        self._reader = ReplyReader(
            registry=context.directives,
            silence=turn.silence,
            has_trigger=bool(context.trigger),
            heartbeat=beat is not None,
            ack_max_chars=beat.ack_max_chars if beat is not None else 0,
        )
        self._beside: list[Slot] = []  # messages that are withdrawn too if the answer is silence
        self._spoken = SpokenWords(is_kept=context.speech is not None)
        delivery, sender = conversation.settings.delivery, conversation.sender
        self._stem = stem_of(run, context.trigger) or conversation.outbox.new_stem()
        self._directive_runner = DirectiveRunner(conversation, context, self._stem, run, turn.hand_over, turn.start)
        self.outcomes = self._directive_runner.log.outcomes
        streaming = streaming_at(sender, delivery.streaming, delivery.options, other_bot=context.other_bot)
        if beat is not None or _is_heard_alone(context.speech):
            streaming = replace(streaming, mode="off")
        self._drafting = Drafting(
            sender,
            streaming,
            delivery.options,
            self._directive_runner.reply.wording,
            self._stem,
            run,
            delivery.human_delay,
        )
        length = AnswerLength(turn.most, context.folder, self._stem)
        prefix = turn.before_first_word if turn.prefix else None
        self._text = GrowingText(self._drafting, length, prefix, is_hidden=streaming.mode == "off")
        self._finisher = AnswerFinisher(
            conversation, turn, self._directive_runner, self._drafting, self._text, streaming, self._stem
        )
        self._drafting.resume_from(turn.earlier)

    @property
    def undelivered(self) -> str | None:
        """Why a part of the answer did not arrive (OD-65)."""
        return self._finisher.undelivered

    @property
    def is_kept(self) -> bool:
        """Whether the verbs that the turn writes with its answer are certainly stored."""
        return self._finisher.is_kept

    async def use(self, directive: Directive) -> Step:
        return await self._directive_runner.use(directive)

    @property
    def seen_at(self) -> float | None:
        """When people saw the first words of the draft, by the loop's clock."""
        return self._drafting.seen_at

    @property
    def begun(self) -> bool:
        """Whether part of the answer has already been shown or done, so that starting over would repeat it."""
        return self._text.has_words or self._directive_runner.asked

    @property
    def is_silent(self) -> bool:
        return self._reader.silent or not (self.begun or self._turn.says_when_empty)

    async def feed(self, piece: str) -> None:
        crashpoint("K10")
        if self._may_speak():
            await self._obey(self._reader.feed(piece))
            if self._text.is_full:
                await self._text.write_full()

    async def next_segment(self) -> None:
        if self._may_speak():
            await self._obey(self._reader.next_segment())
            await self._directive_runner.files.flush()
            self._text.end_segment()
            self._spoken.note("\n\n")

    async def catch_up(self) -> None:
        """Waits until the text so far is shown, if drafts are shown at all, so that the next message appears below it
        (TU-34)."""
        if self._may_speak():
            await self._drafting.catch_up(CATCHING_UP)

    async def add_line(self, line: str) -> None:
        """Adds a line of the gateway's own as a paragraph by itself; directives in it do not count."""
        await self.next_segment()
        if self._may_speak():
            self._text.add_paragraph(line)

    def add_to_line(self, more: str) -> None:
        """Appends a few characters to the line that was added last."""
        if self._may_speak():
            self._text.append_to_paragraph(more)

    async def send_file(self, request: SendFile, content: bytes | None) -> None:
        if self._may_speak():
            await self._directive_runner.take_file(request, content)

    def goes_with(self, messages: Iterable[str]) -> None:
        """Adds messages sent for this answer: if it turns out to be silence they are withdrawn too (OD-41)."""
        self._beside += [Slot(message, "") for message in messages]

    async def finish(self, footer: str = "") -> None:
        """The agent has ended: sends the rest. If the answer has no content at all, it says so (OD-44)."""
        if not self._may_speak():
            return await self.abandon()
        await self._obey(self._reader.finish())
        if self._directive_runner.files.is_waiting:
            await self._directive_runner.files.flush()
        whole_file = await self._end_cut()
        handoffs, asked = self._directive_runner.handoffs, self._directive_runner.asked
        silent, has_words, beat = self._reader.silent, self._text.has_words, self._turn.beat
        repeats = beat is not None and has_words and not silent and not await beat.is_news(self._text.words)
        match ending_of(
            silent=silent, has_words=has_words, repeats=repeats, acted=asked, waited_for=self._turn.says_when_empty
        ):
            case "words":
                if footer:
                    self._text.add_paragraph(footer)
                await self._settle_spoken(whole_file)
            case "silence":
                await self._finisher.withdraw(handoffs.plan(), self._beside)
                await self._note_silence()
            case "repetition":
                await self._finisher.withdraw(handoffs.plan())
                log.info("%s said the same within the last day, so it is not sent again", self._context.agent)
            case "no response":
                await self._finisher.say(NO_RESPONSE)
            case "actions":
                await self._finisher.withdraw(handoffs.plan(), () if asked else self._beside)
        await self._directive_runner.finish(PATIENCE)

    async def _note_silence(self) -> None:
        among_agents = bool(self._context.peers)
        if silence_is_noted(
            heartbeat=self._turn.beat is not None, waited_for=self._turn.says_when_empty, among_agents=among_agents
        ):
            await self._conversation.notify_operator(f"{self._shown_agent()} chose to stay silent")

    def _shown_agent(self) -> str:
        """The agent's name as people there know it."""
        agent, channel = self._context.agent, self._conversation.channel
        return channel.shown_agent(agent) if can(channel, NamesAgents) else agent

    async def fail(self, sentence: str, detail: str) -> None:
        """Leaves what was shown, and sends the sentence as a message of its own; the detail is for the operator.

        A failed heartbeat is only logged, because no person waits for it and it is tried again soon.
        """
        if self._turn.beat is not None:
            log.warning("a heartbeat of %s has failed: %s %s", self._context.agent, sentence, detail)
        if self._turn.beat is not None or not self._may_speak():
            return await self.abandon()
        await self._directive_runner.files.flush()
        await self._finisher.settle(await self._end_cut(), sentence)
        await self._directive_runner.finish(PATIENCE)
        if detail:
            await self._conversation.notify_operator(detail)

    async def abandon(self) -> None:
        """Ends the answer here: what was shown stays as it is, and what was held back is never sent."""
        self._conversation.sender.hurry()
        await self._finisher.abandon()

    async def _obey(self, events: list[ReplyEvent]) -> None:
        for event in events:
            match event:
                case Text(text=text):
                    if self._directive_runner.files.is_waiting and is_seen(text):
                        await self._directive_runner.files.flush()
                    self._spoken.note(text)
                    self._text.add(text)
                case Directive():
                    words_wait = self._text.is_hidden and self._text.has_words
                    catch_up = self.catch_up if self._text.has_words else None
                    if instead := await self._directive_runner.obey(event, catch_up=catch_up, words_wait=words_wait):
                        self._spoken.note(f"\n\n{instead}\n\n")
                        self._text.add_paragraph(instead)
                case Problem(code=code, level="debug", detail=detail):
                    log.debug("%s %s: %s: %s", self._conversation.channel.name, self._context.trigger, code, detail)
                case Problem(code=code, level="info", detail=detail):
                    log.info("%s %s: %s: %s", self._conversation.channel.name, self._context.trigger, code, detail)
                case Problem(detail=detail):
                    await self._directive_runner.log.warn(detail)
                case Silent():
                    pass  # the last event: `finish` withdraws the answer

    async def _end_cut(self) -> Sequence[PlannedOperation]:
        """If the answer was cut, says so, and returns the message with the file of the whole answer."""
        if self._reader.silent or not self._text.has_words:
            return ()
        self._text.pass_on_rest()
        if not self._text.is_over:
            return ()
        cut = await self._text.cut()
        return () if cut.file is None else await self._directive_runner.files.show_whole(cut.file)

    async def _settle_spoken(self, beside: Sequence[PlannedOperation]) -> None:
        """Delivers the whole answer, with a voice note after its last message where it is to be spoken (ME-3)."""
        speech = self._context.speech
        if (
            speech is None
            or self._turn.beat is not None
            or not speech.speaks_whole(marked=self._directive_runner.reply.shape.as_voice)
        ):
            return await self._finisher.settle(beside, whole=True)
        wording = replace(self._directive_runner.reply.wording(), reply_to=None)
        note: list[PlannedOperation] = []
        try:
            note = await voice_note(self._spoken.text, speech, self._conversation, wording, self._stem)
        except NotUnderstood as why:
            log.warning("%s: an answer was not spoken: %s", self._conversation.channel.name, why.detail or why)
            self.outcomes.note("voice", "failed", str(why))
        if note and not speech.options.keeps_text and self._drafting.draft.streaming.mode != "blocks":
            return await self._finisher.settle_as_voice([*note, *beside])
        await self._finisher.settle([*note, *beside], whole=True)


def _is_heard_alone(speech: Speech | None) -> bool:
    """Whether the answer is spoken and not shown as text, so that there is no draft."""
    return speech is not None and not speech.options.keeps_text and speech.speaks_whole(marked=False)
