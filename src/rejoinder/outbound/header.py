"""Header lines `[[key:value]]`: what one means, and whether unfinished text may still become one (OD-10 to OD-18).

The reader decides *where* a header may be; this file decides *what* a pair of brackets is.
"""

import re
from functools import lru_cache

from msgspec import Struct

from rejoinder.outbound.directives.declaration import Declaration, Registry, normalised_key
from rejoinder.outbound.silence import cut_short

LONGEST = 1024
"""The most characters of a header line; the reader gives up on a longer one (OD-5)."""

_WELL_FORMED = re.compile(r"[a-z][a-z0-9_-]*")
_VALUE = r"""[ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"']\S*))[ \t\r]*"""
_UNFINISHED_VALUE = r"""[ \t]*(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"']\S*)?[ \t\r]*"""


class KnownDirective(Struct, frozen=True):
    """A directive of the registry, with its value as written."""

    declared: Declaration
    value: str


class UnknownDirective(Struct, frozen=True):
    """Looks like a directive, but with an unknown key. Alone on its line it is stripped, never obeyed (OD-14)."""

    key: str


Line = KnownDirective | UnknownDirective | None
"""None: content, shown as written (OD-15)."""


def classify(inner: str, registry: Registry) -> Line:
    """Classifies the text between `[[` and `]]`."""
    key, colon, value = inner.partition(":")
    key, value = key.strip(), value.strip()
    if not colon:
        if key in registry.flags:
            return KnownDirective(*registry.flags[key])
        return UnknownDirective(key) if normalised_key(key) in map(normalised_key, registry.flags) else None
    if key in registry.keys:
        return KnownDirective(registry.keys[key], value)
    if value.startswith("//"):
        return None
    if _WELL_FORMED.fullmatch(key) or normalised_key(key) in registry.normalised_keys:
        return UnknownDirective(key)
    return None


def may_become(unfinished: str, registry: Registry) -> bool:
    """Whether the text after `[[` so far can still become a directive; only then is it held back (OD-3)."""
    key, colon, value = unfinished.partition(":")
    if not colon and key.endswith("]"):
        key = key[:-1]
    key = key.strip()
    if colon:
        familiar = key in registry.keys
        well_formed = _WELL_FORMED.fullmatch(key) is not None or normalised_key(key) in registry.normalised_keys
        return familiar or (well_formed and not value.lstrip().startswith("//"))
    if not key or _WELL_FORMED.fullmatch(key):
        return True
    normalised = normalised_key(key)
    return any(known.startswith(normalised) for known in registry.normalised_keys)


class LinePatterns:
    """The patterns of lines inside the content that are directives (OD-58)."""

    def __init__(self, registry: Registry) -> None:
        names = "|".join(map(re.escape, registry.lines)) or r"(?!)"
        flags = "|".join(map(re.escape, sorted(registry.trailing))) or r"(?!)"
        beginnings = cut_short(*(f"{name}:" for name in registry.lines), "[[")
        self.begins = rf"\n(?= {{0,3}}\\?(?:(?:{names}):|\[\[|(?:{beginnings})\Z))"
        """A newline after which such a line may begin."""
        self.new_line = re.compile(self.begins)
        self.named = re.compile(rf"({names}):{_VALUE}")
        self.flag = re.compile(rf"\[\[[ \t]*({flags})[ \t]*\]\][ \t\r]*")
        unfinished_flag = rf"\[(?:\[[ \t]*(?:(?:{flags})[ \t]*\]{{0,2}}[ \t\r]*|(?:{cut_short(*registry.trailing)})?))?"
        self.unfinished = re.compile(
            rf"(?:{names}):{_UNFINISHED_VALUE}|{cut_short(*(f'{name}:' for name in registry.lines))}|{unfinished_flag}"
        )
        self.initials = frozenset(name[0] for name in registry.lines) | frozenset("[\\")
        self.blanks = re.compile(rf" {{1,3}}(?=[{re.escape(''.join(sorted(self.initials)))}])")
        self.ends = frozenset("".join(registry.lines) + ":[")


@lru_cache(maxsize=16)
def line_patterns(registry: Registry) -> LinePatterns:
    return LinePatterns(registry)
