"""Running the gateway from a chat: config, resend, restart, bash."""

from rejoinder.events import ResendParts, RestartGateway, RunShell, ShowConfig
from rejoinder.inbound.commands.command import Arg, Call, Command
from rejoinder.inbound.elevation import gates
from rejoinder.inbound.ids import candidates
from rejoinder.inbound.outcome import Answer


def _config(call: Call) -> Answer:
    what, key = call.args.get("what", "show"), call.args.get("key", "")
    if what == "get" and not key:
        return Answer(("Say which: /config get channels.telegram.dm",))
    return Answer((), effects=(ShowConfig(key),))


def _resend(call: Call) -> Answer:
    return Answer((), effects=(ResendParts(call.message.route),))


def _restart(call: Call) -> Answer:
    return Answer(("Restarting.",), effects=(RestartGateway(),))


def _bash(call: Call) -> Answer:
    inbound = call.message.inbound
    if closed := gates(call.rules, call.channel, inbound.account, candidates(inbound.channel, inbound.sender)):
        return Answer((f"/bash asks for what /elevated asks for: {'; '.join(closed)}.",))
    return Answer((), effects=(RunShell(call.args["command"]),))


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
    Command(
        "restart",
        "End the gateway in good order and start it again, with the configuration as it is now.",
        "operate",
        auth="owner",
        handle=_restart,
    ),
    Command(
        "bash",
        "Run a command beside the gateway; also `! command`.",
        "operate",
        auth="owner",
        args=(Arg("command", required=True, rest=True),),
        handle=_bash,
        switch="bash",
    ),
)
