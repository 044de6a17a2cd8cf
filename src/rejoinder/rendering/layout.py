"""Turns Markdown into blocks of styled text, the same for all platforms that show text and not HTML (DE-1, DE-12).

Rule 1: no letter or digit is lost: a link that cannot be shown as a link is shown as text.
Rule 2: blank lines between blocks, and the numbers of a list, are those of the source.
Rule 3: code is passed on as it is; nothing is put before its lines.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rejoinder.events import TableStyle
from rejoinder.rendering.markdown import parse
from rejoinder.rendering.tables import Grid, Table, aligned, as_written

if TYPE_CHECKING:
    from markdown_it.token import Token

Mark = Literal["bold", "italic", "strike"]

_MARKS: dict[str, Mark] = {"strong": "bold", "em": "italic", "s": "strike"}
_LINKABLE = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_RULE = "———"


class StyledRun(Struct, frozen=True):
    """A piece of text with one style."""

    text: str
    marks: tuple[Mark, ...] = ()
    """Each mark once, the outermost first."""
    code: bool = False
    link: str = ""


class TextBlock(Struct, frozen=True):
    """A paragraph, a heading, the beginning of a list item, or a block of code."""

    gap: str
    """The text between the previous block and this one."""
    runs: tuple[StyledRun, ...]
    language: str | None = None
    """The language of a block of code; None if the block is not code."""
    quote: int = 0
    """The number of the quotation it belongs to; 0 if none."""
    grid: Grid | None = None
    """The table, if this block of code shows one."""

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def layout(source: str, tables: TableStyle, bullet: str = "• ") -> list[TextBlock]:
    """The blocks of a text."""
    return _Layout(tables, bullet).read(parse(source))


class _Item:
    """A list item: its marker, shown once, then as many blanks on each later line."""

    def __init__(self, marker: str) -> None:
        self._marker = marker
        self.shown = False

    def indent(self) -> str:
        if self.shown:
            return " " * len(self._marker)
        self.shown = True
        return self._marker


class _Layout:
    def __init__(self, tables: TableStyle, bullet: str) -> None:
        self._tables: TableStyle = tables
        self._bullet = bullet
        self._blocks: list[TextBlock] = []
        self._items: list[_Item] = []
        self._lists: list[str] = []
        self._quotes = 0
        self._quote_depth = 0
        self._line = 0  # the source line after the last block
        self._marks: tuple[Mark, ...] = ()  # marks of the block as a whole

    def read(self, tokens: Sequence["Token"]) -> list[TextBlock]:
        place, at = (0, 0), 0
        while at < len(tokens):
            token = tokens[at]
            if token.map and token.type != "inline":
                place = (token.map[0], token.map[1])
            match token.type:
                case "inline":
                    self._prose(runs_of(token.children or ()), place)
                case "heading_open":
                    self._marks = ("bold",)
                case "heading_close":
                    self._marks = ()
                case "bullet_list_open" | "ordered_list_open":
                    self._lists.append(token.type)
                case "bullet_list_close" | "ordered_list_close":
                    self._lists.pop()
                case "list_item_open":
                    ordered = self._lists[-1] == "ordered_list_open"
                    self._items.append(_Item(f"{token.info}{token.markup} " if ordered else self._bullet))
                case "list_item_close":
                    self._show_markers(place[0])
                    self._items.pop()
                case "blockquote_open":
                    self._quotes += self._quote_depth == 0
                    self._quote_depth += 1
                case "blockquote_close":
                    self._quote_depth -= 1
                case "fence" | "code_block":
                    self._code(token.content, token.info.strip().partition(" ")[0], place)
                case "hr":
                    self._prose([StyledRun(_RULE)], place)
                case "table_open":
                    end = next(end for end in range(at, len(tokens)) if tokens[end].type == "table_close")
                    self._table(Table.of(tokens[at:end]), place)
                    at = end
                case _:
                    pass
            at += 1
        return self._blocks

    def _add(
        self, runs: Iterable[StyledRun], place: tuple[int, int], language: str | None = None, grid: Grid | None = None
    ) -> None:
        gap = "" if not self._blocks else "\n\n" if place[0] > self._line else "\n"
        quote = self._quotes if self._quote_depth else 0
        self._blocks.append(TextBlock(gap, tuple(run for run in runs if run.text), language, quote, grid))
        self._line = place[1]

    def _prose(self, runs: list[StyledRun], place: tuple[int, int]) -> None:
        first = "".join(item.indent() for item in self._items)
        later = "".join(item.indent() for item in self._items)
        if first or runs:
            self._add([StyledRun(first), *(self._within(run, later) for run in runs)], place)

    def _within(self, run: StyledRun, indent: str) -> StyledRun:
        text = run.text if run.code else run.text.replace("\n", "\n" + indent)
        return StyledRun(text, _once([*self._marks, *run.marks]), run.code, run.link)

    def _show_markers(self, line: int) -> None:
        if any(not item.shown for item in self._items):
            self._add([StyledRun("".join(item.indent() for item in self._items).rstrip(" "))], (line, line))

    def _code(self, code: str, language: str, place: tuple[int, int], grid: Grid | None = None) -> None:
        self._show_markers(place[0])
        code = code.rstrip("\n")
        if code.strip():
            self._add([StyledRun(code)], place, language, grid)

    def _table(self, table: Table, place: tuple[int, int]) -> None:
        match self._tables:
            case "code":
                cells = tuple(tuple(plain_text(runs_of(cell)) for cell in row) for row in table.rows)
                grid = Grid(cells, tuple(table.aligns))
                self._code(aligned(grid), "", place, grid)
            case "bullets":
                self._bullets(table, place)
            case "off":
                self._prose([StyledRun(as_written(table))], place)

    def _bullets(self, table: Table, place: tuple[int, int]) -> None:
        """Shows each row as a list of its cells, each with the head of its column."""
        head, *rows = [[runs_of(cell) for cell in row] for row in table.rows]
        for number, row in enumerate(rows or [head]):
            start = place[0] if not number else self._line + 1
            for name, cell in zip(head, row, strict=True):
                if cell:
                    named = [StyledRun(": ") if name else StyledRun(""), *cell] if rows else []
                    self._prose([StyledRun(self._bullet), *name, *named], (start, start))
                    start = self._line
        self._line = place[1]


def runs_of(tokens: Sequence["Token"]) -> list[StyledRun]:
    """The runs of one paragraph."""
    runs: list[StyledRun] = []
    marks: list[Mark] = []
    address, link, label_start = "", "", 0
    for token in tokens:
        match token.type:
            case "strong_open" | "em_open" | "s_open":
                marks.append(_MARKS[token.tag])
            case "strong_close" | "em_close" | "s_close":
                marks.pop()
            case "link_open":
                address, label_start = str(token.attrs["href"]), len(runs)
                link = address if token.info != "auto" and _LINKABLE.match(address) else ""
            case "link_close":
                runs += _address_behind(runs[label_start:], address, alone=token.info == "auto" or bool(link))
                link = ""
            case "image":
                runs += _image(token, _once(marks), link)
            case "softbreak" | "hardbreak":
                runs.append(StyledRun("\n", _once(marks), link=link))
            case _:
                if token.content:
                    runs.append(StyledRun(token.content, _once(marks), token.type == "code_inline", link))
    return runs


def _once(marks: list[Mark]) -> tuple[Mark, ...]:
    return tuple(dict.fromkeys(marks))


def _address_behind(label: list[StyledRun], address: str, *, alone: bool) -> list[StyledRun]:
    """The address as text, for a label that is empty or cannot be a link."""
    shown = "".join(run.text for run in label)
    if not shown.strip():
        return [StyledRun(address)]
    if alone or shown in (address, address.removeprefix("mailto:")):
        return []
    return [StyledRun(f" ({address})")]


def _image(token: "Token", marks: tuple[Mark, ...], link: str) -> list[StyledRun]:
    """The description as a link, because no platform shows an image from an address in a text."""
    address = str(token.attrs["src"])
    description = plain_text(runs_of(token.children or ())) or address
    if link or not _LINKABLE.match(address):
        return [
            StyledRun(description, marks, link=link),
            *([StyledRun(f" ({address})")] if description != address else []),
        ]
    return [StyledRun(description, marks, link="" if description == address else address)]


def plain_text(runs: Sequence[StyledRun]) -> str:
    """The runs without their styles; an address follows its label."""
    text = ""
    for index, run in enumerate(runs):
        text += run.text
        if run.link and (index + 1 == len(runs) or runs[index + 1].link != run.link):
            text += f" ({run.link})"
    return text
