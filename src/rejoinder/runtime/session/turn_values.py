"""What follows from a turn's messages and settings: what its answer answers and shows, and what is told of it."""

from time import monotonic
from typing import Literal

from rejoinder.agents.base import Agent, Usage
from rejoinder.events import Step, TurnOutcome
from rejoinder.outbound.tools import display_for
from rejoinder.runtime.answer.answer_sink import AnswerSink
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.reach import Reach
from rejoinder.runtime.answer.speaking import Speech
from rejoinder.runtime.session.briefing import RunContext, outbox_folder
from rejoinder.runtime.session.relay import WorkVisibility
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.speech import granted_with
from rejoinder.runtime.session.thoughts import Thoughts
from rejoinder.runtime.session.turn_inputs import TurnInput
from rejoinder.session import Session


def answer_context(context: RunContext, speech: Speech | None) -> AnswerContext:
    run, message, name = context.run, context.run.message, context.agent.name
    return AnswerContext(
        run.trigger,
        name,
        message.inbound.sender.id,
        message.inbound.sender.name,
        direct=not message.in_group,
        other_bot=run.conversation.messages.facts.other_bot,
        peers=tuple([peer for peer in context.room if peer != name]) if context.room else (),
        texts=_texts(run.inputs),
        granted=granted_with(speech, context.settings.granted),
        speech=speech,
        reach=Reach(context.settings.rules, context.settings.send_to),
        folder=outbox_folder(run.session, context.settings),
        loads_files=context.settings.loads_files,
        directives=context.settings.directives,
        opens=message.inbound.opened_thread,
        reply_context=message.inbound.reply_context,
        is_message=message.inbound.entry not in ("native", "button") and not message.inbound.unseen,
    )


def _texts(inputs: tuple[TurnInput, ...]) -> tuple[str, ...]:
    """All that people wrote for this turn."""
    texts: list[str] = []
    for each in inputs:
        inbound = each.message.inbound
        texts += (inbound.text, *inbound.untrusted_context)
        if each.overheard or inbound.pages:
            texts += [other.text for other in (*each.overheard, *inbound.pages)]
    return tuple(texts)


def shows(context: RunContext, thoughts: Thoughts | None, most: int) -> WorkVisibility:
    run, in_group = context.run, context.run.message.in_group
    if run.message.listening or run.message.heartbeat:
        return WorkVisibility(thoughts=thoughts, most=most)
    if run.message.subagent:
        return WorkVisibility("full", tool_output=True, thoughts=thoughts, most=most)  # in its log
    verbose, tools = context.level("verbose"), "none"
    if verbose != "off":
        trusted = all(each.message.command_authorised for each in run.inputs)
        tools = display_for(run.conversation.settings.tool_display, group=in_group, trusted=trusted)
    output = verbose == "full" and tools == "full" and not in_group
    return WorkVisibility(tools, output, thoughts, most)


def is_awaited(run: Run) -> bool:
    """A person certainly expects an answer (OD-44): in a direct chat, or in a group where they addressed the agent."""
    message = run.message
    if message.background or message.inbound.sender.is_bot:
        return False
    return not message.in_group or message.addressed in ("mention", "reply")


def chose_model(context: RunContext) -> bool:
    """Whether a person chose the model of this turn, and so has to hear that another one answers."""
    chosen = context.session.model is not None or context.choices.get("model") is not None
    return chosen and not context.run.message.heartbeat


Ended = Literal["answered", "silent", "failed"]


def outcome_of(wrong: str | None, answer: AnswerSink) -> Ended:
    """How a turn ended that nobody stopped: the store, hooks and the trace are told the same."""
    if wrong is not None:
        return "failed"
    return "silent" if answer.is_silent else "answered"


def steps_of(
    agent: Agent, ended: TurnOutcome, reason: str | None, began: float, answer: AnswerSink
) -> tuple[Step, ...]:
    """What the turn adds to the trace: when people saw its first word, how it ended, what its directives came to."""
    seen = () if answer.seen_at is None else (Step("first word", "shown", took=answer.seen_at - began),)
    turn = Step(f"agent {agent.name}", ended, reason, monotonic() - began, agent.name)
    return (*seen, turn, *answer.outcomes.steps())


def footer(session: Session, usage: Usage, model: str | None) -> str:
    """The line of `/usage` (TU-29)."""
    if session.usage not in ("tokens", "full"):
        return ""
    line = f"{usage.input_tokens} tokens in, {usage.output_tokens} out"
    if session.usage == "full":
        line += f"; context {usage.context_tokens}" if usage.context_tokens else ""
        line += f"; {model}" if model else ""
    return f"_{line}_"
