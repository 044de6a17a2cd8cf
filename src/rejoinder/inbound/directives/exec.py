"""`/exec`: where the agent's commands run, and who has to approve them (IN-53)."""

from collections.abc import Collection, Iterator
from typing import get_args

from msgspec.structs import replace

from rejoinder.events import Strictness
from rejoinder.inbound.directives.argument import Argument, InvalidArgument, ValidArgument, Word, one_of, option, quoted
from rejoinder.inbound.directives.levels import DEFAULT
from rejoinder.session import ExecAsk, ExecChoice, ExecHost, ExecSecurity

OPTIONS: dict[str, tuple[str, ...]] = {
    "host": get_args(ExecHost),
    "security": get_args(ExecSecurity),
    "ask": get_args(ExecAsk),
    "node": (),  # any id
}
ALSO: dict[str, dict[str, str]] = {
    "security": {"allow-list": "allowlist", "list": "allowlist"},
    "ask": {"on_miss": "on-miss", "onmiss": "on-miss"},
}
"""Other spellings of the values, by option."""
HANDED_OVER = ("host", "node")
"""The options that the gateway does not apply itself: they go to the agent, if it takes them."""


def usage(*, asks: bool = True, takes: Collection[str] = (), has_list: bool = True) -> str:
    """What can be set for an agent that `asks` for permission, `takes` these options itself, and `has_list` of allowed
    tools."""
    offered = {key: values for key, values in OPTIONS.items() if (key in takes if key in HANDED_OVER else asks)}
    if not has_list and "security" in offered:
        offered["security"] = tuple(value for value in OPTIONS["security"] if value != "allowlist")
    options = [f"{key}={'|'.join(values) or '<id>'}" for key, values in offered.items()]
    return f"{' '.join(options)}, or {DEFAULT}" if options else DEFAULT


def read_exec(words: Iterator[Word]) -> Argument:
    choice, end, problem = ExecChoice(), None, None
    for word in words:
        if end is None and word.text.lower() == DEFAULT:
            return ValidArgument(ExecChoice(), word.end)
        pair = option(word.text)
        if pair is None or pair[0] not in OPTIONS:
            break
        key, value = pair
        valid = OPTIONS[key]
        chosen = ALSO.get(key, {}).get(value.lower(), value.lower()) if valid else value
        if chosen and (not valid or chosen in valid):
            choice = replace(choice, **{key: chosen})
        else:
            problem = problem or f"exec {key} cannot be {quoted(value)}; {one_of(valid or ('<id>',))}"
        end = word.end
    if end is None:
        return None
    return InvalidArgument(problem, end) if problem else ValidArgument(choice, end)


def strictness_of(chosen: ExecChoice) -> Strictness | None:
    """The restriction that applies even to what the agent's own settings allow (IN-59); None if there is none."""
    if chosen.security == "deny":
        return "deny"
    if chosen.ask == "always":
        return "ask"
    return "list" if chosen.security == "allowlist" else None
