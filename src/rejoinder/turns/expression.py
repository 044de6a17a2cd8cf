"""Cron expressions: five fields, minute, hour, day of the month, month, day of the week.

Rule 1: a field is a list of `*`, `5`, `1-5`, `*/15`, `8-18/2` or `5/10` (from 5 to the end); months and days of the
        week also have three-letter English names. Sunday is 0 or 7. `@daily` and the like stand for all five fields.
Rule 2: if both the day of the month and the day of the week are restricted, either may match; a field that begins
        with `*` does not count as restricted. Cron has always worked this way.
Rule 3: an expression that no day matches, such as 30 February, is an error, not a job that never runs.
Rule 4: every error is reported with its position in the text.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from msgspec import Struct


class CronField(Struct, frozen=True):
    name: str
    first: int
    last: int
    names: tuple[str, ...] = ()
    """Words for its values, from `first` on."""


FIELDS: Final = (
    CronField("minute", 0, 59),
    CronField("hour", 0, 23),
    CronField("day of the month", 1, 31),
    CronField("month", 1, 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")),
    CronField("day of the week", 0, 7, ("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)
MEANING: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
LONGEST_MONTHS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ITEM = re.compile(r"(?P<from>\*|\w+)(?:-(?P<to>\w+))?(?:/(?P<step>\w+))?")


class Expression(Struct, frozen=True):
    """What each field allows, in order."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    """Whether only one of the day of the month and the day of the week has to match (rule 2)."""
    is_rhythm: bool
    """Whether its minute or hour begins with `*`, so that it describes a frequency and not times of day."""

    def fits(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week


class BadExpression(Exception):
    """What is wrong with a text, and at which character, counted from 0; None if the whole text is wrong."""

    def __init__(self, sentence: str, at: int | None = None) -> None:
        super().__init__(sentence)
        self.at = at


def read_expression(text: str) -> Expression:
    """Raises `BadExpression`."""
    written = text.strip().lower()
    if written.startswith("@"):
        if written not in MEANING:
            raise BadExpression(f"there is no {text.strip()}; there are: {', '.join(MEANING)}", _start(text))
        return read_expression(MEANING[written])
    words = list(re.finditer(r"\S+", text))
    if len(words) != len(FIELDS):
        names = ", ".join(field.name for field in FIELDS)
        at = words[len(FIELDS)].start() if len(words) > len(FIELDS) else len(text.rstrip())
        raise BadExpression(f"it has {len(words)} fields instead of five: {names}", at)
    minutes, hours, days, months, weekdays = (
        _values(word.group(), field, word.start()) for word, field in zip(words, FIELDS, strict=True)
    )
    weekdays = {day % 7 for day in weekdays}
    any_minute, any_hour, any_day, _, any_weekday = (word.group().startswith("*") for word in words)
    expression = Expression(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=frozenset(days),
        months=frozenset(months),
        weekdays=frozenset(weekdays),
        either_day=not any_day and not any_weekday,
        is_rhythm=any_minute or any_hour,
    )
    if not expression.either_day and all(min(days) > LONGEST_MONTHS[month - 1] for month in months):
        raise BadExpression("no such day ever comes in these months", words[2].start())
    return expression


def _start(text: str) -> int:
    return len(text) - len(text.lstrip())


def _values(word: str, field: CronField, at: int) -> set[int]:
    values: set[int] = set()
    for item in word.split(","):
        values.update(_item(item, field, at))
        at += len(item) + 1
    return values


def _item(item: str, field: CronField, at: int) -> Iterator[int]:
    read = _ITEM.fullmatch(item)
    if read is None or (read["from"] == "*" and read["to"] is not None):
        raise BadExpression(f"{item!r} is not a valid {field.name}; write for example *, {_example(field)}", at)
    first, last = field.first, field.last
    if read["from"] != "*":
        first = _number(read["from"], field, at)
        if read["to"] is not None:
            last = _number(read["to"], field, at + read.start("to"))
        elif read["step"] is None:
            last = first
    elif field.names and field.last - field.first >= len(field.names):
        last -= 1  # 7 is another name for Sunday, the first day
    if first > last:
        raise BadExpression(f"{item!r} ends before it begins; write it as two, with a comma", at)
    step = 1
    if read["step"] is not None:
        if not _is_number(read["step"]) or int(read["step"]) < 1:
            raise BadExpression(
                f"{read['step']!r} is not a valid step; it is a whole number from 1", at + read.start("step")
            )
        step = int(read["step"])
    return iter(range(first, last + 1, step))


def _number(word: str, field: CronField, at: int) -> int:
    if word.lower() in field.names:
        return field.first + field.names.index(word.lower())
    if not _is_number(word):
        raise BadExpression(f"{word!r} is not a valid {field.name}; write for example *, {_example(field)}", at)
    if not field.first <= int(word) <= field.last:
        raise BadExpression(f"{word} is not a valid {field.name}; it goes from {field.first} to {field.last}", at)
    return int(word)


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= 4


def _example(field: CronField) -> str:
    named = f", {field.names[0]}" if field.names else ""
    return f"{field.first}, {field.first}-{field.last - 1}, */2{named}"
