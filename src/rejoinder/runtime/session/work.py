"""One turn from its messages to its last delivery: brief, try, answer, remember."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Any, Literal

from msgspec.structs import replace

from rejoinder.agents.base import Agent, CanSteer, Failed, Question, SessionOpened, Usage
from rejoinder.bounded import Bounded
from rejoinder.crashpoint import crashpoint, is_armed
from rejoinder.errors import Superseded
from rejoinder.events import Directive, Inbound, Step, Turn
from rejoinder.inbound.directives.permission import decided_beforehand
from rejoinder.outbound.operations import React, kind
from rejoinder.outbound.prefix import Speaker
from rejoinder.outbound.typing import mode_for
from rejoinder.runtime.abilities import can, can_steer
from rejoinder.runtime.answer.answer_sink import AnswerSink
from rejoinder.runtime.answer.delivery import StreamedAnswer
from rejoinder.runtime.answer.handed_row import HandedRow, handed_over, said
from rejoinder.runtime.answer.heartbeats import Beat
from rejoinder.runtime.answer.options import AnswerOptions
from rejoinder.runtime.answer.speaking import Speech
from rejoinder.runtime.outbox.delivery_results import Unsent
from rejoinder.runtime.services import Services
from rejoinder.runtime.session import notices
from rejoinder.runtime.session.attempts import COMPACTED, Answers, Attempts, Notice, Try
from rejoinder.runtime.session.briefing import Scene, brief, brief_further, model_of, people_of, scene_of
from rejoinder.runtime.session.compaction import Compaction
from rejoinder.runtime.session.fetching import Senses, with_files
from rejoinder.runtime.session.journal import transcript
from rejoinder.runtime.session.prefixes import filled, prefix_of
from rejoinder.runtime.session.presence import TypingSign
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.relay import Relay, RunCallbacks, Watcher
from rejoinder.runtime.session.reminding import Reminder, noted
from rejoinder.runtime.session.requested_compaction import RequestedCompaction
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.speech import speech_of
from rejoinder.runtime.session.subagent_runs import SubagentRuns, named
from rejoinder.runtime.session.subagents import Subagents
from rejoinder.runtime.session.thoughts import Thoughts
from rejoinder.runtime.session.thread_past import with_thread
from rejoinder.runtime.session.tools import RunTools, ToolAsker
from rejoinder.runtime.session.turn_inputs import LeftOut, TurnInput
from rejoinder.runtime.session.turn_values import (
    chose_model,
    footer,
    is_awaited,
    occasion_of,
    shows,
    steps_of,
)
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, is_untouched, with_event
from rejoinder.store.base import (
    EndRun,
    Outcome,
    PutSubagent,
    SaveAgentSession,
    SteerInputs,
    Trace,
    Verb,
)
from rejoinder.turns.heartbeat import heartbeat_of
from rejoinder.turns.signals import Reason
from rejoinder.turns.status import State

NEW_SESSION = "This is a new session."
LOST = "_{agent} could not load its earlier session; it goes on with what the gateway kept of it._"
SESSIONS = 10_000
REACTS = kind(React("", ""))


class AgentTurnRunner:
    """Does the work of the lanes, and remembers what is needed between turns."""

    def __init__(
        self,
        services: Services,
        sessions: Sessions,
        questions: Questions,
        watcher: Watcher,
        hand_over: Callable[[Inbound, Callable[[], bool]], HandedRow],
        subagents: Callable[[], Subagents],
    ) -> None:
        self._hand_over = hand_over
        self.failures: Bounded[str, str] = Bounded(SESSIONS)  # why each session's last run failed
        self._agents = services.agents
        self._sessions = sessions
        self._store = services.store
        self._settings = services.settings
        self._runs = services.runs
        self._lease = services.lease
        self.questions = questions
        self._subagent_runs = SubagentRuns(subagents, questions)
        self._clock = services.clock
        self._watcher = watcher
        self._hooks = services.hooks
        self._tools = services.tools
        self._machine = services.machine
        self.reminder = Reminder(services.store, services.machine)
        self.compaction = Compaction(services, sessions, self.reminder)
        self._requested = RequestedCompaction(services, sessions, self.compaction)
        self._attempts = Attempts(self.compaction.compact)
        self._scenes: dict[Run, Scene] = {}  # one for each turn under way; a turn keeps the settings it began with

    def turns_of(self, agent: Agent) -> list[Run]:
        """The turns this agent is working on."""
        return [run for run, scene in self._scenes.items() if scene.agent is agent]

    @property
    def at_work(self) -> list[Agent]:
        """The agents that have a turn."""
        return [scene.agent for scene in self._scenes.values()]

    @property
    def _senses(self) -> Senses:
        settings = self._settings.now
        describer = self._agents.get(settings.describer or "")
        program = settings.describes_pictures
        return Senses(describer, settings.reads_documents, settings.prepares_recordings, program)

    # --- a turn -----------------------------------------------------------------------------------

    async def run(self, run: Run) -> None:
        assert run.granted is not None
        settings = self._settings.now
        self._scenes[run] = scene = scene_of(run, run.granted.session, settings, self._agents[run.agent])
        run.prefix = prefix_of(run.message, scene.session, settings)
        try:
            await (self._compact if run.message.compacts else self._take_turn)(run, scene)
        finally:
            del self._scenes[run]

    async def _take_turn(self, run: Run, scene: Scene) -> None:
        began = monotonic()
        agent, session = scene.agent, scene.session
        await self.reminder.remind(run.session, agent, session.started)
        answer: AnswerSink = (
            self._subagent_runs.unposted(run, scene) if run.message.subagent else self._answer(run, scene)
        )
        failed: Failed | None = None
        ended: Literal["answered", "failed", "cancelled"] = "cancelled"
        try:
            with self._typing(run, scene) as typing:
                run.asked = await with_thread(run, session, self._clock())
                run.asked = await with_files(run.asked, agent, self._senses)
                turn = brief(scene)
                run.exchange.told.append(turn.parts)
                relay = self._relay(run, scene, answer, typing)
                run.begun(can_steer=can_steer(agent))
                crashpoint("K9")
                _became(run, State.THINKING)
                verbose = scene.level("verbose") != "off" and not run.message.heartbeat
                notice = answer.add_line if verbose else _unsaid
                await self._begin(run, session, notice)
                with self._tools.open(run.session, self._tools_of(run, scene, answer).call):
                    failed = await self._attempts.make(
                        agent,
                        turn,
                        self._fenced(relay.attempt),
                        lambda: relay.begun or not run.may_speak(),
                        notice,
                        aloud=answer.add_line if chose_model(scene) else notice,
                    )
                crashpoint("K14")
                self._note_failure(run, failed)
                run.said_last_word()
                if failed is None:
                    await answer.finish(footer(session, relay.usage, run.exchange.model))
                    ended = "answered" if answer.undelivered is None else "failed"
                else:
                    await answer.fail(failed.sentence, failed.detail)
                    ended = "failed"
            reason = failed.kind if failed is not None else answer.undelivered
            over = self._subagent_runs.ending(run, answer)
            also: tuple[Verb[Any], ...] = (PutSubagent(over),) if over is not None else ()
            also = (*also, *self._hooks.kept(run.turn_ended(run.claim.turn, ended, reason)))
            await self._end(run, relay.usage, answer, failed, steps_of(agent, ended, reason, began, answer), also)
            if over is not None and run.state.is_recorded:
                self._subagent_runs.ended(over)
        except asyncio.CancelledError:
            await answer.abandon()
            raise
        finally:
            self.questions.withdraw(run.claim.turn, runs_again=run.state.runs_again)
            _end(run, ok=ended == "answered")
            reason = failed.kind if failed is not None else answer.undelivered
            if run.trigger:
                run.conversation.trace(run.trigger, steps_of(agent, ended, reason, began, answer))
            self._hooks.tell(run.turn_ended(run.claim.turn, ended, reason), kept=True)  # by whoever ends it
        await self.compaction.after_turn(agent, turn, run.seen)

    def _tools_of(self, run: Run, scene: Scene, answer: AnswerSink) -> RunTools:
        agent, directives = scene.agent.name, scene.settings.directives
        where, kept = self._subagent_runs.conversation_of(run), self._subagent_runs.get(run)

        async def ask(question: Question, answering: ToolAsker) -> bool:
            people = people_of(run)
            if people:
                asked = question if kept is None else named(question, kept)
                await self.questions.ask(run.claim, asked, answering, where, people, None)
            return bool(people)

        async def use(directive: Directive) -> Step:
            if run.message.listening:
                return Step(directive.name, "denied", "this chat is only listened to")
            return await answer.use(directive)

        return RunTools(agent, where, self._store, directives, use, ask)

    def _fenced(self, attempt: Try) -> Try:
        """Begins no try once the shard may be another's (SC-3)."""

        async def fenced(turn: Turn, answers: Answers) -> Failed | None:
            self._lease.check()
            return await attempt(turn, answers)

        return fenced

    def _answer(self, run: Run, scene: Scene) -> StreamedAnswer:
        agent, asked = scene.agent, run.message.inbound
        options = AnswerOptions(
            run=run.claim,
            earlier=run.before,
            may_speak=lambda: run.may_speak() and not run.message.listening,
            says_when_empty=is_awaited(run),
            silence=scene.settings.silence,
            prefix=filled(run.conversation.how.delivery.prefix, run.message, scene.session),
            speaker=lambda: Speaker(agent.name, run.exchange.model or model_of(scene) or "", scene.level("think")),
            kept_with_it=lambda: transcript(run, self._clock()),
            beat=self._beat(run),
            most=scene.settings.max_answer_chars(agent.name),
            hand_over=lambda to, words, id: self._hand_over(
                handed_over(asked, agent.name, to, words, id) if to else said(asked, agent.name, words, id),
                lambda: run.state.runs_again,
            ),
            start=lambda wanted, key: self._subagent_runs.start(run, wanted, key),
        )
        return StreamedAnswer(run.conversation, occasion_of(scene, self._speech(scene)), options)

    def _speech(self, scene: Scene) -> Speech | None:
        return speech_of(scene.run.message, scene.session, scene.settings, scene.run.conversation, scene.agent)

    def _relay(self, run: Run, scene: Scene, answer: AnswerSink, typing: TypingSign) -> Relay:
        callbacks, most = self._callbacks(run, scene, answer), scene.settings.max_answer_chars(run.agent)
        thoughts = self._thoughts(scene, answer) if isinstance(answer, StreamedAnswer) else None
        return Relay(run, scene.agent, answer, typing, callbacks, shows(scene, thoughts, most))

    async def _compact(self, run: Run, scene: Scene) -> None:
        done = False
        try:
            with self._typing(run, scene):
                _became(run, State.THINKING)
                await self._requested.run(run, scene.agent)
                done = True
        finally:
            _end(run, ok=done)

    async def _begin(self, run: Run, session: Session, notice: Notice) -> None:
        """What a verbose session is told before the answer (TU-29)."""
        if is_untouched(session) and not run.message.background:
            await notice(NEW_SESSION)
        if self.compaction.untold(run.session):
            await notice(COMPACTED)

    async def _end(
        self,
        run: Run,
        usage: Usage,
        answer: AnswerSink,
        failed: Failed | None,
        steps: tuple[Step, ...],
        also: tuple[Verb[Any], ...],
    ) -> None:
        """Ends the turn, in one commit with what the next turn and `/status` are told of it."""
        now = self._clock()
        wrong = failed.kind if failed is not None else answer.undelivered
        outcome: Outcome = "failed" if wrong is not None else "answered" if answer.begun else "silent"
        async with self._sessions.changing(run.session, run.agent, now) as held:
            session = held.session  # read again: a command may have changed it meanwhile
            if (told := answer.outcomes.told()) is not None:
                session = with_event(session, told)
            session = replace(
                session,
                input_tokens=session.input_tokens + usage.input_tokens,
                output_tokens=session.output_tokens + usage.output_tokens,
            )
            unit = WriteBatch(
                EndRun(run.claim, outcome, now, wrong or ""),
                Trace(run.asked[-1].event, now, steps),
                *(() if answer.is_kept or (run.message.heartbeat and not answer.begun) else transcript(run, now)),
                *held.becomes(session),
                *also,
            )
            try:
                if is_armed("K22"):  # receipts usually share the commit that ends the turn; this one takes them first
                    await self._store.write(SteerInputs(run.claim, ()))
                crashpoint("K22")
                await unit.insist(self._store)
            except Superseded:
                held.loaded = False  # it was stopped just as it ended: none of this counts
                return
            held.became(session)
        run.record_end()
        crashpoint("K23")
        if usage.context_tokens:
            self.compaction.context[run.session] = usage.context_tokens

    def _beat(self, run: Run) -> Beat | None:
        if not run.message.heartbeat:
            return None
        return Beat(heartbeat_of(run.agent), self._settings.now.ack_max_chars(run.agent), self._store, self._clock)

    def _note_failure(self, run: Run, failed: Failed | None) -> None:
        """Called before the failure is shown, so that a user who reads of it finds the details in `/status`."""
        if failed is None:
            self.failures.pop(run.session, None)
        else:
            self.failures[run.session] = f"{failed.kind}: {failed.detail or failed.sentence}"

    def _typing(self, run: Run, scene: Scene) -> TypingSign:
        message = run.message
        mode = mode_for(
            scene.settings.typing_mode,
            direct=not message.in_group,
            mentioned=message.addressed in ("mention", "reply"),
            heartbeat=message.listening or message.background,
        )
        return TypingSign(self._runs, run.conversation, mode, run.conversation.how.typing, run.agent)

    def _thoughts(self, scene: Scene, answer: StreamedAnswer) -> Thoughts | None:
        run, level = scene.run, scene.level("reasoning")
        if level not in ("on", "stream") or run.message.listening or run.message.heartbeat:
            return None
        return Thoughts(run, answer, self._runs, live=level == "stream")

    def _callbacks(self, run: Run, scene: Scene, answer: AnswerSink) -> RunCallbacks:
        agent = scene.agent

        async def asks(question: Question) -> None:
            if (kept := self._subagent_runs.get(run)) is not None:
                return await self._subagent_runs.ask(run, question, agent, kept, scene.settings.rules)
            session = await self._sessions.find(run.session, run.agent, self._clock())  # as it is now
            heard = [asked.message for asked in run.heard]
            decided = decided_beforehand(scene.choices, session, heard, scene.settings.rules)
            if decided is None:
                await answer.catch_up()
            await self.questions.ask(run.claim, question, agent, run.conversation, people_of(run), decided)

        async def opened(session: SessionOpened) -> None:
            stored = noted(session.saved, agent, self._machine)
            await WriteBatch(SaveAgentSession(run.session, stored)).insist(self._store)
            if session.lost and not run.message.background:
                await answer.add_line(LOST.format(agent=agent.name))

        return RunCallbacks(asks, opened, self._watcher)

    # --- messages without a turn of their own -----------------------------------------------------

    async def steer(self, run: Run, asked: tuple[TurnInput, ...]) -> bool:
        run.heard += asked  # even if the agent refuses: it may have used them anyway
        scene = self._scenes.get(run)
        if scene is None:
            return False  # it is over
        agent = scene.agent
        further = brief_further(scene, await with_files(asked, agent, self._senses))
        taken = can(agent, CanSteer) and self._lease.holds and await agent.steer(further)
        if taken:
            run.exchange.told.append(further.parts)
        return taken

    async def left_out(self, asked: tuple[TurnInput, ...], reason: Reason | None, told: tuple[LeftOut, ...]) -> None:
        for each in asked:
            _became_nothing(each)
            if reason != "stopped":
                step = Step("lane", "summarised" if reason is None else "dropped", reason)
                each.conversation.trace(each.message.inbound.message_id, (step,))
        for each in told:
            follow = each.asked.conversation.sender.follow
            if each.notice.kind == REACTS and isinstance(await follow(each.notice), Unsent):
                await self._say_left_out(each, reason)

    async def _say_left_out(self, left: LeftOut, reason: Reason | None) -> None:
        """Says it in words where the platform did not take the reaction (TU-5)."""
        if (said := notices.left_out_in_words(left.asked, reason, self._clock(), left.prefix)) is not None:
            await WriteBatch(said).insist(self._store)
            notices.wake((left.asked.conversation,))


async def _unsaid(_: str) -> None:
    """Drops a notice: only verbose sessions get them."""


def _became(run: Run, state: State) -> None:
    for asked in run.asked:
        if asked.signs is not None:
            asked.signs.became(state)


def _end(run: Run, *, ok: bool) -> None:
    for asked in (*run.asked, *run.taken_in):
        if asked.signs is not None:
            asked.signs.ended(ok=ok)


def _became_nothing(asked: TurnInput) -> None:
    if asked.signs is not None:
        asked.signs.ended(ok=False)
