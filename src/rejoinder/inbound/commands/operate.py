"""Running the gateway from a chat: config, resend."""

from rejoinder.events import ResendParts, ShowConfig
from rejoinder.inbound.commands.command import Arg, Call, Command
from rejoinder.inbound.outcome import Answer


def _config(call: Call) -> Answer:
    what, key = call.args.get("what", "show"), call.args.get("key", "")
    if what == "get" and not key:
        return Answer(("Say which: /config get channels.telegram.dm",))
    return Answer((), effects=(ShowConfig(key),))


def _resend(call: Call) -> Answer:
    return Answer((), effects=(ResendParts(call.message.route),))


COMMANDS = (
    Command(
        "config",
        "The configuration in effect, or one part of it, without secrets.",
        "operate",
        auth="owner",
        args=(Arg("what", ("show", "get")), Arg("key")),
        handle=_config,
        switch="config",
    ),
    Command(
        "resend",
        "Send again what was not confirmed here, or was given up.",
        "operate",
        auth="owner",
        handle=_resend,
    ),
)
