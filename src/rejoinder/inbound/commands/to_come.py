"""Commands that are not implemented yet.

Their names are reserved and guarded: none of them reaches an agent as text, and no plug-in can take one. Help and
menus do not show them.
"""

from rejoinder.inbound.commands.command import Arg, Call, Command
from rejoinder.inbound.gate import Auth
from rejoinder.inbound.outcome import Answer


def _not_yet(call: Call) -> Answer:
    return Answer((f"/{call.command.name} does not work yet.",), reason="a command to come")


def _to_come(name: str, help: str, auth: Auth = "sender", switch: str | None = None) -> Command:
    rest = (Arg("rest", rest=True),)
    return Command(name, help, "to come", auth, rest, handle=_not_yet, switch=switch, to_come=True)


COMMANDS = (_to_come("tts", "Whether answers are spoken."),)
