"""The levels and their other names: the one table behind parsing, help, errors and docs (IN-52)."""

from collections.abc import Iterator

from msgspec import Struct

from rejoinder.inbound.directives.argument import Argument, ValidArgument, Word

DEFAULT = "default"
"""Unsets a level, as if nobody had chosen one."""
ALSO_DEFAULT = ("inherit", "unset", "reset")

_NO = ("no", "false", "disable", "disabled")
_YES = ("yes", "true", "enable", "enabled")

LEVELS: dict[str, dict[str, tuple[str, ...]]] = {
    "think": {
        "off": _NO,
        "minimal": ("min",),
        "low": ("on", *_YES),
        "medium": ("mid", "med", "normal", "harder", "think-harder"),
        "high": ("max", "maximum", "ultra", "highest", "hardest", "ultrathink"),
        "xhigh": ("x-high", "x_high", "extrahigh", "extra-high", "extra_high", "extra high", "very high"),
    },
    "verbose": {
        "off": (*_NO, "quiet", "silent", "hide", "hidden"),
        "on": (*_YES, "show", "minimal"),
        "full": ("all", "everything", "max", "debug"),
    },
    "reasoning": {
        "off": (*_NO, "hide", "hidden"),
        "on": (*_YES, "show", "visible"),
        "stream": ("streaming", "live", "draft"),
    },
    "elevated": {
        "off": _NO,
        "on": _YES,
        "ask": ("prompt", "approval", "approve"),
        "full": ("auto", "auto-approve", "autoapprove", "yolo", "bypass"),
    },
    "usage": {
        "off": (*_NO, "hide", "hidden"),
        "tokens": ("on", *_YES, "show", "token", "tok", "min", "minimal"),
        "full": ("all", "everything", "session", "max"),
    },
}

_ASKS_ALREADY = "changes nothing: agents ask before they do what is not allowed, elevated or not"
UNHONOURED: dict[tuple[str, str], str] = {("elevated", "on"): _ASKS_ALREADY, ("elevated", "ask"): _ASKS_ALREADY}
"""Levels that are understood but never offered, and refused with this reason (IN-59)."""


def by_word(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Every spelling of these words, with the word it stands for."""
    return {word: meant for meant, others in table.items() for word in (meant, *others)}


_BY_WORD = {name: {**by_word(table), **by_word({DEFAULT: ALSO_DEFAULT})} for name, table in LEVELS.items()}


def level_names(name: str) -> tuple[str, ...]:
    """The levels on offer."""
    return tuple(level for level in LEVELS[name] if (name, level) not in UNHONOURED)


def level_options(name: str) -> tuple[str, ...]:
    """The words that may be typed: the levels on offer, and the word that unsets them."""
    return (*level_names(name), DEFAULT)


def other_words(name: str) -> tuple[tuple[str, str], ...]:
    """Every alias of a level, with the level it stands for."""
    return tuple((word, level) for word, level in _BY_WORD[name].items() if word != level)


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
            return ValidArgument(level, first.end)
        second = next(words, None)
        if second and (level := find_level(self.name, f"{first.text} {second.text}")):
            return ValidArgument(level, second.end)
        return None
