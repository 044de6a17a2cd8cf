"""The inline directives, in the order in which they are checked and acknowledged (IN-54)."""

from msgspec import Struct

from rejoinder.inbound.directives import exec, queue
from rejoinder.inbound.directives.argument import ReadArgument
from rejoinder.inbound.directives.levels import ReadLevel, level_options
from rejoinder.inbound.gate import Auth


class InlineDirective(Struct, frozen=True):
    """A directive that people may type inside a message. `read`: None if it takes no argument, or its own module reads
    it."""

    name: str
    help: str
    options: str
    names: tuple[str, ...] = ()  # full names besides `name`
    letter: str | None = None
    auth: Auth = "sender"
    read: ReadArgument | None = None


def _level(
    name: str, help: str, names: tuple[str, ...] = (), letter: str | None = None, auth: Auth = "sender"
) -> InlineDirective:
    return InlineDirective(name, help, ", ".join(level_options(name)), names, letter, auth, ReadLevel(name))


DIRECTIVES: tuple[InlineDirective, ...] = (
    _level("think", "How hard the agent thinks.", ("thinking",), "t"),
    _level("verbose", "How much is shown of the agent's tools.", (), "v"),
    _level("reasoning", "Whether the agent's thoughts are shown.", ("reason",)),
    _level("elevated", "What the agent may do without asking.", ("elev",), auth="owner"),
    InlineDirective(
        "exec",
        "What the agent may do, who is asked, and where it runs.",
        exec.usage(takes=exec.HANDED_OVER),
        auth="owner",
        read=exec.read_exec,
    ),
    InlineDirective("status", "The current state: agent, model, session, levels, queue.", ""),
    InlineDirective("model", "Which model answers.", "name, provider/name, name@profile, an alias, or default"),
    InlineDirective(
        "queue",
        "What happens to messages that come while the agent is at work.",
        queue.USAGE,
        read=queue.read_queue,
    ),
)
BY_NAME = {directive.name: directive for directive in DIRECTIVES}
ORDER = {directive.name: position for position, directive in enumerate(DIRECTIVES)}
