"""Reads TOML text into plain values; mistakes are described in plain words, with line and column."""

import re
import tomllib
from typing import Any

from rejoinder.documents import is_object
from rejoinder.errors import BadConfiguration, Mistake

_PLACE = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)

NO_CLOSING_QUOTE = 'the text has no closing quote on its line; text of several lines goes in """ """'
DEEPEST = 32
TOO_DEEP = "lists or tables in this file are nested too deeply"

# How the standard library's messages begin, and what a person should read instead.
IN_PLAIN_WORDS = (
    (
        "Expected newline or end of document",
        "something follows the value that does not belong there; text goes in quotes",
    ),
    (
        "Invalid value",
        'this is not a value; text goes in quotes ("like this"), true and false are in lower case',
    ),
    ("Invalid statement", "a line is [section], key = value or # a comment; this is none of them"),
    (
        "Invalid initial character for a key part",
        "a key is made of letters, digits, - and _, or is put in quotes",
    ),
    ("Expected '=' after a key", "after a key comes = and its value"),
    ("Expected ']' at the end of a table", "a section's name ends with ]"),
    ("Expected ']]' at the end of an array", "this section's name ends with ]]"),
    ("Unclosed array", "the list is not closed; its items go between [ and ], with commas between them"),
    (
        "Unclosed inline table",
        "the table is not closed; its keys go between { and }, with commas between them, on one line",
    ),
    ("Unterminated string", "the text has no closing quote"),
    ('Expected "\'"', "the text has no closing quote"),
    ("Expected \"'''\"", "the text has no closing quotes"),
    ("Illegal character '\\n'", NO_CLOSING_QUOTE),
    ("Illegal character", "there is a control character here; remove it"),
    ("Found invalid character '\\n'", NO_CLOSING_QUOTE),
    ("Found invalid character", "there is a control character here; remove it"),
    (
        "Unescaped '\\' in a string",
        "a \\ in \"text\" begins an escape; write \\\\ or put the text in 'single quotes'",
    ),
    ("Invalid hex value", "a \\ in \"text\" begins an escape; write \\\\ or put the text in 'single quotes'"),
    ("Escaped character is not a Unicode", "this escape is not a character; write the character itself"),
    ("Invalid date or datetime", "this date or time does not exist"),
    ("Cannot overwrite a value", "this is given a second time; keep one of the two"),
    ("Duplicate inline table key", "this is given a second time; keep one of the two"),
    ("Cannot declare", "this section appears a second time; put its keys under the first"),
    ("Cannot redefine namespace", "this section is already there; put its keys under the first"),
    (
        "Cannot mutate immutable namespace",
        "this was already given as a whole in { } or [ ]; put the key in there",
    ),
)


def parse(text: str, file: str) -> dict[str, Any]:
    """The values as the standard library reads them."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(_in_plain_words(str(error), text, file)) from None
    except RecursionError:
        raise BadConfiguration(Mistake(file, 1, "", TOO_DEEP)) from None
    except ValueError:
        # A whole number of thousands of digits: the interpreter refuses to read it and does not say where.
        raise BadConfiguration(Mistake(file, 1, "", "a number in this file is too long to be read")) from None
    if _is_deep(values):
        raise BadConfiguration(Mistake(file, 1, "", TOO_DEEP))
    return values


def _is_deep(values: dict[str, Any]) -> bool:
    level: list[Any] = [values]
    for _ in range(DEEPEST):
        inner = (item.values() if is_object(item) else item for item in level)
        level = [item for items in inner for item in items if isinstance(item, dict | list)]
    return bool(level)


def _in_plain_words(complaint: str, text: str, file: str) -> Mistake:
    place = _PLACE.fullmatch(complaint)
    what = place["what"] if place else complaint
    sentence = next((plain for start, plain in IN_PLAIN_WORDS if what.startswith(start)), what)
    if place and place["line"]:
        return Mistake(file, int(place["line"]), "", f"column {place['column']}: {sentence}")
    # The text ended too early, or its last statement is wrong as a whole.
    place_in_words = "" if what.startswith(("Cannot", "Duplicate")) else "at the end of the file: "
    return Mistake(file, text.rstrip().count("\n") + 1, "", place_in_words + sentence)
