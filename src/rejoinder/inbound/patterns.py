"""Patterns an operator wrote, run in linear time whatever they are and whatever is sent (IN-30)."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from rejoinder.errors import BadConfiguration


def compile_patterns(patterns: tuple[str, ...], where: str) -> Callable[[str], bool] | None:
    """Whether any of them is found in a text, in any case; None when there are none to find."""
    if not patterns:
        return None
    re2: Any = import_module("re2")  # a start without patterns need not wait for it
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    compiled: list[Any] = []
    for number, pattern in enumerate(patterns):
        try:
            compiled.append(re2.compile(pattern, options=options))
        except re2.error as error:
            raise BadConfiguration(
                f"{where}[{number}] = {pattern!r} is not a pattern: {_explained(error, pattern)}. "
                "RE2 reads it: look-around and back-references do not exist there"
            ) from None
    return lambda text: any(pattern.search(text) for pattern in compiled)


def _explained(error: Exception, pattern: str) -> str:
    """What is wrong and where. RE2 quotes the piece it could not read."""
    said = error.args[0] if error.args else ""
    said = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    problem, colon, piece = said.partition(": ")
    position = pattern.find(piece) if colon else -1
    return f"{problem} at character {position + 1} ({piece})" if position >= 0 else said
