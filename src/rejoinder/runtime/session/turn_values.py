"""Values derived from a turn's messages and settings: what its answer replies to and shows, and what is reported about
it."""

from time import monotonic
from typing import Literal

from rejoinder.agents.base import Agent
from rejoinder.events import Step, TurnOutcome
from rejoinder.outbound.speech import granted_with
from rejoinder.outbound.tools import work_shown
from rejoinder.runtime.answer.answer_sink import AnswerSink
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.reach import Reach
from rejoinder.runtime.answer.speaking import Speech
from rejoinder.runtime.session.briefing import RunContext
from rejoinder.runtime.session.relay import WorkVisibility
from rejoinder.runtime.session.thoughts import Thoughts
from rejoinder.runtime.session.turn_inputs import TurnInput


def answer_context(context: RunContext, speech: Speech | None) -> AnswerContext:
    run, message, name = context.run, context.run.message, context.agent.name
    granted = context.settings.granted
    return AnswerContext(
        run.trigger,
        name,
        message.inbound.sender.id,
        message.inbound.sender.name,
        direct=not message.in_group,
        other_bot=run.conversation.messages.facts.other_bot,
        peers=tuple([peer for peer in context.room if peer != name]) if context.room else (),
        texts=_texts(run.inputs),
        granted=granted if speech is None else granted_with(speech.mode, granted),
        speech=speech,
        reach=Reach(context.settings.rules, context.settings.send_to),
        folder=context.folder,
        loads_files=context.settings.media.loads_files,
        directives=context.settings.directives,
        opens=message.inbound.opened_thread,
        reply_context=message.inbound.reply_context,
        is_message=message.inbound.entry not in ("native", "button") and not message.inbound.unseen,
    )


def _texts(inputs: tuple[TurnInput, ...]) -> tuple[str, ...]:
    """Everything that people wrote for this turn."""
    texts: list[str] = []
    for each in inputs:
        inbound = each.message.inbound
        texts += (inbound.text, *inbound.untrusted_context)
        if each.overheard or inbound.pages:
            texts += [other.text for other in (*each.overheard, *inbound.pages)]
    return tuple(texts)


def shows(context: RunContext, thoughts: Thoughts | None, most: int) -> WorkVisibility:
    run, message = context.run, context.run.message
    place = "nowhere" if message.listening or message.heartbeat else "log" if message.subagent else "chat"
    trusted = all(each.message.command_authorised for each in run.inputs)
    configured, verbose = context.here.tool_display, context.level("verbose").value
    tools, output = work_shown(verbose, configured, place=place, group=message.in_group, trusted=trusted)
    return WorkVisibility(tools, output, thoughts, most)


def chose_model(context: RunContext) -> bool:
    """Whether a person chose the model of this turn, and so has to be told if another one answers."""
    chosen = context.session.model is not None or context.choices.get("model") is not None
    return chosen and not context.run.message.heartbeat


Ended = Literal["answered", "silent", "failed"]


def outcome_of(wrong: str | None, answer: AnswerSink) -> Ended:
    """How a turn ended that nobody stopped; the store, hooks and the trace get the same."""
    if wrong is not None:
        return "failed"
    return "silent" if answer.is_silent else "answered"


def steps_of(
    agent: Agent, ended: TurnOutcome, reason: str | None, began: float, answer: AnswerSink
) -> tuple[Step, ...]:
    """What the turn adds to the trace: when people saw its first word, how it ended, and the results of its
    directives."""
    seen = () if answer.seen_at is None else (Step("first word", "shown", took=answer.seen_at - began),)
    turn = Step(f"agent {agent.name}", ended, reason, monotonic() - began, agent.name)
    return (*seen, turn, *answer.outcomes.steps())
