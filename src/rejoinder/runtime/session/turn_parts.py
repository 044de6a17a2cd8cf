"""The parts that a turn works with: the answer for its words, the relay of its events, its typing sign, its tools."""

from collections.abc import Callable

from rejoinder.agents.base import Question, SessionOpened
from rejoinder.events import Directive, Inbound, Step
from rejoinder.inbound.directives.permission import decided_beforehand
from rejoinder.outbound.prefix import Speaker
from rejoinder.outbound.typing import mode_for
from rejoinder.runtime.answer.answer_sink import AnswerSink
from rejoinder.runtime.answer.delivery import StreamedAnswer
from rejoinder.runtime.answer.handoff_row import HandoffRow, handoff_inbound, said
from rejoinder.runtime.answer.heartbeats import HeartbeatAnswer
from rejoinder.runtime.answer.options import AnswerOptions
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.briefing import RunContext, model_of, people_of
from rejoinder.runtime.session.journal import transcript
from rejoinder.runtime.session.prefixes import filled
from rejoinder.runtime.session.presence import TypingSign
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.relay import Relay, RunCallbacks, Watcher
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.session_restorer import noted
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.speech import speech_of
from rejoinder.runtime.session.subagent_runs import SubagentRuns, named
from rejoinder.runtime.session.thoughts import Thoughts
from rejoinder.runtime.session.tools import RunTools, ToolAsker
from rejoinder.runtime.session.turn_values import answer_context, shows
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import PutAgentSession
from rejoinder.turns.heartbeat import heartbeat_of

LOST = "_{agent} could not load its earlier session; it continues from what the gateway stored of it._"


class TurnParts:
    def __init__(
        self,
        services: Services,
        sessions: Sessions,
        questions: Questions,
        subagent_runs: SubagentRuns,
        watcher: Watcher,
        hand_over: Callable[[Inbound, Callable[[], bool]], HandoffRow],
    ) -> None:
        self.questions = questions
        self.subagent_runs = subagent_runs
        self._sessions = sessions
        self._watcher = watcher
        self._hand_over = hand_over
        self._store = services.store
        self._tasks = services.tasks
        self._clock = services.clock
        self._machine = services.machine

    def answer(self, run: Run, context: RunContext) -> AnswerSink:
        """The answer that takes the agent's words."""
        if run.message.subagent:
            return self.subagent_runs.unposted(run, context)
        agent, asked = context.agent, run.message.inbound
        speech = speech_of(run.message, context.session, context.settings, run.conversation, agent)
        options = AnswerOptions(
            run=run.claim,
            earlier=run.earlier_parts,
            may_speak=_never if run.message.listening else run.may_speak,
            says_when_empty=run.message.awaits_answer,
            silence=context.settings.silence,
            prefix=filled(context.here.delivery.prefix, run.message, context.session),
            speaker=lambda: Speaker(
                agent.name, run.transcript.model or model_of(context) or "", context.level("think").value
            ),
            final_verbs=lambda: transcript(run, self._clock()),
            beat=self._beat(context),
            most=context.configured.max_answer_chars,
            hand_over=lambda to, words, id: self._hand_over(
                handoff_inbound(asked, agent.name, to, words, id) if to else said(asked, agent.name, words, id),
                lambda: run.state.runs_again,
            ),
            start=lambda wanted, key: self.subagent_runs.start(run, wanted, key),
        )
        return StreamedAnswer(run.conversation, answer_context(context, speech), options)

    def _beat(self, context: RunContext) -> HeartbeatAnswer | None:
        if not context.message.heartbeat:
            return None
        heartbeat, most = heartbeat_of(context.agent.name), context.configured.ack_max_chars
        return HeartbeatAnswer(heartbeat, most, self._store, self._clock)

    def typing(self, run: Run, context: RunContext) -> TypingSign:
        message = run.message
        mode = mode_for(
            context.settings.typing_mode,
            direct=not message.in_group,
            mentioned=message.addressed in ("mention", "reply"),
            heartbeat=message.listening or message.background,
        )
        return TypingSign(self._tasks, run.conversation, mode, context.here.typing, run.agent)

    def relay(self, run: Run, context: RunContext, answer: AnswerSink, typing: TypingSign) -> Relay:
        """The relay that receives the agent's events."""
        callbacks, most = self._callbacks(run, context, answer), context.configured.max_answer_chars
        thoughts = self._thoughts(context, answer) if isinstance(answer, StreamedAnswer) else None
        return Relay(run, context.agent, answer, typing, callbacks, shows(context, thoughts, most))

    def _thoughts(self, context: RunContext, answer: StreamedAnswer) -> Thoughts | None:
        run, level = context.run, context.level("reasoning").value
        if level not in ("on", "stream") or run.message.listening or run.message.heartbeat:
            return None
        return Thoughts(run, answer, self._tasks, live=level == "stream")

    def _callbacks(self, run: Run, context: RunContext, answer: AnswerSink) -> RunCallbacks:
        agent = context.agent

        async def asks(question: Question) -> None:
            if (kept := self.subagent_runs.get(run)) is not None:
                return await self.subagent_runs.ask(run, question, agent, kept, context.settings.rules)
            if run.message.subagent:  # it was killed, or its rights are no longer known
                return await self.questions.ask(run.claim, question, agent, run.conversation, frozenset(), None)
            session = await self._sessions.find(run.session, run.agent, self._clock())  # as it is now
            heard = [asked.message for asked in run.known_inputs]
            decided = decided_beforehand(context.choices, session, heard, context.settings.rules)
            if decided is None:
                await answer.catch_up()
            await self.questions.ask(run.claim, question, agent, run.conversation, people_of(run), decided)

        async def opened(session: SessionOpened) -> None:
            stored = noted(session.saved, agent, self._machine)
            await WriteBatch(PutAgentSession(run.session, stored)).insist(self._store)
            if session.lost and not run.message.background:
                await answer.add_line(LOST.format(agent=agent.name))

        return RunCallbacks(asks, opened, self._watcher)

    def tools(self, run: Run, context: RunContext, answer: AnswerSink) -> RunTools:
        """The tools that the agent can call while it works."""
        agent, directives = context.agent.name, context.settings.directives
        where, kept = self.subagent_runs.conversation_of(run), self.subagent_runs.get(run)

        async def ask(question: Question, answering: ToolAsker) -> bool:
            people = people_of(run)
            if people:
                asked = question if kept is None else named(question, kept)
                await self.questions.ask(run.claim, asked, answering, where, people, None)
            return bool(people)

        async def use(directive: Directive) -> Step:
            if run.message.listening:
                return Step(directive.name, "denied", "this chat is in listen mode")
            return await answer.use(directive)

        return RunTools(agent, where, self._store, directives, use, ask)


def _never() -> bool:
    return False
