"""One tag of the action notation: where it ends, what its attributes say, what it means (OD-30, OD-31, OD-35).

No step looks at a character twice, however the text is cut: the scanner resumes where it stopped.
"""

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from rejoinder.events import Directive
from rejoinder.outbound.directives.declaration import Argument, Declaration, boolean

LONGEST = 65_536
"""The most characters of one tag or body; the reader gives up on a longer one (OD-5)."""

_QUOTES = "\"'“”„‟‘’‚‛"
_STOP = re.compile(f"[>{_QUOTES}]|<(?=/?[A-Za-z]|/?\\Z)")
_CURLY = {**dict.fromkeys("“”„‟", re.compile("[“”„‟]")), **dict.fromkeys("‘’‚‛", re.compile("[‘’‚‛]"))}
_STRAY = r"<(?=[^/A-Za-z])"  # a `<` that begins no tag


def _short_of(ends: str) -> str:
    """Matches up to a `<` that begins a tag, or to one of `ends`; bounded, so a failed match costs little."""
    return rf"[^<>{ends}]{{0,99}}(?:{_STRAY}[^<>{ends}]{{0,99}}){{0,9}}"


_REST = rf"(?:(>|[ \t\r\n/](?:{_short_of(_QUOTES)}|{_short_of('=')})(?:>|(?=</?[A-Za-z])))|(?=[ \t\r\n/]))"
"""What follows a tag's name. If it is short and has no quoted value, the group captures all of it: up to the `>`, or up
to the next tag if that begins first."""

ANY_TAG = rf"<(?:(/?[A-Za-z][A-Za-z0-9_-]{{0,63}})(?:{_REST}|\Z)|/?\Z)"
"""A pattern for a tag, or the beginning of one at the end of the text. Its groups: the name, and what `_REST` finds."""

TAG = re.compile(ANY_TAG)


def tags_named(names: Iterable[str]) -> str:
    """Like `ANY_TAG`, but only for tags with these names."""
    names = tuple(names)
    cut_short = sorted({name[:size] for name in names for size in range(len(name) + 1)}, key=len, reverse=True)
    return rf"<(?:(/?(?i:{'|'.join(names)})){_REST}|/?(?i:{'|'.join(cut_short)})\Z)"


_ATTRIBUTE = re.compile(
    r"""([^\s=/>"'“”„‟‘’‚‛]+)\s*(=\s*(?:\\?"([^"\n]*)"|\\?'([^'\n]*)'|[“”„‟]([^“”„‟\n]*)[“”„‟]|[‘’‚‛]([^‘’‚‛\n]*)[‘’‚‛]|([^\s>]*)))?"""
)
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class TagEnd(Struct, frozen=True):
    end: int
    """The index after the `>`, or of the next tag if that begins first."""
    broken: Literal["quote", "tag", None] = None
    """Why the tag is dropped and not obeyed: a quote is not closed on its line, or another tag begins first."""


class TagScanner:
    """Finds the `>` that ends a tag. `scan` may be called again once the same text has grown."""

    __slots__ = ("_at", "_broken", "_quote")

    def __init__(self, behind_name: int) -> None:
        self._at = behind_name  # relative to the tag's `<`
        self._quote = ""
        self._broken = False

    def scan(self, text: str, start: int, stop: int, *, final: bool) -> TagEnd | None:
        """The end of the tag that begins at `start`, looking no further than `stop`; None if it is not found there."""
        at = start + self._at
        self._at = stop - start
        while not self._broken:
            if self._quote:
                closing = _closing_quote(self._quote, text, at, stop)
                line_end = text.find("\n", at, stop if closing < 0 else closing)
                if closing < 0 and line_end < 0 and not final:
                    return None
                if closing < 0 or line_end >= 0:
                    self._broken = True
                    at = start  # a `>` inside the open quote ends the tag after all
                    break
                self._quote = ""
                at = closing + 1
            found = _STOP.search(text, at, stop)
            if found is None:
                return None
            at = found.end()
            if found[0] == ">":
                return TagEnd(at)
            if found[0] == "<":
                if found.start() + 1 < stop and text[found.start() + 1 : stop] != "/":
                    return TagEnd(found.start(), broken="tag")
                self._at = found.start() - start  # undecided at the end of the text: look again from here
                return None
            if self._opens_value(text, start, found.start()):
                self._quote = found[0]
        end = text.find(">", at, stop)
        return None if end < 0 else TagEnd(end + 1, broken="quote")

    @staticmethod
    def _opens_value(text: str, start: int, quote: int) -> bool:
        """A quote opens a value only after `=`; elsewhere it is an apostrophe or a slip."""
        before = quote - 1
        if text[before] == "\\":
            before -= 1
        while before > start and text[before] in " \t\r\n":
            before -= 1
        return text[before] == "="


def _closing_quote(quote: str, text: str, at: int, stop: int) -> int:
    """An opening curly quote also closes its own kind. So an unclosed one is met once for each line, not at every tag,
    and reading stays linear."""
    if quote in _CURLY:
        found = _CURLY[quote].search(text, at, stop)
        return found.start() if found else -1
    return text.find(quote, at, stop)


def attributes(tag: str, name_end: int) -> dict[str, str | None]:
    """The attributes of a whole tag, with names in lower case; None for one without a value. The last one wins."""
    found: dict[str, str | None] = {}
    if len(tag) - name_end <= len("/>"):
        return found
    for match in _ATTRIBUTE.finditer(tag, name_end):
        name, assigned, *quoted, unquoted = match.groups()
        value: str | None = next((value for value in quoted if value is not None), unquoted)
        if value is not None and value is unquoted and match.end() == len(tag) - 1:
            value = value.removesuffix("/")  # the `/` of `/>`
        elif value and assigned.lstrip("= \t\r\n").startswith("\\"):
            value = value.removesuffix("\\")  # of `\"...\"`
        name = name.lower().replace("-", "_")
        found.pop(name, None)  # reinserted in the last place, so that an alias in between does not win
        found[name] = None if value is None else _decode(value)
    return found


def _decode(value: str) -> str:
    return _ENTITY.sub(_character, value) if "&" in value else value


def _character(entity: re.Match[str]) -> str:
    decimal, hexadecimal, name = entity.groups()
    if name:
        return _NAMED[name]
    number = int(decimal) if decimal else int(hexadecimal, 16)
    if not 0 < number < 0x110000 or 0xD800 <= number < 0xE000:
        return entity[0]
    return chr(number)


def directive_of_tag(
    declared: Declaration, written: dict[str, str | None], body: str | None
) -> tuple[Directive | None, list[tuple[str, str]]]:
    """The directive that a tag of this declaration asks for, and its problems as (code, detail)."""
    tag = declared.tag
    assert tag is not None
    args: dict[str, object] = {}
    problems: list[tuple[str, str]] = []
    for argument in tag.arguments:
        value = _value(argument, written)
        if not value:
            if argument.required:
                return None, [("missing_attribute", f"<{tag.name}> dropped: it needs {argument.attribute}")]
            continue
        try:
            args[argument.name] = argument.check(value)
        except ValueError as reason:
            what = f"{argument.attribute}={_short(value)}"
            if argument.vital or argument.required:
                return None, [("invalid_value", f"<{tag.name}> dropped, {what}: {reason}")]
            problems.append(("invalid_value", f"<{tag.name}> without {what}: {reason}"))
    text = None if body is None or tag.body == "none" else body.strip() or None
    if tag.body == "required" and text is None:
        return None, [("missing_body", f"<{tag.name}> dropped: there is no text inside it")]
    return Directive(declared.name, args, text), problems


def _value(argument: Argument, written: dict[str, str | None]) -> str:
    """The attribute's value, stripped. An attribute without a value is a switch, and means true."""
    value = ""
    for name, said in written.items():  # in the order written, so the last one wins, whatever its alias
        if name == argument.attribute or name in argument.aliases:
            value = ("true" if argument.check is boolean else "") if said is None else said.strip()
    return value


def _short(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:39] + "…")
