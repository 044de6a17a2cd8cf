"""The tables of the store as Markdown: docs/store.md is filled from `BLOCKS`."""

import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Final, TypeVar

from rejoinder.errors import FAULTS
from rejoinder.store.base import EVENT_STATES, INPUT_STATES, PART_MOVES, PART_STATES, TURN_STATES
from rejoinder.tables import table

State = TypeVar("State", bound=str)

# The comment above a CREATE TABLE says what the table is for.
_COMMENTED = re.compile(r"((?:^-- .*\n)+)CREATE TABLE (\w+) \(\n((?:.*\n)*?)\)", re.MULTILINE)
_ALTERED = re.compile(r"^ALTER TABLE (\w+) (ADD|DROP) COLUMN (\w+)", re.MULTILINE)
_COLUMN = re.compile(r"^  ([a-z_]+)\s+(?:TEXT|INTEGER|BLOB)", re.MULTILINE)


def table_list() -> str:
    """Every table with its purpose and columns, from the schema itself; a later step may make a table again."""
    kept: dict[str, tuple[str, list[str]]] = {}
    for step in sorted(files("rejoinder.store").joinpath("schema").iterdir(), key=lambda file: file.name):
        sql = step.read_text("utf-8")
        for comment, name, columns in _COMMENTED.findall(sql):
            kept[name] = " ".join(line.removeprefix("-- ") for line in comment.splitlines()), _COLUMN.findall(columns)
        for name, change, column in _ALTERED.findall(sql):
            columns = kept[name][1]
            columns.append(column) if change == "ADD" else columns.remove(column)
    rows = ([f"`{name}`", why, ", ".join(f"`{each}`" for each in columns)] for name, (why, columns) in kept.items())
    return table(["table", "what it keeps", "columns"], rows)


def part_moves() -> str:
    rows = [[f"`{verb.__name__}`", " or ".join(sources), target] for verb, (sources, target) in PART_MOVES.items()]
    return table(["verb", "from", "to"], rows)


def _states(meanings: Mapping[State, str]) -> Callable[[], str]:
    return lambda: table(["state", "means"], ([f"`{state}`", meaning] for state, meaning in meanings.items()))


def _faults() -> str:
    return table(["fault", "what it says"], ([f"`{fault}`", advice] for fault, advice in FAULTS.items()))


BLOCKS: Final[dict[str, Callable[[], str]]] = {
    "store-tables": table_list,
    "store-event-states": _states(EVENT_STATES),
    "store-input-states": _states(INPUT_STATES),
    "store-turn-states": _states(TURN_STATES),
    "store-part-states": _states(PART_STATES),
    "store-part-moves": part_moves,
    "store-faults": _faults,
}
