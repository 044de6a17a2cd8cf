"""Runs one turn from its messages to its last delivery: brief the agent, try its models, answer, and remember."""

import asyncio
from time import monotonic
from typing import Any

from msgspec.structs import replace

from rejoinder.agents.base import Agent, CanSteer, Failed, Usage
from rejoinder.bounded import Bounded
from rejoinder.crashpoint import crashpoint, is_armed
from rejoinder.errors import Superseded
from rejoinder.events import Step, Turn, TurnEnded, TurnOutcome
from rejoinder.outbound.operations import React, kind
from rejoinder.outbound.usage_line import usage_line
from rejoinder.runtime.abilities import can, can_steer
from rejoinder.runtime.answer.answer_sink import AnswerSink
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.delivery_results import Unsent
from rejoinder.runtime.services import Services
from rejoinder.runtime.session import notices
from rejoinder.runtime.session.attempts import COMPACTED, Attempts, Notice
from rejoinder.runtime.session.briefing import RunContext, brief, brief_further, run_context
from rejoinder.runtime.session.compaction import Compaction
from rejoinder.runtime.session.fetching import FileReaders, with_files
from rejoinder.runtime.session.journal import transcript
from rejoinder.runtime.session.prefixes import prefix_of
from rejoinder.runtime.session.relay import Relay
from rejoinder.runtime.session.requested_compaction import RequestedCompaction
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.session_restorer import SessionRestorer
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.thread_history import with_thread
from rejoinder.runtime.session.turn_inputs import DroppedInput, TurnInput
from rejoinder.runtime.session.turn_parts import TurnParts
from rejoinder.runtime.session.turn_values import (
    Ended,
    chose_model,
    outcome_of,
    steps_of,
)
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, is_untouched, with_event
from rejoinder.store.base import (
    EndRun,
    PutSubagent,
    SteerInputs,
    Trace,
    Verb,
)
from rejoinder.turns.signals import Reason
from rejoinder.turns.status import State

NEW_SESSION = "This is a new session."
SESSIONS = 10_000
REACTS = kind(React("", ""))


class AgentTurnRunner:
    """Runs the turns of all lanes, and remembers what later turns need."""

    def __init__(self, services: Services, sessions: Sessions, parts: TurnParts) -> None:
        self.failures: Bounded[str, str] = Bounded(SESSIONS)  # why each session's last run failed
        self._agents = services.agents
        self._sessions = sessions
        self._store = services.store
        self._settings = services.settings
        self._lease = services.lease
        self._parts = parts
        self.questions = parts.questions
        self._clock = services.clock
        self._hooks = services.hooks
        self._tools = services.tools
        self.restorer = SessionRestorer(services.store, services.memory.restored, services.machine)
        self.compaction = Compaction(services, sessions, self.restorer)
        self._requested = RequestedCompaction(services, sessions, self.compaction)
        self._attempts = Attempts(self.compaction.compact, services.lease.check)
        self._contexts: dict[Run, RunContext] = {}  # by turn under way, with the settings it began with

    def turns_of(self, agent: Agent) -> list[Run]:
        """The turns on which this agent is working."""
        return [run for run, context in self._contexts.items() if context.agent is agent]

    @property
    def at_work(self) -> list[Agent]:
        """The agents that have a turn."""
        return [context.agent for context in self._contexts.values()]

    @property
    def _file_readers(self) -> FileReaders:
        media = self._settings.now.media
        describer = self._agents.get(media.describer or "")
        return FileReaders(describer, media.reads_documents, media.prepares_recordings, media.describes_pictures)

    # --- a turn -----------------------------------------------------------------------------------

    async def run(self, run: Run) -> None:
        assert run.granted is not None
        settings = self._settings.now
        self._contexts[run] = context = run_context(run, run.granted.session, settings, self._agents[run.agent])
        run.speak_with(prefix_of(run.message, context.session, settings))
        try:
            await (self._compact if run.message.compacts else self._take_turn)(run, context)
        finally:
            del self._contexts[run]

    async def _take_turn(self, run: Run, context: RunContext) -> None:
        began = monotonic()
        agent, session = context.agent, context.session
        await self.restorer.restore(run.session, agent, session.started)
        answer = self._parts.answer(run, context)
        failed: Failed | None = None
        ended: TurnOutcome = "cancelled"
        steps: tuple[Step, ...] = ()
        try:
            with self._parts.typing(run, context) as typing:
                asked = await with_thread(run, session, self._clock())
                run.complete(await with_files(asked, agent, self._file_readers))
                turn = brief(context)
                run.transcript.told.append(turn.parts)
                relay = self._parts.relay(run, context, answer, typing)
                run.begun(can_steer=can_steer(agent))
                crashpoint("K9")
                failed = await self._ask(run, context, turn, answer, relay)
                crashpoint("K14")
                self._note_failure(run, failed)
                run.mark_ending()
                if failed is None:
                    await answer.finish(_footer(session, relay.usage, run) if session.usage is not None else "")
                else:
                    await answer.fail(failed.sentence, failed.detail)
            reason = failed.kind if failed is not None else answer.undelivered
            ended = outcome_of(reason, answer)
            over = self._parts.subagent_runs.ending(run, answer)
            also: tuple[Verb[Any], ...] = (PutSubagent(over),) if over is not None else ()
            if self._hooks.wants(TurnEnded):
                also = (*also, *self._hooks.kept(run.turn_ended(run.claim.turn, ended, reason)))
            steps = steps_of(agent, ended, reason, began, answer)
            await self._end(run, relay.usage, answer, ended, reason, steps, also)
            if over is not None and run.state.is_recorded:
                self._parts.subagent_runs.ended(over)
        except asyncio.CancelledError:
            await answer.abandon()
            raise
        finally:
            self.questions.withdraw(run.claim.turn, runs_again=run.state.runs_again)
            _end(run, ok=ended in ("answered", "silent"))
            reason = failed.kind if failed is not None else answer.undelivered
            if run.trigger:
                run.conversation.trace(run.trigger, steps or steps_of(agent, ended, reason, began, answer))
            if self._hooks.wants(TurnEnded):
                self._hooks.tell(
                    run.turn_ended(run.claim.turn, ended, reason), kept=True
                )  # its end is written elsewhere
        await self.compaction.after_turn(agent, turn, run.seen)

    async def _ask(self, run: Run, context: RunContext, turn: Turn, answer: AnswerSink, relay: Relay) -> Failed | None:
        _became(run, State.THINKING)
        verbose = context.level("verbose").value != "off" and not run.message.heartbeat
        notice = answer.add_line if verbose else _unsaid
        await self._begin(run, context.session, notice)
        self._tools.open(run.session, lambda name, given: self._parts.tools(run, context, answer).call(name, given))
        try:
            return await self._attempts.run(
                context.agent,
                turn,
                relay.attempt,
                lambda: relay.begun or not run.may_speak(),
                notice,
                no_such_model=answer.add_line if chose_model(context) else notice,
            )
        finally:
            self._tools.close(run.session)

    async def _compact(self, run: Run, context: RunContext) -> None:
        done = False
        try:
            with self._parts.typing(run, context):
                _became(run, State.THINKING)
                await self._requested.run(run, context.agent)
                done = True
        finally:
            _end(run, ok=done)

    async def _begin(self, run: Run, session: Session, notice: Notice) -> None:
        """Says the notices that a verbose session gets before the answer (TU-29)."""
        if is_untouched(session) and not run.message.background:
            await notice(NEW_SESSION)
        if self.compaction.untold(run.session):
            await notice(COMPACTED)

    async def _end(
        self,
        run: Run,
        usage: Usage,
        answer: AnswerSink,
        ended: Ended,
        reason: str | None,
        steps: tuple[Step, ...],
        also: tuple[Verb[Any], ...],
    ) -> None:
        """Ends the turn, in one commit with what the next turn and `/status` will be told."""
        now = self._clock()
        async with self._sessions.changing(run.session, run.agent, now) as held:
            session = held.session  # read again: a command may have changed it meanwhile
            if (told := answer.outcomes.sentence()) is not None:
                session = with_event(session, told)
            if usage.input_tokens or usage.output_tokens:
                session = replace(
                    session,
                    input_tokens=session.input_tokens + usage.input_tokens,
                    output_tokens=session.output_tokens + usage.output_tokens,
                )
            batch = WriteBatch(
                EndRun(run.claim, ended, now, reason or ""),
                Trace(run.inputs[-1].event, now, steps),
                *(() if answer.is_kept or (run.message.heartbeat and not answer.begun) else transcript(run, now)),
                *held.put_verbs(session),
                *also,
            )
            try:
                # Receipts usually share the commit that ends the turn; this crash point needs them stored first.
                if is_armed("K22"):
                    await self._store.write(SteerInputs(run.claim, ()))
                crashpoint("K22")
                await batch.insist(self._store)
            except Superseded:
                held.read_again()  # it was stopped just as it ended: none of this counts
                return
            held.mark_stored(session)
        run.record_end()
        crashpoint("K23")
        if usage.context_tokens:
            self.compaction.context[run.session] = usage.context_tokens

    def _note_failure(self, run: Run, failed: Failed | None) -> None:
        """Notes a failure before it is shown, so that a user who then asks finds the details in `/status`."""
        if failed is None:
            self.failures.pop(run.session, None)
        else:
            self.failures[run.session] = f"{failed.kind}: {failed.detail or failed.sentence}"

    # --- messages without a turn of their own -----------------------------------------------------

    async def steer(self, run: Run, inputs: tuple[TurnInput, ...]) -> bool:
        run.offer(inputs)
        context = self._contexts.get(run)
        if context is None:
            return False  # it is over
        agent = context.agent
        further = brief_further(context, await with_files(inputs, agent, self._file_readers))
        taken = can(agent, CanSteer) and self._lease.holds and await guarded(agent.steer(further))
        if taken:
            run.transcript.told.append(further.parts)
        return taken

    async def inputs_left_out(
        self, inputs: tuple[TurnInput, ...], reason: Reason | None, dropped: tuple[DroppedInput, ...]
    ) -> None:
        for each in inputs:
            _became_nothing(each)
            if reason != "stopped":
                step = Step("lane", "summarised" if reason is None else "dropped", reason)
                each.conversation.trace(each.message.inbound.message_id, (step,))
        for each in dropped:
            follow = each.input.conversation.sender.follow
            if each.notice.kind == REACTS and isinstance(await follow(each.notice), Unsent):
                await self._say_left_out(each, reason)

    async def _say_left_out(self, left: DroppedInput, reason: Reason | None) -> None:
        """Sends the notice as text if the platform did not accept the reaction (TU-5)."""
        if (said := notices.left_out_notice_in_words(left.input, reason, self._clock(), left.prefix)) is not None:
            await WriteBatch(said).insist(self._store)
            notices.wake((left.input.conversation,))


async def _unsaid(_: str) -> None:
    """Drops a notice: only verbose sessions get them."""


def _footer(session: Session, used: Usage, run: Run) -> str:
    tokens = used.input_tokens, used.output_tokens, used.context_tokens
    return usage_line(session.usage, *tokens, run.transcript.model)


def _became(run: Run, state: State) -> None:
    for each in run.inputs:
        if each.signs is not None:
            each.signs.became(state)


def _end(run: Run, *, ok: bool) -> None:
    for each in (*run.inputs, *run.steered_inputs):
        if each.signs is not None:
            each.signs.ended(ok=ok)


def _became_nothing(turn_input: TurnInput) -> None:
    if turn_input.signs is not None:
        turn_input.signs.ended(ok=False)
