"""One turn from its messages to its last delivery: brief, try, answer, remember."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from time import monotonic
from typing import Literal

from msgspec.structs import replace

from rejoinder.agents.base import Agent, CanLoad, CanSteer, Failed, Question, Usage
from rejoinder.events import TurnEnded
from rejoinder.inbound.facts import Step
from rejoinder.outbound.prefix import Speaker
from rejoinder.outbound.template import fill, values_of
from rejoinder.outbound.typing import mode_for
from rejoinder.runtime.abilities import can
from rejoinder.runtime.acting import Occasion
from rejoinder.runtime.attempts import Attempts
from rejoinder.runtime.briefing import brief, brief_further, level, people_of
from rejoinder.runtime.delivery import Answer
from rejoinder.runtime.hooks import Tell
from rejoinder.runtime.lanes import Asked, Run
from rejoinder.runtime.presence import TypingSign
from rejoinder.runtime.questions import Questions
from rejoinder.runtime.relay import Ears, Relay, Shows, Watcher
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.sessions import Sessions
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.session import Session, turn_taken, with_event
from rejoinder.turns.signals import Reason
from rejoinder.turns.status import State

DROPPED, SHORTENED = "🙈", "✍️"
TOO_MANY = "Too many messages are waiting: this one was dropped."
TOO_MANY_SHORTENED = "Too many messages are waiting: the agent gets this one in one line."


class Workers:
    """Does the work of the lanes, with what is remembered between turns."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        sessions: Sessions,
        settings: RuntimeSettings,
        runs: Runs,
        questions: Questions,
        clock: Callable[[], datetime],
        watcher: Watcher,
        tell: Tell,
    ) -> None:
        self.failures: dict[str, str] = {}  # why each session's last run failed
        self.context: dict[str, int] = {}  # how full each session's context is, as far as its agent tells
        self.agents = agents
        self._sessions = sessions
        self._settings = settings
        self._runs = runs
        self._questions = questions
        self._clock = clock
        self._watcher = watcher
        self._tell = tell
        self._attempts = Attempts()
        self._loaded: set[str] = set()

    # --- a turn -----------------------------------------------------------------------------------

    async def run(self, run: Run) -> None:
        began = monotonic()
        agent = self.agents[run.agent]
        session = await self._open(run, agent)
        turn = brief(run, session, self._settings, agent)
        await self._sessions.save(replace(turn_taken(session), touched=self._clock()))
        answer = Answer(
            run.conversation,
            self._occasion(run, agent),
            may_speak=lambda: run.may_speak() and not _only_listens(run),
            says_when_empty=_is_awaited(run),
            silence=self._settings.silence,
            prefix=self._prefix(run),
            speaker=lambda: Speaker(agent.name, relay.model or turn.model or "", turn.think or ""),
        )
        failed: Failed | None = None
        ended: Literal["answered", "failed", "cancelled"] = "cancelled"
        try:
            with self._typing(run) as typing:
                relay = Relay(
                    run, agent, answer, typing, self._shows(run, session, agent), self._ears(run, agent, session)
                )
                run.begun(can_steer=can(agent, CanSteer))
                _became(run, State.THINKING)
                verbose = level("verbose", run, session, self._settings, agent) != "off"
                failed = await self._attempts.make(
                    agent,
                    turn,
                    relay.attempt,
                    lambda: answer.begun or not run.may_speak(),
                    answer.add_line if verbose else _unsaid,
                )
                self._note_failure(run, failed)
                if failed is None:
                    await answer.finish(_footer(session, relay.usage, relay.model))
                    ended = "answered" if answer.undelivered is None else "failed"
                else:
                    await answer.fail(failed.sentence, failed.detail)
                    ended = "failed"
            if answer.begun:
                run.conversation.spoke(self._clock().date())
            await self._remember(run, relay.usage, answer)
        except asyncio.CancelledError:
            await answer.abandon()
            raise
        finally:
            self._questions.withdraw(agent, run.conversation.route)
            _end(run, ok=ended == "answered")
            reason = failed.kind if failed is not None else None
            step = Step(f"agent {agent.name}", ended, reason, monotonic() - began)
            run.conversation.trace(run.trigger, (step, *answer.outcomes.steps()))
            self._tell(TurnEnded(run.session, agent.name, run.conversation.route, run.trigger, ended, reason))

    async def _open(self, run: Run, agent: Agent) -> Session:
        """The session; an agent that can is told, once, under which name it kept it (TU-33)."""
        if run.session not in self._loaded:
            self._loaded.add(run.session)
            saved = await self._sessions.saved_as(run.session)
            if saved is not None and can(agent, CanLoad):
                agent.load_session(run.session, saved)
        return await self._sessions.find(run.session, run.agent, self._clock())

    async def _remember(self, run: Run, usage: Usage, answer: Answer) -> None:
        """What the next turn and `/status` are told. Read afresh: a command may have changed it meanwhile."""
        session = await self._sessions.find(run.session, run.agent, self._clock())
        if (told := answer.outcomes.told()) is not None:
            session = with_event(session, told)
        await self._sessions.save(
            replace(
                session,
                input_tokens=session.input_tokens + usage.input_tokens,
                output_tokens=session.output_tokens + usage.output_tokens,
            )
        )
        if usage.context_tokens:
            self.context[run.session] = usage.context_tokens

    def _note_failure(self, run: Run, failed: Failed | None) -> None:
        """Before anything is said of it: who reads the sentence finds the rest in `/status`."""
        if failed is None:
            self.failures.pop(run.session, None)
        else:
            self.failures[run.session] = f"{failed.kind}: {failed.detail or failed.sentence}"

    def _occasion(self, run: Run, agent: Agent) -> Occasion:
        message = run.asked[-1].message
        return Occasion(
            run.trigger,
            agent.name,
            message.inbound.sender.id,
            direct=not message.in_group,
            other_bot=run.conversation.other_bot,
            texts=tuple(asked.message.inbound.text for asked in run.asked),
            granted=self._settings.granted,
        )

    def _prefix(self, run: Run) -> str:
        """What stands before the answer, with what is known of the message it answers (DE-5)."""
        written = run.conversation.how.speech.prefix
        return fill(written, values_of(run.asked[-1].message.inbound, run.session)) if "{{" in written else written

    def _typing(self, run: Run) -> TypingSign:
        message = run.asked[-1].message
        mode = mode_for(
            self._settings.typing_mode,
            direct=not message.in_group,
            mentioned=message.addressed in ("mention", "reply"),
            heartbeat=_only_listens(run),
        )
        return TypingSign(self._runs, run.conversation, mode, self._settings.typing)

    def _shows(self, run: Run, session: Session, agent: Agent) -> Shows:
        verbose = level("verbose", run, session, self._settings, agent)
        reasoning = level("reasoning", run, session, self._settings, agent)
        if _only_listens(run):
            return Shows()
        return Shows(verbose != "off", verbose == "full", reasoning == "on", reasoning == "stream")

    def _ears(self, run: Run, agent: Agent, session: Session) -> Ears:
        async def asks(question: Question) -> None:
            await self._questions.ask(question, agent, run.conversation, people_of(run), session)

        async def opened(saved: str) -> None:
            await self._sessions.save_as(run.session, saved)

        return Ears(asks, opened, self._watcher)

    # --- beside it --------------------------------------------------------------------------------

    async def steer(self, run: Run, asked: tuple[Asked, ...]) -> bool:
        agent = self.agents[run.agent]
        further = brief_further(run, asked, agent)
        return can(agent, CanSteer) and await agent.steer(further)

    async def left_out(self, asked: tuple[Asked, ...], reason: Reason | None) -> None:
        """The sender can see it (TU-5): by a mark on the message, or in words where there are no marks."""
        for each in asked:
            _became_nothing(each)
            if reason == "stopped":
                continue  # who said stop knows
            marked = await each.conversation.mark(
                each.message.inbound.message_id, SHORTENED if reason is None else DROPPED
            )
            if not marked and reason != "interrupted":
                said = TOO_MANY_SHORTENED if reason is None else TOO_MANY
                await each.conversation.send(said, reply_to=each.message.inbound.message_id)
            step = Step("lane", "summarised" if reason is None else "dropped", reason, 0.0)
            each.conversation.trace(each.message.inbound.message_id, (step,))


async def _unsaid(_: str) -> None:
    """Notices are for verbose sessions."""


def _only_listens(run: Run) -> bool:
    return run.asked[-1].message.listening


def _is_awaited(run: Run) -> bool:
    """Somebody surely waits for words (OD-44): in a direct chat, or a group where a person meant the agent."""
    message = run.asked[-1].message
    return not message.in_group or message.addressed in ("mention", "reply")


def _became(run: Run, state: State) -> None:
    for asked in run.asked:
        if asked.signs is not None:
            asked.signs.became(state)


def _end(run: Run, *, ok: bool) -> None:
    for asked in run.asked:
        if asked.signs is not None:
            asked.signs.ended(ok=ok)


def _became_nothing(asked: Asked) -> None:
    if asked.signs is not None:
        asked.signs.ended(ok=False)


def _footer(session: Session, usage: Usage, model: str | None) -> str:
    """The line of `/usage` (TU-29)."""
    if session.usage not in ("tokens", "full"):
        return ""
    line = f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
    if session.usage == "full":
        line += f"; context {usage.context_tokens}" if usage.context_tokens else ""
        line += f"; {model}" if model else ""
    return f"_{line}_"
