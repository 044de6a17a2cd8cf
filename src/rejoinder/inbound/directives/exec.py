"""`/exec`: where the agent's commands run and who is asked (IN-53)."""

from collections.abc import Iterator

from msgspec.structs import replace

from rejoinder.inbound.directives.argument import Argument, Bad, Good, Word, one_of, option
from rejoinder.session import ExecChoice

OPTIONS: dict[str, tuple[str, ...]] = {
    "host": ("sandbox", "gateway", "node"),
    "security": ("deny", "allowlist", "full"),
    "ask": ("off", "on-miss", "always"),
    "node": (),  # any id
}
UNHONOURED: dict[tuple[str, str], str] = {("security", "allowlist"): "there is no list of allowed commands yet"}
"""Choices that are understood, never offered, and refused with this reason (IN-59)."""


def usage(*, takes_host: bool) -> str:
    """What can be set; where commands run, only with an agent that lets it be chosen."""
    offered = {key: values for key, values in OPTIONS.items() if takes_host or key not in ("host", "node")}
    return " ".join(f"{key}={'|'.join(_offered(key, values)) or '<id>'}" for key, values in offered.items())


def _offered(key: str, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if (key, value) not in UNHONOURED)


def read_exec(words: Iterator[Word]) -> Argument:
    choice, end = ExecChoice(), None
    for word in words:
        pair = option(word.text)
        if pair is None or pair[0] not in OPTIONS:
            break
        key, value = pair
        valid = OPTIONS[key]
        chosen = value.lower() if valid else value
        if not chosen or (valid and chosen not in valid):
            return Bad(f"exec {key} cannot be {value!r}; {one_of(_offered(key, valid) or ('<id>',))}", word.end)
        choice, end = replace(choice, **{key: chosen}), word.end
    return Good(choice, end) if end is not None else None
