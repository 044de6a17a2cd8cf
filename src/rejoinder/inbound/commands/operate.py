"""Running the gateway from a chat: config, debug, restart."""

from rejoinder.events import Restart, ShowConfig, WriteConfig
from rejoinder.inbound.commands.command import Arg, Call, Command
from rejoinder.inbound.outcome import Answer


def _change(call: Call, *, persist: bool) -> Answer:
    """`set key=value`, `unset key`; kept in the file, or until the next start."""
    what, said = call.args.get("what", "show"), call.args.get("key", "")
    if what in ("show", "get"):
        return Answer((), effects=(ShowConfig(said, overrides_only=not persist),))
    key, equals, value = (part.strip() for part in said.partition("="))
    if not key or (what == "set" and not equals):
        return Answer((f"Say which: /{call.command.name} set key=value, or unset key",))
    written = value if what == "set" else None
    done = f"{key} is set." if what == "set" else f"{key} is unset."
    return Answer((done,), effects=(WriteConfig(key, written, persist),))


def _config(call: Call) -> Answer:
    return _change(call, persist=True)


def _debug(call: Call) -> Answer:
    return _change(call, persist=False)


def _restart(call: Call) -> Answer:
    return Answer(("Restarting once what runs has ended.",), effects=(Restart(),))


COMMANDS = (
    Command(
        "config",
        "The configuration: show it, change it.",
        "operate",
        auth="owner",
        args=(Arg("what", ("show", "get", "set", "unset")), Arg("key", rest=True)),
        handle=_config,
        switch="config",
    ),
    Command(
        "debug",
        "Settings that hold until the next start.",
        "operate",
        auth="owner",
        args=(Arg("what", ("show", "set", "unset")), Arg("key", rest=True)),
        handle=_debug,
        switch="debug",
    ),
    Command("restart", "Restart the gateway.", "operate", auth="owner", handle=_restart),
)
