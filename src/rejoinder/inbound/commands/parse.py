"""Whether a text is a command, and which one (IN-60): its first line is `/name`, `/name: rest` or `/name@ourbot`."""

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from rejoinder.inbound.commands.command import Command

if TYPE_CHECKING:
    from rejoinder.inbound.rules import Rules

_FORM = re.compile(r"/([A-Za-z][\w\-]*)(?:@([\w.\-]+))?(?::|(?=\s)|\Z)")
_SHELL = re.compile(r"(?<!\S)![ \t]+(?=\S)")


class Invocation(Struct, frozen=True):
    """A command that was called. `rest` is everything after its name, `line` the part of that on the same line."""

    name: str
    rest: str
    at: int  # where `rest` begins in the text
    command: Command | None = None  # None: a skill called by its name

    @property
    def is_skill(self) -> bool:
        """Whether what follows is for the agent, or for a tool."""
        return self.command is None or self.command.stage == "skills"

    @property
    def is_answered(self) -> bool:
        """Whether it is answered without the agent."""
        return self.command is not None and self.command.stage == "commands"

    @property
    def line(self) -> str:
        return self.rest.partition("\n")[0].strip()


def read_invocation(
    text: str, start: int, rules: "Rules", our_name: str, mentions: tuple[str, ...], *, native: bool
) -> Invocation | None:
    """The command this text calls, if it is one of ours."""
    if shell := _SHELL.match(text, start):
        return Invocation("bash", text[shell.end() :], shell.end(), rules.commands["bash"])
    found = _FORM.match(text, start)
    if not found:
        return None
    name, addressee = found[1].lower(), found[2]
    if addressee and addressee.lower() != our_name.lower():
        return None
    rest = _without_mentions(text[found.end() :], mentions)
    command = rules.commands.get(name)
    if command is None:
        return Invocation(name, rest, found.end()) if name in rules.skills else None
    if command.stage in ("inline_directives", "freshness_and_reset"):
        return None
    if command.scope == ("text" if native else "native"):
        return None
    if command.inline and rest.strip():
        return None
    return Invocation(command.name, rest, found.end(), command)


def _without_mentions(rest: str, mentions: tuple[str, ...]) -> str:
    """Removes our own name at the end, because it is not an argument."""
    end = len(rest)
    while mentions:
        bare = end
        while bare and rest[bare - 1].isspace():
            bare -= 1
        mention = next((each for each in mentions if rest.endswith(each, 0, bare)), None)
        if mention is None:
            break
        end = bare - len(mention)
    return rest[:end]
