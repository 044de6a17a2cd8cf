"""The one pass over a text that finds the directives and inline commands in it (IN-50, IN-51, IN-66).

Rule 1: a token begins at the start of the text or after white space: `/name` or `/name@ourbot`, then the end, a
blank or `:`. A token that names another bot is not ours.
Rule 2: a text that consists only of directives is read as such, including invalid arguments. Inline commands (IN-63)
may appear among the directives, and any command after them.
Rule 3: in every other text a token without a valid argument is text. So is everything in code, quotes, links.
Rule 4: `[[/name words]]` is a directive or command anywhere in a text, and all its words are its argument.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from rejoinder.inbound.directives.argument import (
    Argument,
    InvalidArgument,
    ValidArgument,
    Word,
    quoted,
    skip_blanks,
    words,
)
from rejoinder.inbound.directives.model import Models, Place, ReadModel
from rejoinder.inbound.directives.table import BY_NAME, DIRECTIVES
from rejoinder.inbound.protected import Protected, protected

BodyKind = Literal["command", "reset", "stop"]
"""The kinds of `[[/name words]]` that are not directives."""


class Token(Struct, frozen=True):
    """A directive or command found in a text: its span, and its value or what is wrong with it."""

    name: str
    start: int
    end: int
    kind: Literal["directive"] | BodyKind = "directive"
    value: Any = None  # of a command: the words after its name
    problem: str | None = None
    after: int = 0  # where the words in its brackets begin; 0 without brackets


class _Name(Struct, frozen=True):
    """What a typed name stands for."""

    directive: str
    is_letter: bool = False
    alias: str | None = None  # a model's short name, which needs no argument


class Vocabulary(Struct, frozen=True):
    """The names that are recognised, and a pattern that finds them."""

    names: dict[str, _Name]
    inline_commands: Mapping[str, str]  # as typed -> its own name
    bodies: Mapping[str, tuple[BodyKind, str]]  # what may be in brackets: as typed -> its kind and own name
    models: Models
    pattern: re.Pattern[str]


def vocabulary(
    models: Models,
    inline_commands: Mapping[str, str],
    taken: Iterable[str],
    bodies: Mapping[str, tuple[BodyKind, str]] = {},
) -> Vocabulary:
    """The names for one agent. A model's alias is not a directive if it is also a command's name (`taken`) or the same
    as the model's own name."""
    names: dict[str, _Name] = {}
    for directive in DIRECTIVES:
        for name in (directive.name, *directive.names):
            names[name] = _Name(directive.name)
        if directive.letter:
            names[directive.letter] = _Name(directive.name, is_letter=True)
    reserved = {*names, *taken}
    for alias, model in models.aliases.items():
        if alias != model and alias.lower() not in reserved and re.fullmatch(r"[\w.\-]+", alias):
            names[alias.lower()] = _Name("model", alias=alias)
    spelled = "|".join(re.escape(name) for name in sorted({*names, *inline_commands}, key=len, reverse=True))
    pattern = re.compile(
        rf"(?<!\S)/(?P<name>{spelled})(?:@(?P<addressee>[\w.\-]+))?(?=[\s:]|\Z)"
        r"|\[\[[ \t]*/(?P<bracketed>[\w.\-]+)(?:@(?P<to>[\w.\-]+))?(?P<body>(?:[ \t:][^\[\]\n]*)?)\]\]",
        re.IGNORECASE,
    )
    return Vocabulary(names, inline_commands, bodies, models, pattern)


def find_tokens(text: str, known: Vocabulary, start: int, our_name: str) -> tuple[Token, ...]:
    """The tokens of a text that also holds other words, in order."""
    found = list(known.pattern.finditer(text, start))
    if not found:
        return ()
    closed = protected(text)
    tokens: list[Token] = []
    done = start
    place: Place = "before"
    for match in found:
        if match.start() < done or match.start() in closed or not _is_ours(match, known, our_name):
            continue
        if place == "before" and text[done : match.start()].strip():
            place = "amid"
        token = _not_a_directive(text, match, known) or _in_prose(text, match, known, closed, place)
        if token and (token.value is not None or token.kind != "directive"):
            tokens.append(token)
            done = token.end
    return tuple(tokens)


def _is_ours(match: re.Match[str], known: Vocabulary, our_name: str) -> bool:
    addressee = match["addressee"] or match["to"]
    if addressee is not None and addressee.lower() != our_name.lower():
        return False
    # A pattern that ignores case takes `ı` for `i` and `ſ` for `s`; the names do not.
    if match["name"]:
        return match["name"].lower() in known.names or match["name"].lower() in known.inline_commands
    typed = match["bracketed"].lower()
    if typed in known.inline_commands and match["body"].strip(" \t:"):
        return False  # it takes no argument
    return typed in known.names or typed in known.bodies


def _in_prose(text: str, match: re.Match[str], known: Vocabulary, closed: Protected, place: Place) -> Token | None:
    if match["bracketed"]:
        return _in_brackets(match, known)
    name = known.names[match["name"].lower()]
    if name.alias:
        return Token("model", match.start(), match.end(), value=name.alias)
    after = match.end() + text.startswith(":", match.end())
    argument = _argument(name, _open_words(text, after, closed, in_line=True), known, place)
    if isinstance(argument, ValidArgument):
        return Token(name.directive, match.start(), argument.end, value=argument.value)
    return None


def directives_alone(
    text: str, known: Vocabulary, start: int, our_name: str, ignored: tuple[str, ...], is_command: Callable[[int], bool]
) -> tuple[tuple[Token, ...], int] | None:
    """The tokens of a text that holds only directives and `ignored` words, and the position of its end or of the
    command that follows them; None for any other text."""
    closed: Protected | None = None
    tokens: list[Token] = []
    bare_letter = False
    position = start
    while (position := skip_blanks(text, position)) < len(text):
        if ignorable := next((word for word in ignored if _stands_at(text, position, word)), None):
            position += len(ignorable)
            continue
        match = known.pattern.match(text, position)
        if match is None or not _is_ours(match, known, our_name):
            if is_command(position):
                break
            return None
        closed = closed or protected(text)
        if match.start() in closed:
            return None
        token = _not_a_directive(text, match, known)
        if token is None:
            name = known.names[(match["name"] or match["bracketed"]).lower()]
            if match["bracketed"]:
                token = _in_brackets(match, known)
            else:
                token = _alone(text, match, name, known, closed, ignored, is_command)
            if token is None:
                return None
            bare_letter |= name.is_letter and token.value is None
        tokens.append(token)
        if bare_letter and len(tokens) > 1:
            return None
        position = token.end
    return (tuple(tokens), position) if any(token.kind == "directive" for token in tokens) else None


def _stands_at(text: str, position: int, word: str) -> bool:
    end = position + len(word)
    return text.startswith(word, position) and (end == len(text) or text[end].isspace())


def _not_a_directive(text: str, match: re.Match[str], known: Vocabulary) -> Token | None:
    """The token for help, commands, whoami or status, or for anything but a directive in brackets; None if it is a
    directive."""
    if match["bracketed"]:
        kind, name = known.bodies.get(match["bracketed"].lower(), ("directive", ""))
        if kind == "directive":
            return None
        begins = match.start("body") + match["body"].startswith(":")
        said = match.string[begins : match.end("body")].strip()
        return Token(name, *match.span(), kind, said, after=begins)
    command = known.inline_commands.get(match["name"].lower())
    if command is None:
        return None
    return Token(command, match.start(), match.end() + text.startswith(":", match.end()), "command", "")


def _in_brackets(match: re.Match[str], known: Vocabulary) -> Token | None:
    """The directive of `[[/think high]]`, with anything that is wrong with its argument; None if the text is prose."""
    name, said = known.names[match["bracketed"].lower()], match["body"].removeprefix(":")
    if name.alias:
        return None if said.strip() else Token("model", *match.span(), value=name.alias)
    if not said.strip():
        return Token(name.directive, *match.span())
    argument = _argument(name, words(said, 0, in_line=True), known, "alone")
    if isinstance(argument, ValidArgument) and not said[argument.end :].strip():
        return Token(name.directive, *match.span(), value=argument.value)
    if name.is_letter:
        return None
    problem = argument.problem if isinstance(argument, InvalidArgument) else _problem(name, said.strip())
    return Token(name.directive, *match.span(), problem=problem)


def _alone(
    text: str,
    match: re.Match[str],
    name: _Name,
    known: Vocabulary,
    closed: Protected,
    ignored: tuple[str, ...],
    is_command: Callable[[int], bool],
) -> Token | None:
    """One directive with its argument, with one invalid word instead, or without argument; None if the text is
    prose."""
    start, end = match.span()
    if name.alias:
        return Token("model", start, end, value=name.alias)
    end += text.startswith(":", end)
    following = next(words(text, end, in_line=False), None)
    if following is None or following.text in ignored:
        return Token(name.directive, start, end)
    begins = following.end - len(following.text)
    if known.pattern.match(text, begins) or is_command(begins):
        return Token(name.directive, start, end)
    argument = _argument(name, _open_words(text, end, closed, in_line=False), known, "alone")
    if isinstance(argument, ValidArgument):
        return Token(name.directive, start, argument.end, value=argument.value)
    if name.is_letter or begins in closed:
        return None
    if isinstance(argument, InvalidArgument):
        return Token(name.directive, start, argument.end, problem=argument.problem)
    return Token(name.directive, start, following.end, problem=_problem(name, following.text))


def _problem(name: _Name, said: str) -> str:
    return f"/{name.directive} cannot be {quoted(said)}; valid: {BY_NAME[name.directive].options}"


def _argument(name: _Name, following: Iterator[Word], known: Vocabulary, place: Place) -> Argument:
    if name.directive == "model":
        return ReadModel(known.models, place)(following)
    read = BY_NAME[name.directive].read
    return read(following) if read else None


def _open_words(text: str, position: int, closed: Protected, *, in_line: bool) -> Iterator[Word]:
    """The words from `position` on, up to the first protected one."""
    for word in words(text, position, in_line=in_line):
        if word.end - len(word.text) in closed:
            return
        yield word
