"""A command: `/roost barn`."""

from rejoinder.inbound.commands.command import Arg, Command, CommandCall
from rejoinder.inbound.outcome import Answer


def _roost(call: CommandCall) -> Answer:
    return Answer((f"Asleep in the **{call.args['where']}**.",))


COMMANDS = (Command("roost", "Sleep somewhere.", "birds", args=(Arg("where", required=True),), handle=_roost),)
