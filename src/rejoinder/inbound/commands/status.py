"""Commands that show the state of things: status, usage, context, models, agents."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rejoinder.events import ShowContext
from rejoinder.inbound.commands.command import Arg, Command, CommandCall
from rejoinder.inbound.commands.speech import speech_line
from rejoinder.inbound.directives.effective import effective_level, effective_model
from rejoinder.inbound.directives.levels import DEFAULT, level_options, other_words
from rejoinder.inbound.directives.queue import cannot_steer
from rejoinder.inbound.outcome import Answer
from rejoinder.session import QueueChoice, Session

MOST_OFFERED = 50
"""How many of the models that an agent offers are listed."""

if TYPE_CHECKING:
    from rejoinder.inbound.message import InboundMessage
    from rejoinder.inbound.rules import ChannelRules, Rules


def status_text(
    message: "InboundMessage", session: Session, rules: "Rules", channel: "ChannelRules", now: datetime
) -> str:
    """The whole status in one reply; unknown values are left out."""
    runs, agent = message.facts.run_facts, channel.agent_called(session.agent, message.facts)
    model = effective_model(message.choices, session, agent)
    levels = ", ".join(
        f"{name} {effective_level(name, message.choices, session, rules, agent).value}"
        for name in ("think", "verbose", "reasoning", "elevated")
    )
    queue = session.queue or QueueChoice()
    lines = [
        f"rejoinder {message.facts.version}".rstrip(),
        f"Agent: {agent.name}",
        f"Model: {model.value}" + "".join(f", then {name}" for name in agent.models.fallbacks),
        f"Session: {session.key}, {age(now - session.started)} old",
        f"Levels: {levels}",
        f"Usage: {session.input_tokens} tokens in, {session.output_tokens} out",
        f"Queue: {queue.mode or channel.queue.mode}, {runs.waiting} waiting",
        f"Runs: {int(runs.running and not runs.held_back)} running, {runs.subagents} in the background",
    ]
    if rules.settings.speech.on:
        lines.append(f"Speech: {speech_line(session, rules, message.inbound.channel)}")
    if not agent.steers:
        lines.append(f"Steering: {cannot_steer(agent.name)}")
    if (question := message.facts.question) is not None:
        lines.append(f"Waiting for you: request {question.which}")
    if runs.held_back:
        lines.append(f"Held back: {runs.held_back}")
    if runs.context_budget:
        lines.append(f"Context: {runs.context_tokens} of {runs.context_budget} tokens")
    if message.in_group:
        lines.append(f"Activation: {session.activation or 'as configured'}")
    if runs.dead_parts or runs.held_parts:
        lines.append(f"Not delivered: {runs.dead_parts} given up, {runs.held_parts} never confirmed")
        if message.actor.role == "owner":
            lines.append(_way_out(runs.stuck_here))
        elif runs.stuck_here and not message.in_group:
            lines.append(f"`/resend` sends the {runs.stuck_here} of this chat again.")
    if message.actor.role == "owner":
        lines += [f"Configuration: {runs.not_in_effect}"] if runs.not_in_effect else []
        lines += [f"Last failure: {runs.last_failure}"] if runs.last_failure else []
        lines += ["The agent's last output:", runs.last_output] if runs.last_output else []
    return "\n".join(lines)


def _way_out(stuck_here: int) -> str:
    everywhere = "`/resend all` sends those of every chat; `rejoinder dead` lists them."
    return f"`/resend` sends the {stuck_here} of this chat again; {everywhere}" if stuck_here else everywhere


def age(span: timedelta) -> str:
    """A duration, roughly, in the largest unit that fits."""
    seconds = max(0, int(span.total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _status(call: CommandCall) -> Answer:
    return Answer((status_text(call.message, call.session, call.rules, call.channel, call.now),))


def _usage(call: CommandCall) -> Answer:
    session = call.session
    if level := call.args.get("level"):
        said = "default, which is off" if level == DEFAULT else level
        return Answer((f"Usage line: {said}.",), session=replace(session, usage=None if level == DEFAULT else level))
    spent = f"{session.input_tokens} tokens in, {session.output_tokens} out in this session."
    options = ", ".join(level_options("usage"))
    return Answer((f"Usage: {spent} Usage line: {session.usage or 'off'}. Options: {options}",))


def _context(call: CommandCall) -> Answer:
    return Answer((), effects=(ShowContext(),))


def _models(call: CommandCall) -> Answer:
    agent = call.channel.agent_called(call.session.agent, call.message.facts)
    models = agent.models
    now_used = effective_model({}, call.session, agent).value
    lines = [f"{agent.name} answers with {now_used}."]
    lines += [f"{alias} = {model}" for alias, model in models.aliases.items() if alias != model]
    others = [name for name in models.names() if name not in models.aliases or models.aliases[name] == name]
    lines.append(f"To choose: /model {'|'.join(others) or '<name>'}")
    if models.profiles:
        lines.append(f"With another key or endpoint: /model <name>@{'|'.join(models.profiles)}")
    if further := [name for name in models.offered if not models.allowed and name not in others]:
        more = f" and {len(further) - MOST_OFFERED} more" if len(further) > MOST_OFFERED else ""
        lines.append(f"It also offers: {', '.join(further[:MOST_OFFERED])}{more}")
    if modes := call.message.facts.modes:
        lines.append(f"Its modes: {', '.join(modes[:MOST_OFFERED])} (`options.mode` in [agents.{agent.name}] sets one)")
    return Answer(("\n".join(lines),))


def _agents(call: CommandCall) -> Answer:
    here = {agent.name for agent in call.channel.agents}
    everybody = {agent.name: agent for agent in (*call.channel.agents, *call.rules.agents.values())}
    lines = [
        f"{name}{' (here)' if name in here else ''}: {agent.models.default or 'its own model'}"
        for name, agent in everybody.items()
    ]
    return Answer(("\n".join(lines),))


COMMANDS = (
    Command(
        "status",
        "The current state: agent, model, session, levels, queue.",
        "status",
        inline=True,
        handle=_status,
    ),
    Command(
        "usage",
        "Tokens used; and whether each answer says so.",
        "status",
        args=(Arg("level", level_options("usage"), also=other_words("usage")),),
        handle=_usage,
    ),
    Command("context", "What the prompt is made of, and how large each part is.", "status", handle=_context),
    Command("models", "The models you can choose, and the agent's modes.", "status", handle=_models),
    Command("agents", "The agents of this chat, and the others.", "status", handle=_agents),
)
