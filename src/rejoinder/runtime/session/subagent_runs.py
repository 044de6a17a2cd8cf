"""The runs of sub-agents: how a run starts one, where its words go, how it asks a person, and how it ends."""

from collections.abc import Callable

from msgspec.structs import replace

from rejoinder.agents.base import Agent, Question
from rejoinder.inbound.directives.permission import Initiators, decided_beforehand
from rejoinder.inbound.rules import Rules
from rejoinder.outbound.directives.effects import Spawn
from rejoinder.runtime.answer.answer_sink import AnswerSink
from rejoinder.runtime.answer.options import stem_of
from rejoinder.runtime.answer.unposted import UnpostedAnswer
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.session.briefing import RunContext, people_of
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.subagents import SubagentParent, Subagents
from rejoinder.store.base import StoredSubagent
from rejoinder.turns.subagents import SpawnRequest


def named(question: Question, kept: StoredSubagent) -> Question:
    """The question as people see it, with the name of the sub-agent that asks."""
    return replace(question, text=f"{kept.name} asks: {question.text}")


class SubagentRuns:
    """`all` returns the sub-agents of this engine. They are built from the lanes, which are built after this."""

    def __init__(self, all: Callable[[], Subagents], questions: Questions) -> None:
        self._all = all
        self._questions = questions

    def unposted(self, run: Run, context: RunContext) -> UnpostedAnswer:
        """The answer that takes a sub-agent's words."""

        def broke_off() -> None:
            if not run.state.runs_again:
                self._all().broke_off(run.session)

        granted = "spawn" in context.settings.granted
        answer = UnpostedAnswer(
            context.settings.directives,
            (lambda wanted, key: self.start(run, wanted, key)) if granted else None,
            stem_of(run.claim, run.trigger),
            broke_off,
            context.configured.max_answer_chars,
        )
        self._all().works(run.session, answer.lines)
        return answer

    async def start(self, run: Run, wanted: Spawn, key: str) -> str | None:
        """Starts a sub-agent for this run; returns why it did not."""
        words = [turn_input.message for turn_input in run.known_inputs if not turn_input.message.background]
        by = SubagentParent(
            run.session,
            run.agent,
            run.conversation.route,
            tuple(sorted(people_of(run))),
            bool(words) and all(message.actor.role == "owner" for message in words),
            f"{run.session}/{key}",
        )
        started = await self._all().start(SpawnRequest(wanted.agent, wanted.task, wanted.name), by)
        return started if isinstance(started, str) else None

    async def ask(self, run: Run, question: Question, agent: Agent, kept: StoredSubagent, rules: Rules) -> None:
        """Asks a question of a sub-agent in its conversation, in its name. It may do what the conversation allows at
        this moment."""
        session = await self._all().session_of(run.session, run.agent)
        led = Initiators(kept.route.channel, kept.route.account, kept.people, kept.lifts)
        decided = decided_beforehand({}, session, (), rules, (led,))
        where = self._all().conversation_of(kept)
        if where is None:
            decided, where = decided or False, run.conversation
        await self._questions.ask(run.claim, named(question, kept), agent, where, people_of(run), decided)

    def conversation_of(self, run: Run) -> Conversation:
        """The conversation in which a run asks and which it may read. A sub-agent's words go nowhere, but it works for
        a conversation."""
        kept = self.get(run)
        return (self._all().conversation_of(kept) if kept is not None else None) or run.conversation

    def ending(self, run: Run, answer: AnswerSink) -> StoredSubagent | None:
        """The sub-agent's row after the end of this run; None if the run is not a sub-agent's."""
        if not isinstance(answer, UnpostedAnswer):
            return None
        return self._all().ending(run.session, run.claim.turn, answer.text, answer.failure)

    def ended(self, over: StoredSubagent) -> None:
        self._all().ended(over)

    def get(self, run: Run) -> StoredSubagent | None:
        return self._all().get(run.session) if run.message.subagent else None
