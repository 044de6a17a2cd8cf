"""One header line `[[key:value]]`: what it means, and whether unfinished text may still become one (OD-10 to OD-18).

The reader decides *where* a header may stand; this file decides *what* a pair of brackets is.
"""

import re

from msgspec import Struct

from rejoinder.outbound.directives.declaration import Declaration, Registry, squash

LONGEST = 1024
"""The most characters of a header line; the reader gives up on a longer one (OD-5)."""

_WELL_FORMED = re.compile(r"[a-z][a-z0-9_-]*")


class Known(Struct, frozen=True):
    """A directive of the registry, with its value as written."""

    declared: Declaration
    value: str


class Unfamiliar(Struct, frozen=True):
    """Looks like a directive, but with an unknown key. Alone on its line it is stripped, never obeyed (OD-14)."""

    key: str


Line = Known | Unfamiliar | None
"""None: content, shown as it stands (OD-15)."""


def classify(inner: str, registry: Registry) -> Line:
    """What stands between `[[` and `]]`."""
    key, colon, value = inner.partition(":")
    key, value = key.strip(), value.strip()
    if not colon:
        if key in registry.flags:
            return Known(*registry.flags[key])
        return Unfamiliar(key) if squash(key) in map(squash, registry.flags) else None
    if key in registry.keys:
        return Known(registry.keys[key], value)
    if value.startswith("//"):
        return None
    if _WELL_FORMED.fullmatch(key) or squash(key) in registry.squashed:
        return Unfamiliar(key)
    return None


def may_become(unfinished: str, registry: Registry) -> bool:
    """Whether what follows `[[` so far can still turn out to be a directive: only then is it held back (OD-3)."""
    key, colon, value = unfinished.partition(":")
    if not colon and key.endswith("]"):
        key = key[:-1]
    key = key.strip()
    if colon:
        familiar = key in registry.keys
        well_formed = _WELL_FORMED.fullmatch(key) is not None or squash(key) in registry.squashed
        return familiar or (well_formed and not value.lstrip().startswith("//"))
    if not key or _WELL_FORMED.fullmatch(key):
        return True
    squashed = squash(key)
    return any(known.startswith(squashed) for known in registry.squashed)
