"""Commands about the conversation: new, reset, stop, compact, export-session, session, activation, send, skill."""

from msgspec.structs import replace

from rejoinder.events import CompactSession, ExportSession, ResetBotTurns
from rejoinder.inbound.commands.command import Arg, Command, CommandCall
from rejoinder.inbound.commands.status import age
from rejoinder.inbound.outcome import Answer
from rejoinder.session import with_event

LONGEST_LABEL = 80


def _compact(call: CommandCall) -> Answer:
    effect = CompactSession(call.session.key, call.args.get("instructions", ""))
    return Answer((), effects=(effect,))


def _export(call: CommandCall) -> Answer:
    shared = call.rules.settings.session.scope == "shared" and not call.message.in_group
    if shared and call.message.actor.role != "owner":
        return Answer(("Other people share this session: only the owner may export it.",))
    return Answer((), effects=(ExportSession(),))


def _session(call: CommandCall) -> Answer:
    session, what = call.session, call.args.get("what")
    if what == "bots":
        return Answer(("Bot turns are counted from zero again.",), effects=(ResetBotTurns(call.message.route),))
    if what == "label":
        label = call.args.get("name")
        if label is not None and len(label) > LONGEST_LABEL:
            return Answer((f"A label has at most {LONGEST_LABEL} characters; this one has {len(label)}.",))
        said = f"This session is called {label}." if label else "This session has no label."
        return Answer((said,), session=replace(session, label=label))
    label = f" ({session.label})" if session.label else ""
    return Answer((f"Session {session.key}{label}, {age(call.now - session.started)} old.",))


def _activation(call: CommandCall) -> Answer:
    if not call.message.in_group:
        return Answer(("Activation is for groups; here every message is answered.",))
    mode = call.args.get("mode")
    if mode is None:
        return Answer((f"Activation: {call.session.activation or 'as configured'}. Options: mention, always",))
    when = "when mentioned" if mode == "mention" else "to every message; stay silent when none is needed"
    changed = replace(call.session, activation=mode)
    return Answer((f"Activation: {mode}.",), session=with_event(changed, f"From now on you answer here {when}."))


def _send(call: CommandCall) -> Answer:
    mode = call.args.get("mode")
    if mode is None:
        return Answer((f"Sending: {call.session.send_policy or 'inherit'}. Options: on, off, inherit",))
    kept = None if mode == "inherit" else mode
    return Answer((f"Sending: {mode}.",), session=replace(call.session, send_policy=kept))


COMMANDS = (
    Command(
        "new",
        "Start a new session; what follows is its first prompt.",
        "session",
        args=(Arg("prompt", rest=True),),
        stage="freshness_and_reset",
    ),
    Command(
        "reset",
        "The same as /new.",
        "session",
        args=(Arg("prompt", rest=True),),
        stage="freshness_and_reset",
    ),
    Command("stop", "Stop the run and drop the messages that wait.", "session", stage="abort"),
    Command(
        "compact",
        "Shorten the conversation; you can say what to keep.",
        "session",
        args=(Arg("instructions", rest=True),),
        handle=_compact,
        takes_turn=True,
    ),
    Command(
        "export-session",
        "The transcript of this session, as a file where files can be sent.",
        "session",
        aliases=("export",),
        handle=_export,
    ),
    Command(
        "session",
        "The session's key and age; give it a label, or let bots speak again.",
        "session",
        args=(Arg("what", ("show", "label", "bots")), Arg("name", rest=True)),
        handle=_session,
        owner_when=lambda args: args.get("what") == "bots",
    ),
    Command(
        "activation",
        "When the agent answers in this group.",
        "session",
        auth="owner",
        args=(Arg("mode", ("mention", "always"), also=(("mentions", "mention"), ("all", "always"))),),
        handle=_activation,
    ),
    Command(
        "send",
        "Whether answers are sent in this session.",
        "session",
        auth="owner",
        args=(Arg("mode", ("on", "off", "inherit"), also=(("default", "inherit"),)),),
        handle=_send,
    ),
    Command(
        "skill",
        "Use a skill by its name.",
        "session",
        args=(Arg("name"), Arg("input", rest=True)),
        stage="skills",
    ),
)
