"""How a directive is declared. One declaration serves the reader, the docs, the notice to the agent and delivery.

A directive is one file in this folder with a `DIRECTIVE`. Only that file contains its name, notations, arguments, the
ability a channel must have, whether the operator must grant it, its effect and its help line. A directive of another
package is a module with an entry point in the group `rejoinder.directives`.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct, field

from rejoinder.events import Ability, Route
from rejoinder.outbound.directives.effects import Effect

Check = Callable[[str], Any]
"""Turns the written value into the argument's value, or raises ValueError with a reason that people understand."""


class Argument(Struct, frozen=True):
    name: str
    check: Check
    required: bool = False
    written: str | None = None
    """The attribute's name in the tag, if it differs from the argument's."""
    aliases: tuple[str, ...] = ()
    vital: bool = False
    """Whether an invalid value drops the whole directive, not only this argument."""

    @property
    def attribute(self) -> str:
        return self.written or self.name


class HeaderKey(Struct, frozen=True):
    """The header notation `[[name:value]]`."""

    name: str
    argument: Argument | None
    shown: str
    """The possible values, as shown to people."""
    flags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Words written without a colon, and the value each means: `[[reply_to_current]]` is `current`."""
    trailing: tuple[str, ...] = ()
    """Flags that also count if they are alone on the last line (OD-58)."""
    instead_of_tag: bool = False
    """Another spelling of the tag, with the answer's text as its body (OD-58)."""


class LineSpelling(Struct, frozen=True):
    """Another spelling of the tag: `NAME: value` alone on its line (OD-58). If the check refuses the value, the line is
    text."""

    name: str
    argument: Argument
    with_links: Argument | None = None
    """The possible values if links are read."""


class Tag(Struct, frozen=True):
    """The action notation `<name attribute="..." />`."""

    name: str
    arguments: tuple[Argument, ...] = ()
    body: Literal["none", "optional", "required"] = "none"
    body_is_speech: bool = False
    """Whether the body may be shown in place if the tag is never closed; other bodies are meant for another place."""


class Given(Struct, frozen=True):
    """A directive of an agent, as `Declaration.act` receives it."""

    args: Mapping[str, Any]
    body: str | None
    route: Route
    message: str
    """The platform id of the message being answered; empty in a turn without a message."""
    agent: str
    key: str
    """The same if a restart runs the turn again; store it if the directive must not act twice."""


class Declaration(Struct, frozen=True):
    name: str
    help: str
    key: HeaderKey | None = None
    tag: Tag | None = None
    line: LineSpelling | None = None
    ability: Ability | None = None
    granted: bool = False
    """Whether it needs a grant in `[directives] allow`; all others are free (OD-52)."""
    speaks_of_trigger: Callable[[Mapping[str, Any]], bool] | None = None
    """Whether, with these arguments, it refers to the message being answered; a background turn has none (OD-18)."""
    shapes_reply: bool = False
    """Whether it only says how the reply looks; a reply of only such directives is empty (OD-44)."""
    among_agents: bool = False
    """Whether it is useful only if another agent of ours is in the room."""
    effect: Callable[[Mapping[str, Any], str], Effect] | None = None
    """Returns the effect for its arguments and its body. Without an effect or an `act` the directive is read and does
    nothing."""
    act: Callable[[Given], Awaitable[None]] | None = None
    """Does what no effect can express; the agent is told of exceptions."""


# --- checks shared by several directives --------------------------------------------------------

_MESSAGE_ID = re.compile(r"\$?[A-Za-z0-9._-]{1,64}")


def message_id(value: str) -> str:
    if not _MESSAGE_ID.fullmatch(value):
        raise ValueError("a message id or handle has 1 to 64 letters, digits, '.', '_' or '-', and may begin with '$'")
    return value


def some_text(value: str) -> str:
    if not value.strip():
        raise ValueError("it is empty")
    return value


def only_true(value: str) -> bool:
    if value.lower() not in ("true", ""):
        raise ValueError("the only value is true")
    return True


def true_or_false(value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise ValueError("it is true or false")
    return value.lower() == "true"


_BOOLEANS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


def boolean(value: str) -> bool:
    """A boolean as written in an attribute, where people write many things."""
    try:
        return _BOOLEANS[value.lower()]
    except KeyError:
        raise ValueError("it is true or false") from None


def one_of(*choices: str) -> Check:
    def check(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError("it is one of " + ", ".join(choices))
        return value.lower()

    return check


# --- the registry -------------------------------------------------------------------------------


def normalised_key(key: str) -> str:
    """A key without case, hyphens, underscores and blanks, which do not count (OD-14)."""
    return key.replace("-", "").replace("_", "").replace(" ", "").replace("\t", "").lower()


class Registry:
    """All declarations, found by key, by flag and by tag."""

    def __init__(
        self, declarations: Iterable[Declaration], brought: Iterable[Declaration] = (), *, links: bool = False
    ) -> None:
        """`brought`: those of other packages, which are allowed by being installed. `links`: addresses are read."""
        self._links = links
        others = tuple(brought)
        self.declarations = (*declarations, *others)
        self.brought = frozenset(declared.name for declared in others)
        self.named: dict[str, Declaration] = {}
        self.keys: dict[str, Declaration] = {}
        self.flags: dict[str, tuple[Declaration, str]] = {}
        self.tags: dict[str, Declaration] = {}
        self.lines: dict[str, Declaration] = {}
        for declared in self.declarations:
            self._claim(self.named, declared.name, declared)
            if declared.key:
                self._claim(self.keys, declared.key.name, declared)
                for flag, value in declared.key.flags.items():
                    self._claim(self.flags, flag, (declared, value))
            if declared.tag:
                self._claim(self.tags, declared.tag.name, declared)
            if declared.line:
                self._claim(self.lines, declared.line.name, declared)
        self.normalised_keys = frozenset(map(normalised_key, (*self.keys, *self.flags)))

    @staticmethod
    def _claim(names: dict[str, Any], name: str, owner: object) -> None:
        if name in names:
            raise ValueError(f"two directives claim {name!r}")
        names[name] = owner

    def argument_of(self, line: LineSpelling) -> Argument:
        return line.with_links if self._links and line.with_links is not None else line.argument

    @cached_property
    def bodiless(self) -> frozenset[str]:
        return frozenset(name for name, declared in self.tags.items() if declared.tag and declared.tag.body == "none")

    @cached_property
    def with_body(self) -> frozenset[str]:
        """Tags that need a block around them."""
        return frozenset(self.tags) - self.bodiless

    @cached_property
    def trailing(self) -> frozenset[str]:
        """The flags that also count alone on the last line."""
        return frozenset(flag for declared in self.declarations if declared.key for flag in declared.key.trailing)

    @cached_property
    def wanting(self) -> frozenset[str]:
        """Tags that mean nothing without an attribute."""
        return frozenset(
            name
            for name in self.bodiless
            if (tag := self.tags[name].tag) and any(argument.required for argument in tag.arguments)
        )

    def carried_out(self, *, among_agents: bool) -> frozenset[str]:
        """Those that do something here."""
        return self._carried_out if among_agents else self._carried_out - self._among_agents

    @cached_property
    def _carried_out(self) -> frozenset[str]:
        return frozenset(name for name, declared in self.named.items() if declared.effect or declared.act)

    @cached_property
    def _among_agents(self) -> frozenset[str]:
        return frozenset(name for name, declared in self.named.items() if declared.among_agents)

    @cached_property
    def of_files(self) -> frozenset[str]:
        """Those that send files."""
        return frozenset(declared.name for declared in self.declarations if declared.ability == "files")

    @cached_property
    def shaping(self) -> frozenset[str]:
        return frozenset(declared.name for declared in self.declarations if declared.shapes_reply)
