"""What a command declares, and what its handler receives."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rejoinder.inbound.gate import Auth
from rejoinder.inbound.outcome import Answer
from rejoinder.session import Session

if TYPE_CHECKING:  # a call contains them, and both modules import this one
    from rejoinder.inbound.message import InboundMessage
    from rejoinder.inbound.rules import ChannelRules, Rules


class Arg(Struct, frozen=True):
    """One argument: a word, a choice of words, or the `rest` of the line. `also` are other words for the choices."""

    name: str
    choices: tuple[str, ...] = ()
    required: bool = False
    rest: bool = False
    told: str = ""  # what the usage shows for it, if another table lists its values
    also: tuple[tuple[str, str], ...] = ()
    suggests: Literal["", "models", "skills"] = ""  # which values a menu may suggest while it is typed

    def __str__(self) -> str:
        shape = self.told or "|".join(self.choices) or f"<{self.name}>"
        return shape if self.required else f"[{shape}]"


class CommandCall(Struct, frozen=True):
    command: "Command"
    args: dict[str, str]
    message: "InboundMessage"
    session: Session
    rules: "Rules"
    channel: "ChannelRules"
    now: datetime


class Command(Struct, frozen=True):
    """`handle` None: another stage handles it; `stage` says which."""

    name: str
    help: str
    topic: str
    auth: Auth = "sender"
    args: tuple[Arg, ...] = ()
    aliases: tuple[str, ...] = ()
    scope: Literal["both", "text", "native"] = "both"
    handle: Callable[[CommandCall], Answer] | None = None
    stage: Literal["commands", "inline_directives", "skills", "freshness_and_reset", "abort"] = "commands"
    inline: bool = False  # takes no argument, and may appear inside other text (IN-63)
    switch: str | None = None  # the setting under `commands` that has to be true
    owner_when: Callable[[dict[str, str]], bool] | None = None  # arguments that only an owner may give
    takes_turn: bool = False  # it takes the agent's time, so its message cannot contain anything else
    owner_in_groups: bool = False  # people may use it in their own direct chat; in a group only an owner may

    def auth_for(self, args: dict[str, str] | None, *, in_group: bool) -> Auth:
        """The authority it needs with these arguments; `args` is None if they do not fit."""
        for_owners = args is not None and self.owner_when is not None and self.owner_when(args)
        return "owner" if for_owners or (in_group and self.owner_in_groups) else self.auth

    @property
    def private(self) -> bool:
        """Whether its answer is for the person alone, if the platform can show it that way (CH-9)."""
        return self.stage in ("commands", "inline_directives") and not self.takes_turn

    @property
    def usage(self) -> str:
        return " ".join((f"/{self.name}", *map(str, self.args)))


def read_arguments(command: Command, said: str) -> dict[str, str] | None:
    """The arguments by name, or None if they do not fit."""
    args: dict[str, str] = {}
    left = said.strip()
    for arg in command.args:
        if not left:
            return None if arg.required else args
        if arg.rest:
            return {**args, arg.name: left}
        word, *following = left.split(maxsplit=1)
        left = "".join(following)
        meant = dict(arg.also).get(word.lower(), word.lower())
        if arg.choices and meant not in arg.choices:
            return None
        args[arg.name] = meant if arg.choices else word
    return None if left else args


def fit_options(command: Command, options: dict[str, str]) -> dict[str, str] | None:
    """The arguments of a command that was chosen from the platform's own menu, or None if they do not fit (CH-9)."""
    args: dict[str, str] = {}
    for arg in command.args:
        said = " ".join(options.get(arg.name, "").split())
        meant = dict(arg.also).get(said.lower(), said.lower()) if arg.choices else said
        if not said:
            if arg.required:
                return None
        elif arg.choices and meant not in arg.choices:
            return None
        else:
            args[arg.name] = meant
    return args if options.keys() <= {arg.name for arg in command.args} else None


def as_typed(command: Command | None, name: str, options: dict[str, str]) -> str:
    """The same command as a person would type it."""
    names = (arg.name for arg in command.args) if command is not None else options
    values = (" ".join(options.get(each, "").split()) for each in names)
    return " ".join((f"/{name}", *filter(None, values)))
