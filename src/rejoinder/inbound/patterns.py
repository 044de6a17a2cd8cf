"""The operator's patterns, matched in linear time for any pattern and any text (IN-30)."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from rejoinder.errors import BadConfiguration


def compile_patterns(patterns: tuple[str, ...], where: str) -> Callable[[str], bool] | None:
    """A function that tests whether any of them occurs in a text, ignoring case; None if there are no patterns."""
    if not patterns:
        return None
    for number, pattern in enumerate(patterns):
        if problem := pattern_problem(pattern):
            raise BadConfiguration(f"{where}[{number}] = {pattern!r} is not a regular expression (RE2): {problem}")
    compiled = [_compiled(pattern) for pattern in patterns]
    return lambda text: any(pattern.search(text) for pattern in compiled)


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, and at which character; None if nothing is."""
    try:
        _compiled(pattern)
    except _re2().error as error:
        return _explained(error, pattern)
    return None


def _re2() -> Any:
    return import_module("re2")  # imported late: without patterns, startup need not wait for it


def _compiled(pattern: str) -> Any:
    re2 = _re2()
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(pattern, options=options)


def _explained(error: Exception, pattern: str) -> str:
    """What is wrong, and where. RE2 quotes the part it could not read."""
    said = error.args[0] if error.args else ""
    said = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    problem, colon, piece = said.partition(": ")
    position = pattern.find(piece) if colon else -1
    return f"{problem} at character {position + 1} ({piece})" if position >= 0 else said
