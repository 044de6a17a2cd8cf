"""Shows tables on platforms that have none: aligned in a block of code, as bullets, or as they were written (DE-12)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from rich.cells import cell_len

if TYPE_CHECKING:
    from markdown_it.token import Token

Align = Literal["", "left", "center", "right"]

_NARROWEST = 3


class Table(Struct, frozen=True):
    """The cells, row by row, the head first."""

    rows: list[list[list["Token"]]]
    sources: list[list[str]]
    aligns: list[Align]

    @classmethod
    def of(cls, tokens: Sequence["Token"]) -> "Table":
        """Makes a table from the tokens between its opening and its closing."""
        table = cls([], [], [])
        for token in tokens:
            if token.type == "tr_open":
                table.rows.append([])
                table.sources.append([])
            elif token.type == "th_open":
                style = str(token.attrs.get("style", ""))
                align = style.removeprefix("text-align:")
                table.aligns.append(align if align in ("left", "center", "right") else "")
            elif token.type == "inline":
                table.rows[-1].append(token.children or [])
                table.sources[-1].append(token.content)
        return table


class Grid(Struct, frozen=True):
    """The text of the cells, row by row, the head first."""

    rows: tuple[tuple[str, ...], ...]
    aligns: tuple[Align, ...]


def aligned(grid: Grid) -> str:
    """One line per row, columns as wide as they look on a screen."""
    widths = [max(_NARROWEST, *(cell_len(row[column]) for row in grid.rows)) for column in range(len(grid.aligns))]
    head, *rows = [" | ".join(map(_pad, row, widths, grid.aligns)).rstrip() for row in grid.rows]
    return "\n".join((head, " | ".join("-" * width for width in widths), *rows))


def _pad(cell: str, width: int, align: Align) -> str:
    blanks = width - cell_len(cell)
    match align:
        case "right":
            return " " * blanks + cell
        case "center":
            return " " * (blanks // 2) + cell + " " * (blanks - blanks // 2)
        case _:
            return cell + " " * blanks


def as_written(table: Table) -> str:
    """The table in Markdown."""
    rules: dict[Align, str] = {"": "---", "left": ":--", "center": ":-:", "right": "--:"}
    head, *rows = [[cell.replace("|", "\\|") for cell in row] for row in table.sources]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, [rules[align] for align in table.aligns], *rows))
