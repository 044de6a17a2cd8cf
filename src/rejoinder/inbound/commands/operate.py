"""Running the gateway from a chat: config, debug, resend, restart, bash."""

from rejoinder.events import ChangeDebug, ResendParts, RestartGateway, RunShell, ShowConfig, WriteConfig
from rejoinder.inbound.commands.command import Arg, Command, CommandCall
from rejoinder.inbound.elevation import gates
from rejoinder.inbound.ids import candidates
from rejoinder.inbound.outcome import Answer


def _key_and_value(call: CommandCall) -> tuple[str, str]:
    """`key value`, `key=value` and `key = value` are the same."""
    key, _, value = call.args.get("key", "").partition("=")
    return key, f"{value} {call.args.get('value', '')}".strip().removeprefix("=").strip()


def _config(call: CommandCall) -> Answer:
    what, (key, value) = call.args.get("what", "show"), _key_and_value(call)
    match what:
        case "set" if key and value:
            return Answer((), effects=(WriteConfig(key, value),))
        case "unset" if key and not value:
            return Answer((), effects=(WriteConfig(key, None),))
        case "show" if not value:
            return Answer((), effects=(ShowConfig(key),))
        case "get" if key and not value:
            return Answer((), effects=(ShowConfig(key),))
        case _:
            said = "Say /config get channels.telegram.dm, /config set messages.queue.mode steer or /config unset KEY."
            return Answer((said,))


def _debug(call: CommandCall) -> Answer:
    what, (key, value) = call.args.get("what", "show"), _key_and_value(call)
    match what:
        case "set" if key and value:
            return Answer((), effects=(ChangeDebug("set", key, value),))
        case "unset" if key and not value:
            return Answer((), effects=(ChangeDebug("unset", key),))
        case "show" | "reset" if not key:
            return Answer((), effects=(ChangeDebug(what),))
        case _:
            return Answer(("Say /debug set messages.queue.mode steer, /debug unset KEY, /debug show or /debug reset.",))


def _resend(call: CommandCall) -> Answer:
    """Sends again or runs again what failed: for people in their own direct chat, and for an owner anywhere (IN-61)."""
    if call.args.get("where") == "all":
        return Answer((), effects=(ResendParts(None),))
    return Answer((), effects=(ResendParts(call.message.route),))


def _restart(call: CommandCall) -> Answer:
    return Answer(("Restarting.",), effects=(RestartGateway(),))


def _bash(call: CommandCall) -> Answer:
    inbound = call.message.inbound
    ids = candidates(call.channel.place.identity, inbound.sender)
    if closed := gates(call.rules, call.channel, inbound.account, ids):
        return Answer((f"/bash needs what /elevated needs: {'; '.join(closed)}.",))
    return Answer((), effects=(RunShell(call.args["command"]),))


COMMANDS = (
    Command(
        "config",
        "The configuration in effect, without secrets; change one key of the file.",
        "operate",
        auth="owner",
        args=(Arg("what", ("show", "get", "set", "unset")), Arg("key"), Arg("value", rest=True, told="<new value>")),
        handle=_config,
        switch="config",
    ),
    Command(
        "debug",
        "Settings that apply until the next start and override the file.",
        "operate",
        auth="owner",
        args=(Arg("what", ("show", "set", "unset", "reset")), Arg("key"), Arg("value", rest=True, told="<new value>")),
        handle=_debug,
        switch="debug",
    ),
    Command(
        "resend",
        "Send again what may not have arrived here, and run again what is quarantined; `all`: in every chat.",
        "operate",
        args=(Arg("where", ("all",)),),
        handle=_resend,
        owner_when=lambda args: "where" in args,
        owner_in_groups=True,
    ),
    Command(
        "restart",
        "Restart the gateway cleanly, with its current configuration.",
        "operate",
        auth="owner",
        handle=_restart,
    ),
    Command(
        "bash",
        "Run a shell command where the gateway runs; also `! command`.",
        "operate",
        auth="owner",
        args=(Arg("command", required=True, rest=True),),
        handle=_bash,
        switch="bash",
    ),
)
