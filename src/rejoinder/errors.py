"""Every error rejoinder raises on purpose, and what to do about each.

    RejoinderError              something the operator can understand and mend
    +-- BadUse                  the command line or an argument is wrong: exit status 2
    +-- BadConfiguration        the configuration is wrong: file, line, key and the fix; exit status 2

The message is the help: what, where, what to do. No traceback reaches a user.
"""

from msgspec import Struct


class RejoinderError(Exception):
    """Base of all; its text is one clear sentence for the person who runs rejoinder."""


class BadUse(RejoinderError):
    """Never retry: the call itself is wrong."""


class Mistake(Struct, frozen=True):
    """One thing to mend in a configuration, and where."""

    file: str
    line: int | None
    key: str
    sentence: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.key, self.sentence) if part)


class BadConfiguration(RejoinderError):
    """Never retry: the configuration has to be changed first. Its text has one line for each mistake."""

    def __init__(self, *mistakes: Mistake | str) -> None:
        super().__init__("\n".join(map(str, mistakes)))
        self.mistakes = tuple(mistake for mistake in mistakes if isinstance(mistake, Mistake))
