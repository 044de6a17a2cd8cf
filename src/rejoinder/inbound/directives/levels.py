"""The levels and their other names: the one table behind parsing, help, errors and docs (IN-52)."""

from collections.abc import Iterator

from msgspec import Struct

from rejoinder.inbound.directives.argument import Argument, Good, Word

LEVELS: dict[str, dict[str, tuple[str, ...]]] = {
    "think": {
        "off": (),
        "minimal": (),
        "low": ("on",),
        "medium": ("mid", "med"),
        "high": ("max", "ultra", "highest"),
        "xhigh": ("extrahigh", "extra-high", "extra high"),
    },
    "verbose": {"off": (), "on": (), "full": ()},
    "reasoning": {"off": (), "on": (), "stream": ()},
    "elevated": {"off": (), "on": (), "ask": (), "full": ()},
    "usage": {"off": (), "tokens": (), "full": ()},
}

_ASKS_ALREADY = "changes nothing: agents ask before what is not allowed, elevated or not"
UNHONOURED: dict[tuple[str, str], str] = {("elevated", "on"): _ASKS_ALREADY, ("elevated", "ask"): _ASKS_ALREADY}
"""Levels that are understood, never offered, and refused with this reason (IN-59)."""

_BY_WORD = {
    name: {word: level for level, others in table.items() for word in (level, *others)}
    for name, table in LEVELS.items()
}


def level_names(name: str) -> tuple[str, ...]:
    """The levels on offer."""
    return tuple(level for level in LEVELS[name] if (name, level) not in UNHONOURED)


def find_level(name: str, word: str) -> str | None:
    return _BY_WORD[name].get(word.lower())


class ReadLevel(Struct, frozen=True):
    """Reads one level, written as one word or two."""

    name: str

    def __call__(self, words: Iterator[Word]) -> Argument:
        first = next(words, None)
        if first is None:
            return None
        if level := find_level(self.name, first.text):
            return Good(level, first.end)
        second = next(words, None)
        if second and (level := find_level(self.name, f"{first.text} {second.text}")):
            return Good(level, second.end)
        return None
