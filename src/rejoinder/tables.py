"""A table as Markdown writes it: the docs are filled with tables that the rooms make of what they do."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
