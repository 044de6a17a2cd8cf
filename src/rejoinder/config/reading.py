"""Turns plain values into records, by the records' own declarations; mistakes are noted and do not stop the reading.

The records' own decoder stops at the first mistake and knows no lines. This reader uses the same declarations (a test
keeps the two in step) and goes on: it notes a wrong value and uses the default instead, so that the rest can be
checked. Settings with mistakes are never used.
"""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import cache
from typing import Any, cast

import msgspec.inspect as mi
from msgspec import NODEFAULT, Struct

from rejoinder.config.environment import NotFilledIn
from rejoinder.config.positions import Path
from rejoinder.config.wording import did_you_mean, dotted, listed, nearest, quoted, shown
from rejoinder.documents import is_array
from rejoinder.errors import Mistake
from rejoinder.secret import FromEnvironment, Secret

WRONG: Any = object()
"""Takes the place of a value that could not be read; the reason is already noted."""


class SectionReader:
    def __init__(self, file: str, lines: Mapping[Path, int]) -> None:
        self.mistakes: list[Mistake] = []
        self.file = file
        self._lines = lines
        self._wrong: set[Path] = set()

    def wrong(self, path: Path, sentence: str) -> None:
        known = (path[:end] for end in range(len(path), 0, -1))
        line = next((self._lines[part] for part in known if part in self._lines), None)
        self.mistakes.append(Mistake(self.file, line, dotted(path), sentence))
        self._wrong.add(path)

    def is_right(self, path: Path) -> bool:
        """Whether nothing at or below this key was wrong so far."""
        return not any(wrong[: len(path)] == path for wrong in self._wrong)

    def records(self, raw: Mapping[str, Any], path: Path, *kinds: type[Struct]) -> list[Any]:
        """Reads one table into several records; the default of an earlier record holds for the later ones, too."""
        known: dict[str, mi.Field] = {}
        for kind in kinds:
            for field in _fields(kind):
                known.setdefault(field.encode_name, field)
        meant = self._unknown_keys(raw, path, known)
        values = {name: self._field(field, raw, path, meant) for name, field in known.items()}
        return [self._built(kind, values, path) for kind in kinds]

    def _built(self, kind: type[Struct], values: Mapping[str, Any], path: Path) -> Any:
        own = {field.name: values[field.encode_name] for field in _fields(kind)}
        if any(value is WRONG for value in own.values()):
            return WRONG
        try:
            return kind(**own)
        except ValueError as problem:  # its `__post_init__` refuses values that the types of its keys allow
            if self.is_right(path):
                self.wrong(path, str(problem))
            return WRONG

    def _unknown_keys(self, raw: Mapping[str, Any], path: Path, known: Mapping[str, Any]) -> set[str | None]:
        """Notes each unknown key and returns the keys they probably meant, which then do not count as missing."""
        unknown = [key for key in raw if key not in known]
        for key in unknown:
            others = f"the keys of [{dotted(path)}] are: {listed(sorted(known))}"
            self.wrong((*path, key), f"there is no such key; {did_you_mean(key, known, others)}")
        return {nearest(key, known) for key in unknown}

    def _field(self, field: mi.Field, raw: Mapping[str, Any], path: Path, meant: set[str | None]) -> Any:
        here = (*path, field.encode_name)
        if field.encode_name not in raw:
            if (field.required or _is_missed(field, raw)) and field.encode_name not in meant:
                self.wrong(here, _missing(field))
            return _default(field)
        value = self.value(field.type, raw[field.encode_name], here)
        return _default(field) if value is WRONG else value

    def value(self, kind: mi.Type, raw: Any, path: Path, expected: str | None = None) -> Any:
        """The value in the record's type, or WRONG."""
        if isinstance(raw, NotFilledIn):
            return WRONG
        match kind:
            case mi.Metadata():
                return self.value(kind.type, raw, path, _expected(kind) or expected)
            case mi.UnionType():
                return self._union(kind, raw, path, expected)
            case mi.AnyType():
                return raw
            case mi.LiteralType():
                return self._literal(kind, raw, path)
            case mi.StructType() if isinstance(raw, dict):
                return self.records(cast("dict[str, Any]", raw), path, kind.cls)[0]
            case mi.DictType() if isinstance(raw, dict):
                table = cast("dict[str, Any]", raw)
                read = {key: self.value(kind.value_type, item, (*path, key)) for key, item in table.items()}
                return {key: item for key, item in read.items() if item is not WRONG}
            case mi.VarTupleType() | mi.ListType() if isinstance(raw, list):
                return self._list(kind, cast("list[Any]", raw), path)
            case mi.CustomType() if kind.cls is Secret and isinstance(raw, str):
                return self._secret(raw, path)
            case mi.StrType() if isinstance(raw, str):
                return self._text(kind, raw, path, expected)
            case mi.BoolType() if isinstance(given := _from_environment(raw, kind), bool):
                return given
            case mi.IntType() | mi.FloatType() if _is_number(given := _from_environment(raw, kind), kind):
                return self._number(kind, given, path)
            case _:
                self.wrong(path, f"expected {expected or describe(kind)}, found {found(raw)}{_fix(kind, raw)}")
                return WRONG

    def _union(self, kind: mi.UnionType, raw: Any, path: Path, expected: str | None) -> Any:
        choices = [choice for choice in kind.types if not isinstance(choice, mi.NoneType)]
        fitting = [choice for choice in choices if _fits(choice, raw)] or choices
        if len(fitting) == 1:
            return self.value(fitting[0], raw, path, expected)
        self.wrong(path, f"expected {' or '.join(map(describe, choices))}, found {found(raw)}")
        return WRONG

    def _literal(self, kind: mi.LiteralType, raw: Any, path: Path) -> Any:
        if isinstance(raw, str) and str(raw) in kind.values:
            return str(raw)
        choices = listed(map(quoted, map(str, kind.values)))
        if not isinstance(raw, str):
            self.wrong(path, f"expected one of {choices}, found {found(raw)}")
        else:
            guess = did_you_mean(raw, map(str, kind.values), "")
            guess = f"{guess} It is one of" if guess else "it is one of"
            self.wrong(path, f"{shown(raw)} is not a choice here; {guess} {choices}")
        return WRONG

    def _list(self, kind: mi.VarTupleType | mi.ListType, raw: list[Any], path: Path) -> Any:
        if len(raw) < (kind.min_length or 0):
            self.wrong(path, "the list must not be empty")
            return WRONG
        read = [self.value(kind.item_type, item, (*path, index)) for index, item in enumerate(raw)]
        if isinstance(kind.item_type, mi.StrType):
            # A wrong item keeps its place, so that complaints about later items name the right index.
            read = ["" if item is WRONG else item for item in read]
        elif any(item is WRONG for item in read):
            return WRONG
        return tuple(read) if isinstance(kind, mi.VarTupleType) else read

    def _secret(self, raw: str, path: Path) -> Any:
        if not raw.strip():
            came = f" ({raw.written} is set but empty)" if isinstance(raw, FromEnvironment) else ""
            self.wrong(path, f"this must not be empty{came}")
            return WRONG
        return Secret(str(raw), raw.written) if isinstance(raw, FromEnvironment) else Secret(raw)

    def _text(self, kind: mi.StrType, raw: str, path: Path, expected: str | None) -> Any:
        if len(raw) < (kind.min_length or 0):
            self.wrong(path, "this must not be empty")
            return WRONG
        if kind.pattern and not re.search(kind.pattern, raw):
            self.wrong(path, f"expected {expected or kind.pattern}, found {shown(raw)}")
            return WRONG
        return raw

    def _number(self, kind: mi.IntType | mi.FloatType, given: float, path: Path) -> Any:
        least, above, most = kind.ge, kind.gt, kind.le
        too_small = (least is not None and given < least) or (above is not None and given <= above)
        if not too_small and not (most is not None and given > most):
            return given
        if least is not None and most is not None:
            self.wrong(path, f"{given} is out of range; it goes from {least} to {most}")
        elif too_small:
            bound = f"at least {least}" if least is not None else f"more than {above}"
            self.wrong(path, f"{given} is too small; it must be {bound}")
        else:
            self.wrong(path, f"{given} is too large; it must be at most {most}")
        return WRONG


# --- words --------------------------------------------------------------------------------------


def describe(kind: mi.Type) -> str:
    """What a key expects, as one would say it."""
    match kind:
        case mi.Metadata():
            return _expected(kind) or describe(kind.type)
        case mi.UnionType():
            choices = (choice for choice in kind.types if not isinstance(choice, mi.NoneType))
            return " or ".join(map(describe, choices))
        case mi.LiteralType():
            return "one of " + listed(map(quoted, map(str, kind.values)))
        case mi.StrType() | mi.CustomType():
            return "text in quotes"
        case mi.BoolType():
            return "true or false"
        case mi.IntType():
            return "a whole number"
        case mi.FloatType():
            return "a number"
        case mi.VarTupleType() | mi.ListType():
            return "a list [ ]"
        case mi.StructType() | mi.DictType():
            return "a table { }"
        case _:
            return "something else"


def found(raw: Any) -> str:
    match raw:
        case bool():
            return "true" if raw else "false"
        case str():
            return "text"
        case int():
            return "a whole number"
        case float():
            return "a number with a point" if math.isfinite(raw) else "nan or infinity"
        case list():
            return "a list [ ]"
        case dict():
            return "a table { }"
        case datetime() | date() | time():
            return "a date or time"
        case _:
            return "something else"


def _fix(kind: mi.Type, raw: Any) -> str:
    """What to write instead, if that is clear. A secret is never repeated."""
    match kind, raw:
        case mi.CustomType(), _:
            return "; put it in quotes"
        case mi.StrType(), bool():
            return f'; write "{str(raw).lower()}" in quotes'
        case mi.StrType(), int() | float() | datetime() | date() | time():
            return f'; write "{raw}" in quotes'
        case ((mi.IntType() | mi.FloatType() | mi.BoolType()), str()) if not isinstance(raw, FromEnvironment):
            plain = re.fullmatch(r"\d+(\.\d+)?|true|false", raw.strip())
            fits = plain and (raw.strip() in ("true", "false")) is isinstance(kind, mi.BoolType)
            return f"; write {raw.strip()} without quotes" if fits else ""
        case ((mi.IntType() | mi.FloatType() | mi.BoolType()), FromEnvironment()):
            return f" in {raw.written}"
        case ((mi.VarTupleType() | mi.ListType()), str()) if not _holds_secrets(kind.item_type):
            return f"; write [{shown(raw)}]"
        case mi.StructType(), str():
            for field in kind.fields:
                if isinstance(field.type, mi.LiteralType) and raw in field.type.values:
                    return f"; write {{ {field.encode_name} = {shown(raw)} }}"
            return ""
        case _:
            return ""


def _holds_secrets(kind: mi.Type) -> bool:
    return isinstance(kind, mi.CustomType)


def _missing(field: mi.Field) -> str:
    for example in schema_of(field.type).get("examples", ()):
        value = "[" + listed(map(quoted, example)) + "]" if is_array(example) else quoted(example)
        return f"this key is missing; add for example {field.encode_name} = {value}"
    return f"this key is missing; it takes {describe(field.type)}"


def _expected(kind: mi.Metadata) -> str | None:
    """The description that a key declares for its value."""
    return _extra(kind, "expected")


def instead_of(field: mi.Field) -> str | None:
    """The key that may be given instead of this one, which is otherwise required."""
    return _extra(field.type, "unless")


def _is_missed(field: mi.Field, raw: Mapping[str, Any]) -> bool:
    other = instead_of(field)
    return other is not None and not raw.get(other)


def _extra(kind: mi.Type, what: str) -> str | None:
    extra: dict[str, str] = (cast(Any, kind).extra or {}) if isinstance(kind, mi.Metadata) else {}
    return extra.get(what)


def schema_of(kind: mi.Type) -> dict[str, Any]:
    """The extra information in the type of a key: examples, a description."""
    return (cast(Any, kind).extra_json_schema or {}) if isinstance(kind, mi.Metadata) else {}


# --- small facts --------------------------------------------------------------------------------


@cache
def _fields(kind: type[Struct]) -> tuple[mi.Field, ...]:
    return cast("mi.StructType", mi.type_info(kind)).fields


def _default(field: mi.Field) -> Any:
    if field.default is not NODEFAULT:
        return field.default
    return field.default_factory() if field.default_factory is not NODEFAULT else WRONG


def _fits(kind: mi.Type, raw: Any) -> bool:
    match kind:
        case mi.Metadata():
            return _fits(kind.type, raw)
        case mi.LiteralType() | mi.StrType() | mi.CustomType():
            return isinstance(raw, str)
        case mi.StructType() | mi.DictType():
            return isinstance(raw, dict)
        case mi.VarTupleType() | mi.ListType():
            return isinstance(raw, list)
        case mi.BoolType():
            return isinstance(raw, bool)
        case _:
            return _is_number(raw, kind)


def _is_number(raw: Any, kind: mi.Type) -> bool:
    if isinstance(raw, bool):
        return False
    return isinstance(raw, int) or (isinstance(kind, mi.FloatType) and isinstance(raw, float) and math.isfinite(raw))


def _from_environment(raw: Any, kind: mi.Type) -> Any:
    """`port = "${PORT}"` is a number if PORT is one: the environment holds only texts."""
    if not isinstance(raw, FromEnvironment):
        return raw
    text = raw.strip()
    match kind:
        case mi.BoolType():
            return {"true": True, "false": False}.get(text.lower(), raw)
        case mi.IntType() if re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
            return int(text)
        case mi.FloatType() if re.fullmatch(r"[+-]?\d{1,18}(\.\d{1,18})?", text, re.ASCII):
            return float(text)
        case _:
            return raw
