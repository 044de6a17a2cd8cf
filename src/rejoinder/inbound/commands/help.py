"""Commands that help people find their way: help, commands, whoami, why."""

from collections.abc import Sequence

from rejoinder.durations import duration_text
from rejoinder.events import Step
from rejoinder.inbound.commands.command import Command, CommandCall
from rejoinder.inbound.gate import Allowed, GatedAction, authorise
from rejoinder.inbound.outcome import Answer


def _help(call: CommandCall) -> Answer:
    names = ("new", "stop", "status", "think", "model", "queue", "why", "commands")
    commands = [command for name in names if _may_use(call, command := call.rules.commands[name])]
    lines = ["Everything you write goes to the agent, except commands such as these:"]
    lines += [f"/{command.name}: {command.help}" for command in commands]
    if any(command.name == "think" for command in commands):
        lines.append("/think, /model and /queue without a value tell you what you can choose.")
    return Answer(("\n".join(lines),))


def _commands(call: CommandCall) -> Answer:
    topics: dict[str, list[str]] = {}
    for command in sorted(set(call.rules.commands.values()), key=lambda each: each.name):
        if _may_use(call, command):
            topics.setdefault(command.topic, []).append(f"{command.usage}: {command.help}")
    if _may_use(call, call.rules.commands["skill"]):
        for skill in call.rules.skills.values():
            topics.setdefault("skills", []).append(f"/{skill.name} [<input>]: {skill.description}")
    if own := sorted(call.message.facts.announced):
        topics[f"{call.session.agent}'s own"] = [f"/{name}" for name in own]
    return Answer(("\n\n".join("\n".join((f"**{topic}**", *lines)) for topic, lines in sorted(topics.items())),))


def _may_use(call: CommandCall, command: Command) -> bool:
    """Whether the sender may use the command. Others would get no answer to it (IN-14), so they are not told of it."""
    action = GatedAction(f"/{command.name}", command.auth_for({}, in_group=call.message.in_group))
    return isinstance(authorise(call.message.actor, action, call.channel.gate), Allowed)


def _whoami(call: CommandCall) -> Answer:
    inbound = call.message.inbound
    lines = [f"You are {inbound.sender.id} on {inbound.channel} ({call.message.actor.role})."]
    if inbound.account != "default":
        lines.append(f"Account: {inbound.account}")
    if call.message.in_group:
        lines.append(f"Group: {inbound.chat.id}")
    if inbound.thread:
        lines.append(f"Thread: {inbound.thread}")
    lines.append(f"In lists: {inbound.channel}:{inbound.sender.id}")
    return Answer(("\n".join(lines),))


def _why(call: CommandCall) -> Answer:
    trace = call.message.facts.last_trace
    if not trace:
        return Answer(("There is no message before this one.",))
    lines = [
        f"{step.stage}: {step.decision}{f', {step.reason}' if step.reason else ''}"
        f"{f' ({duration_text(step.took)})' if step.took else ''}"
        for step in trace
    ]
    return Answer(("\n".join((_in_short(trace), "", *lines)),))


def _in_short(trace: Sequence[Step]) -> str:
    """What happened to the message, in one plain sentence; the steps below it give the details."""
    for step in reversed(trace):
        if not (agent := step.agent or _agent_before(step)):
            continue
        because = f": {step.reason}" if step.reason else ""
        match step.decision:
            case "answered":
                return f"Answered by {agent} in {duration_text(step.took)}."
            case "silent":
                return f"{agent} read it and chose to stay silent."
            case "cancelled":
                return f"{agent} was stopped after {duration_text(step.took)}{because}."
            case _:
                return f"{agent} {step.decision}{because}."
    last = next((step for step in reversed(trace) if step.decision in ("answer", "drop")), None)
    if last is None:
        return "It has no answer yet."
    because = f": {last.reason}" if last.reason else ""
    return f"The gateway answered it itself{because}." if last.decision == "answer" else f"No agent was asked{because}."


def _agent_before(step: Step) -> str:
    """The agent's name; rows of an earlier version have it only in the stage."""
    first, _, name = step.stage.partition(" ")
    return name if first == "agent" else ""


COMMANDS = (
    Command("help", "The most useful commands.", "help", auth="anyone", inline=True, handle=_help),
    Command("commands", "All commands.", "help", auth="anyone", inline=True, handle=_commands),
    Command(
        "whoami",
        "Your id here, for use in allow-lists.",
        "help",
        auth="anyone",
        inline=True,
        aliases=("id",),
        handle=_whoami,
    ),
    Command(
        "why",
        "What each stage decided on the last message that was not a command, or the one you reply to.",
        "help",
        handle=_why,
    ),
)
