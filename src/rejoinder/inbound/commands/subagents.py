"""The commands about sub-agents: subagents, kill, steer (TU-36). This file parses them; the runtime carries them
out."""

from typing import Literal

from rejoinder.events import AskSubagents
from rejoinder.inbound.commands.command import Arg, Command, CommandCall
from rejoinder.inbound.outcome import Answer

What = Literal["list", "info", "log", "send", "steer", "kill", "spawn"]
WORDS: dict[str, tuple[What, int]] = {
    "list": ("list", 0),
    "info": ("info", 1),
    "log": ("log", 1),
    "send": ("send", 2),
    "steer": ("steer", 2),
    "kill": ("kill", 1),
    "spawn": ("spawn", 2),
}
"""What each word means, and how many more words it needs: a name, and a text."""


def _asked(call: CommandCall, word: str) -> Answer:
    what, needs = WORDS[word]
    name, text = call.args.get("name", ""), call.args.get("text", "")
    if needs > bool(name) + bool(text):
        wanted = "an agent and a task" if what == "spawn" else "a name and a text" if needs > 1 else "a name"
        return Answer((f"{word} needs {wanted}: {_USAGE[word]}",))
    return Answer((), effects=(AskSubagents(what, name, text),))


_USAGE = {
    "info": "/subagents info <name>",
    "log": "/subagents log <name>",
    "send": "/subagents send <name> <text>",
    "steer": "/steer <name> <text>",
    "kill": "/kill <name>|all",
    "spawn": "/subagents spawn <agent> <task>",
}


COMMANDS = (
    Command(
        "subagents",
        "The sub-agents of this session: list, look at, talk to, end or start one.",
        "session",
        args=(Arg("what", tuple(WORDS)), Arg("name"), Arg("text", rest=True)),
        handle=lambda call: _asked(call, call.args.get("what", "list")),
    ),
    Command(
        "kill",
        "End a sub-agent of this session, or all of them.",
        "session",
        args=(Arg("name", told="<name>|all"),),
        handle=lambda call: _asked(call, "kill"),
    ),
    Command(
        "steer",
        "Send a message to a sub-agent of this session.",
        "session",
        args=(Arg("name"), Arg("text", rest=True)),
        handle=lambda call: _asked(call, "steer"),
    ),
)
